package org.apache.kafka.streams.state.internals;

import entrycache.protocol.Server;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The process that serves the record cache of a Kafka Streams release. */
public final class KafkaStreamsDriver {
    /** The stack size of the thread that serves; listeners and forwards call back into the cache recursively. */
    private static final long STACK_BYTES = 1L << 29;

    private static volatile int status = 1;

    private KafkaStreamsDriver() {}

    /** Exits when the input ends, even if a thread of the watchdog or of a released class still runs. */
    public static void main(String[] arguments) throws InterruptedException {
        Watchdog.INSTANCE.watch(Server::giveUp);
        Thread serving = new Thread(null, () -> serve(arguments), "serving", STACK_BYTES);
        serving.start();
        serving.join();
        end();
    }

    private static void end() {
        System.err.flush();
        Runtime.getRuntime().halt(status);
    }

    private static void serve(String[] arguments) {
        try {
            Server.main(arguments, KafkaStreamsAdapter::new);
            status = 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

package findings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only. The store below a cached store refuses one write (it is out of reach for a moment), while a put
 * evicts; the processor that put catches that and goes on. The evicted entry is gone from the cache and was never
 * written below: the store has lost a value that it had answered before.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out FailedWriteTopologyTest.java
 *   java -cp "out:$CP" findings.FailedWriteTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class FailedWriteTopologyTest {
    private static boolean refuses = true;

    public static void main(String[] arguments) {
        Topology topology = new Topology();
        topology.addSource("source", new StringDeserializer(), new StringDeserializer(), "commands");
        topology.addProcessor("writer", Writer::new, "source");
        topology.addStateStore(
                Stores.keyValueStoreBuilder(new Refusing(), Serdes.String(), Serdes.String())
                        .withCachingEnabled()
                        .withLoggingDisabled(),
                "writer");
        // room for two of the three entries that one command writes
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config(160))) {
            TestInputTopic<String, String> commands =
                    driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
            commands.pipeInput("c", "abc");
            KeyValueStore<String, String> store = driver.getKeyValueStore("store");
            expect("the value that was put under a", "value of a", store.get("a"));
        }
        conforms();
    }

    /** Writes an entry for each letter of what it gets, and goes on past what a write throws. */
    private static final class Writer implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, String> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> command) {
            for (String key : command.value().split("")) {
                try {
                    store.put(key, "value of " + key);
                } catch (RuntimeException e) {
                    System.err.println("caught: " + e);
                }
            }
            if (refuses) {
                fail("nothing was evicted");
            }
        }
    }

    /** An in-memory store whose first write fails. */
    private static final class Refusing implements KeyValueBytesStoreSupplier {
        private final KeyValueBytesStoreSupplier memory = Stores.inMemoryKeyValueStore("store");

        @Override
        public String name() {
            return memory.name();
        }

        @Override
        public String metricsScope() {
            return memory.metricsScope();
        }

        @Override
        @SuppressWarnings("unchecked")
        public KeyValueStore<Bytes, byte[]> get() {
            KeyValueStore<Bytes, byte[]> store = memory.get();
            return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Refusing.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        if (method.getName().equals("put") && refuses) {
                            refuses = false;
                            throw new UncheckedIOException(new IOException("out of reach"));
                        }
                        try {
                            return method.invoke(store, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    private static Properties config(long cacheBytes) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        return config;
    }

    private static void conforms() {
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            fail(what + ": expected " + expected + ", got " + got);
        }
    }

    private static void fail(String message) {
        System.out.println(message.replace('\n', ' '));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }
}

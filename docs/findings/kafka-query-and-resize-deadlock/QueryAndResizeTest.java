package org.apache.kafka.streams.state.internals;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.StreamTask;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * A resize, on the stream thread, evicts from a cached table; a processor behind it writes to another cached store,
 * which an interactive query is just reading. The query holds the store's read lock and waits for the thread cache; the
 * resize holds the thread cache and waits for the store's write lock.
 *
 * All through public API but the resize itself, which the stream thread makes between two rounds of its loop: the test
 * makes it between two writes, on the same thread.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out QueryAndResizeTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.QueryAndResizeTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class QueryAndResizeTest {
    private static final CountDownLatch QUERY_READS = new CountDownLatch(1);
    private static final CountDownLatch RESIZE_EVICTS = new CountDownLatch(1);
    private static TopologyTestDriver driver;
    private static Thread stream;
    private static Thread query;
    private static int asked;

    public static void main(String[] arguments) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(new Gated(), Serdes.String(), Serdes.String())
                .withCachingEnabled()
                .withLoggingDisabled());
        builder.table(
                        "table",
                        Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String>as(Stores.inMemoryKeyValueStore("store"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingEnabled())
                .toStream()
                .process(Copy::new, "copies");
        builder.stream("commands", Consumed.with(Serdes.String(), Serdes.String())).process(Resize::new, "store");
        driver = new TopologyTestDriver(builder.build(), config(1_000_000));
        KeyValueStore<String, String> copies = driver.getKeyValueStore("copies");
        query = new Thread(() -> copies.get("a"), "query");
        query.setDaemon(true);
        TestInputTopic<String, String> commands =
                driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
        stream = new Thread(() -> commands.pipeInput("c", "a"), "stream");
        stream.setDaemon(true);
        stream.start();
        watch();
        conforms();
    }

    /**
     * Until both have ended, or says that neither can go on: the query waits for the stream thread, which waits for the
     * lock that the query reads under.
     */
    private static void watch() {
        while (stream.isAlive() || query.isAlive()) {
            ThreadInfo reader = ManagementFactory.getThreadMXBean().getThreadInfo(query.getId(), 50);
            ThreadInfo writer = ManagementFactory.getThreadMXBean().getThreadInfo(stream.getId(), 50);
            if (reader != null
                    && writer != null
                    && reader.getThreadState() == Thread.State.BLOCKED
                    && reader.getLockOwnerId() == stream.getId()
                    && has(reader, "CachingKeyValueStore", "get")
                    && writer.getThreadState() == Thread.State.WAITING
                    && writer.getLockInfo().getClassName().contains("ReentrantReadWriteLock")
                    && writer.getLockOwnerId() == -1
                    && has(writer, "ReentrantReadWriteLock$WriteLock", "lock")) {
                fail("deadlock: the query reads under a lock of the store and waits for "
                        + reader.getLockInfo().getClassName().replaceAll(".*\\.", "")
                        + " of the stream thread, which waits to write under that lock");
            }
            Thread.onSpinWait();
        }
    }

    private static boolean has(ThreadInfo thread, String type, String method) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(each -> each.getClassName().endsWith(type) && each.getMethodName().equals(method));
    }

    /** Writes the table, then resizes, as its thread does when another thread is added. */
    private static final class Resize implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, ValueAndTimestamp<String>> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> command) {
            store.put(command.value(), ValueAndTimestamp.make("1", command.timestamp()));
            query.start();
            await(QUERY_READS);
            try {
                Field field = TopologyTestDriver.class.getDeclaredField("task");
                field.setAccessible(true);
                ((StreamTask) field.get(driver)).processorContext().cache().resize(0);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Puts what it gets, once the query waits for what this thread has. */
    private static final class Copy implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, String> copies;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            copies = context.getStateStore("copies");
        }

        @Override
        public void process(Record<String, String> change) {
            RESIZE_EVICTS.countDown();
            while (query.getState() != Thread.State.TERMINATED) {
                ThreadInfo seen = ManagementFactory.getThreadMXBean().getThreadInfo(query.getId());
                if (seen != null && seen.getLockOwnerId() == stream.getId()) {
                    break;
                }
                Thread.onSpinWait();
            }
            copies.put(change.key(), change.value());
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An in-memory store that lets the query on only when the resize evicts; it is asked whether it is open twice. */
    private static final class Gated implements KeyValueBytesStoreSupplier {
        private final KeyValueBytesStoreSupplier memory = Stores.inMemoryKeyValueStore("copies");

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
                    Gated.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        if (Thread.currentThread() == query && method.getName().equals("isOpen") && ++asked == 2) {
                            QUERY_READS.countDown();
                            QueryAndResizeTest.await(RESIZE_EVICTS);
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

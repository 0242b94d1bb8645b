package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
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
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only. A processor downstream of a cached table writes to another cached store, which the topology
 * registered first. At a commit that store is written out before the table is, so what the table's change brings about
 * is still in the cache only when the offsets are committed.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CommitLeavesWritesTopologyTest.java
 *   java -cp "out:$CP" findings.CommitLeavesWritesTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CommitLeavesWritesTopologyTest {
    private static final List<String> WRITTEN_BY = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(new Seen(), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("first", Consumed.with(Serdes.String(), Serdes.String())).process(() -> new Copy(), "copies");
        builder.table(
                        "table",
                        Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String>as(Stores.inMemoryKeyValueStore("store"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingEnabled())
                .toStream()
                .process(() -> new Copy(), "copies");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config(1_000_000))) {
            TestInputTopic<String, String> table =
                    driver.createInputTopic("table", new StringSerializer(), new StringSerializer());
            table.pipeInput("a", "1");
        }
        expect("the step of the task that wrote the copy below", List.of("prepareCommit"), WRITTEN_BY);
        conforms();
    }

    /** Puts what it gets. */
    private static final class Copy implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, String> copies;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            copies = context.getStateStore("copies");
        }

        @Override
        public void process(Record<String, String> change) {
            copies.put(change.key(), change.value());
        }
    }

    /** An in-memory store that notes during which step of the task it is written to. */
    private static final class Seen implements KeyValueBytesStoreSupplier {
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
                    Seen.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        if (method.getName().equals("put")) {
                            WRITTEN_BY.add(Arrays.stream(new Throwable().getStackTrace())
                                    .filter(frame -> frame.getClassName().endsWith(".StreamTask"))
                                    .map(StackTraceElement::getMethodName)
                                    .filter(name -> name.endsWith("Commit") || name.equals("process"))
                                    .findFirst()
                                    .orElse("none"));
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

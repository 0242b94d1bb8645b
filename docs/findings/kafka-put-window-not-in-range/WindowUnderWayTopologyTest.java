package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/*
 * A put of a window evicts another one, and the store below refuses that. Afterwards the window is found by its time, and
 * not by a range of times. Public API only; the store below is one in memory that says it is persistent, so that no
 * RocksDB is needed, and throws once.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out WindowUnderWayTopologyTest.java
 *   java -cp "out:$CP" findings.WindowUnderWayTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class WindowUnderWayTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static boolean refuses;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.windowStoreBuilder(new Refuses(), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "windows");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 110); // room for one window
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("in", new StringSerializer(), new StringSerializer()).pipeInput("k", "v");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            windows.put("k", "1", 0);
            refuses = true;
            try {
                windows.put("k", "2", 70_000);
                DIFFERENCES.add("the store below was to refuse the evicted window, and was not asked");
            } catch (RuntimeException e) {
                refuses = false; // a processor that goes on
            }
            expect("the window of 70000 by its time", "2", windows.fetch("k", 70_000));
            expect("the window of 70000 in a range", "2", found(windows.fetch("k", 1, 80_000)));
        }
    }

    private static String found(WindowStoreIterator<String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.add(next.value));
        }
        return String.join(" ", found);
    }

    private static final class Refuses implements WindowBytesStoreSupplier {
        private final WindowBytesStoreSupplier inMemory =
                Stores.inMemoryWindowStore("windows", DAY, Duration.ofMillis(10), false);

        @Override
        public String name() {
            return inMemory.name();
        }

        @Override
        @SuppressWarnings("unchecked")
        public WindowStore<Bytes, byte[]> get() {
            WindowStore<Bytes, byte[]> store = inMemory.get();
            return (WindowStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Refuses.class.getClassLoader(), new Class<?>[] {WindowStore.class}, (proxy, method, given) -> {
                        if (refuses && method.getName().equals("put")) {
                            throw new IllegalStateException("refused");
                        }
                        try {
                            return method.getName().equals("persistent") ? true : method.invoke(store, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public long segmentIntervalMs() {
            return 60_000;
        }

        @Override
        public long windowSize() {
            return inMemory.windowSize();
        }

        @Override
        public boolean retainDuplicates() {
            return false;
        }

        @Override
        public String metricsScope() {
            return inMemory.metricsScope();
        }

        @Override
        public long retentionPeriod() {
            return inMemory.retentionPeriod();
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

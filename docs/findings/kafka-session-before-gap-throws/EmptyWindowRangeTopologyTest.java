package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Supplier;
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
 * fetch of a cached, persistent window store throws where the range of time ends in an earlier segment than it begins, or
 * begins before 1970 by more than a segment; without caching the first is empty and the second answers. Public API
 * only; the persistent store is one in memory that says it is persistent, so that no RocksDB is needed.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out EmptyWindowRangeTopologyTest.java
 *   java -cp "out:$CP" findings.EmptyWindowRangeTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class EmptyWindowRangeTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean cached : new boolean[] {false, true}) {
            StreamsBuilder builder = new StreamsBuilder();
            var windows = Stores.windowStoreBuilder(new Persistent(), Serdes.String(), Serdes.String());
            builder.addStateStore(cached ? windows.withCachingEnabled() : windows.withCachingDisabled());
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "windows");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
                var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
                in.pipeInput("k", "v", 5);
                WindowStore<String, String> store = driver.getWindowStore("windows");
                String with = cached ? "with caching, " : "without, ";
                expect(with + "from 70000 to 5", "[]", found(() -> store.fetch("k", 70_000, 5)));
                expect(with + "from 5 to 4", "[]", found(() -> store.fetch("k", 5, 4)));
                expect(with + "from -60000 to 5", "[5]", found(() -> store.fetch("k", -60_000, 5)));
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            windows.put(record.key(), record.value(), record.timestamp());
        }
    }

    private static String found(Supplier<WindowStoreIterator<String>> asked) {
        List<Long> found = new ArrayList<>();
        try (WindowStoreIterator<String> iterator = asked.get()) {
            iterator.forEachRemaining(next -> found.add(next.key));
        } catch (IllegalStateException e) {
            return e.getClass().getSimpleName() + " (" + e.getMessage() + ")";
        }
        return found.toString();
    }

    /** A store in memory that says it is persistent, with segments as the persistent ones have them. */
    private static final class Persistent implements WindowBytesStoreSupplier {
        private final WindowBytesStoreSupplier inMemory = Stores.inMemoryWindowStore("windows", DAY, Duration.ofMillis(10), false);

        @Override
        public String name() {
            return inMemory.name();
        }

        @Override
        @SuppressWarnings("unchecked")
        public WindowStore<Bytes, byte[]> get() {
            WindowStore<Bytes, byte[]> store = inMemory.get();
            return (WindowStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Persistent.class.getClassLoader(), new Class<?>[] {WindowStore.class}, (proxy, method, given) -> {
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
        public String metricsScope() {
            return inMemory.metricsScope();
        }

        @Override
        public long retentionPeriod() {
            return inMemory.retentionPeriod();
        }

        @Override
        public long windowSize() {
            return inMemory.windowSize();
        }

        @Override
        public boolean retainDuplicates() {
            return false;
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

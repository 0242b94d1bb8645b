package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;

/*
 * fetch and backwardFetch of a range of keys with an open end, on a cached, persistent window store whose cache holds
 * windows of more than one segment, hand out windows more than once. Public API only; the persistent store is one in
 * memory that says it is persistent, so that no RocksDB is needed.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out NullBoundsTopologyTest.java
 *   java -cp "out:$CP" findings.NullBoundsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class NullBoundsTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.windowStoreBuilder(new Persistent(), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "windows");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "old", 0);
            in.pipeInput("k", "old", 70_000);
            WindowStore<String, String> windows = driver.getWindowStore("windows");
            String forward = "0=old 70000=old";
            String backward = "70000=old 0=old";
            expect("fetch of k to k", forward, found(windows.fetch("k", "k", 0, 80_000)));
            expect("fetch without bounds", forward, found(windows.fetch(null, null, 0, 80_000)));
            expect("fetch from k", forward, found(windows.fetch("k", null, 0, 80_000)));
            expect("fetch to k", forward, found(windows.fetch(null, "k", 0, 80_000)));
            expect("backwardFetch without bounds", backward, found(windows.backwardFetch(null, null, 0, 80_000)));
            in.pipeInput("k", "new", 70_000);
            expect("fetchAll before the commit", "0=old 70000=new", Puts.foundAll);
            expect("fetch without bounds before the commit", "0=old 70000=new", Puts.found);
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts its record as a window and fetches all windows, before that is committed. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        private static String foundAll;
        private static String found;

        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            windows.put(record.key(), record.value(), record.timestamp());
            foundAll = found(windows.fetchAll(0, 80_000));
            found = found(windows.fetch(null, null, 0, 80_000));
        }
    }

    private static String found(KeyValueIterator<Windowed<String>, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.add(next.key.window().start() + "=" + next.value));
        }
        return found.stream().collect(Collectors.joining(" "));
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

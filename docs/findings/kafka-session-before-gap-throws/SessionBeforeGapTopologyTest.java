package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;

/*
 * A count by session windows with a gap of an hour and the default cache dies at a record of the first half hour of
 * 1970; without caching it counts. Public API only; the persistent store is one in memory that says it is persistent and
 * has the segments of Stores.persistentSessionStore, so that no RocksDB is needed.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SessionBeforeGapTopologyTest.java
 *   java -cp "out:$CP" findings.SessionBeforeGapTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class SessionBeforeGapTopologyTest {
    private static final Duration GAP = Duration.ofHours(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        Map<Long, String> expected = new LinkedHashMap<>();
        for (long timestamp : new long[] {0, 60_000, 3_600_000}) {
            expected.put(timestamp, counted(timestamp, 0));
        }
        expected.forEach((timestamp, without) -> {
            expect("without a cache, at " + timestamp, "[1]", without);
            expect("with the default cache, at " + timestamp, without, counted(timestamp, 10_485_760));
        });
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** What is forwarded for one record with that timestamp. */
    private static String counted(long timestamp, long cacheBytes) {
        List<Long> counts = new ArrayList<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .windowedBy(SessionWindows.ofInactivityGapWithNoGrace(GAP))
                .count(Materialized.as(new Persistent()))
                .toStream()
                .foreach((key, count) -> counts.add(count));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("in", new StringSerializer(), new StringSerializer())
                    .pipeInput("k", "v", timestamp);
        } catch (StreamsException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.getClass().getSimpleName() + " (" + cause.getMessage() + ")";
        }
        return counts.toString();
    }

    /** A store in memory that says it is persistent, with segments as the persistent ones have them. */
    private static final class Persistent implements SessionBytesStoreSupplier {
        private final SessionBytesStoreSupplier inMemory = Stores.inMemorySessionStore("sessions", GAP);

        @Override
        public String name() {
            return inMemory.name();
        }

        @Override
        @SuppressWarnings("unchecked")
        public SessionStore<Bytes, byte[]> get() {
            SessionStore<Bytes, byte[]> store = inMemory.get();
            return (SessionStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Persistent.class.getClassLoader(), new Class<?>[] {SessionStore.class}, (proxy, method, given) -> {
                        try {
                            return method.getName().equals("persistent") ? true : method.invoke(store, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public long segmentIntervalMs() {
            return Math.max(GAP.toMillis() / 2, 60_000);
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

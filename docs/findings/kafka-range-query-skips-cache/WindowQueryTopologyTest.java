package findings;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Before a commit, fetch of a cached window store and of a cached session store sees what was put and deleted; a
 * WindowKeyQuery and a WindowRangeQuery of the same stores see neither. Public API only, with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out WindowQueryTopologyTest.java
 *   java -cp "out:$CP" findings.WindowQueryTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class WindowQueryTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Instant FIRST = Instant.EPOCH;
    private static final Instant LAST = Instant.ofEpochMilli(1_000);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.windowStoreBuilder(
                        Stores.inMemoryWindowStore("windows", DAY, Duration.ofMillis(10), false),
                        Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.addStateStore(Stores.sessionStoreBuilder(
                        Stores.inMemorySessionStore("sessions", DAY), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .process(Asks::new, "windows", "sessions");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "1", 10L);
            in.pipeInput("k", "2", 10L);
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts its record as a window and as a session, at the second value deletes 20, and asks before the commit. */
    private static final class Asks extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            String second = record.value().equals("1") ? "1" : null;
            windows.put("k", record.value(), 10);
            windows.put("k", second, 20);
            sessions.put(session(10), record.value());
            sessions.put(session(20), second);
            String expected = second == null ? "2" : "1 1";
            QueryConfig config = new QueryConfig(false);
            expect("fetch of windows", expected, values(windows.fetch("k", 0, 1_000)));
            expect("WindowKeyQuery of windows", expected, values(windows.query(
                            WindowKeyQuery.<String, String>withKeyAndWindowStartRange("k", FIRST, LAST),
                            PositionBound.unbounded(), config)
                    .getResult()));
            expect("WindowRangeQuery of windows", expected, values(windows.query(
                            WindowRangeQuery.<String, String>withWindowStartRange(FIRST, LAST),
                            PositionBound.unbounded(), config)
                    .getResult()));
            expect("fetch of sessions", expected, values(sessions.fetch("k")));
            expect("WindowRangeQuery of sessions", expected, values(sessions.query(
                            WindowRangeQuery.<String, String>withKey("k"), PositionBound.unbounded(), config)
                    .getResult()));
        }
    }

    private static Windowed<String> session(long at) {
        return new Windowed<>("k", new SessionWindow(at, at));
    }

    private static String values(KeyValueIterator<?, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.add(next.value));
        }
        return String.join(" ", found);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

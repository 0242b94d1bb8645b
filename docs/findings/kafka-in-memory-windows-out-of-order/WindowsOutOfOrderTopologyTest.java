package findings;

import java.time.Duration;
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
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Two keys, one of which is the other and a byte of zero: a view of all windows of a cached window store in memory, or of
 * all sessions of such a session store, hands out one of them twice, the second time with its old value. Public API only,
 * with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out WindowsOutOfOrderTopologyTest.java
 *   java -cp "out:$CP" findings.WindowsOutOfOrderTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class WindowsOutOfOrderTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final String SHORT = "a";
    private static final String LONG = "a\u0000";
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean cached : new boolean[] {false, true}) {
            StreamsBuilder builder = new StreamsBuilder();
            var windows = Stores.windowStoreBuilder(
                    Stores.inMemoryWindowStore("windows", DAY, Duration.ofMillis(10), false),
                    Serdes.String(), Serdes.String());
            var sessions = Stores.sessionStoreBuilder(
                    Stores.inMemorySessionStore("sessions", DAY), Serdes.String(), Serdes.String());
            builder.addStateStore(cached ? windows.withCachingEnabled() : windows);
            builder.addStateStore(cached ? sessions.withCachingEnabled() : sessions);
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                    .process(() -> new Puts(cached ? "with caching, " : "without, "), "windows", "sessions");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
                var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
                in.pipeInput(SHORT, "1", 5L);
                in.pipeInput(LONG, "old", 5L);
                in.pipeInput(LONG, "new", 5L);
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts its record as a window and as a session, and looks at all of them before the commit of the last one. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        private final String with;

        private Puts(String with) {
            this.with = with;
        }

        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            windows.put(record.key(), record.value(), 5);
            sessions.put(new Windowed<>(record.key(), new SessionWindow(5, 5)), record.value());
            if (record.value().equals("new")) {
                expect(with + "windows", List.of("1", "new"), values(windows.all()));
                expect(with + "sessions", List.of("1", "new"), values(sessions.findSessions(null, null, 0, 10)));
            }
        }
    }

    /** The values in order, which stands for the set: the order of the two keys is not promised. */
    private static List<String> values(KeyValueIterator<Windowed<String>, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.add(next.value));
        }
        found.sort(null);
        return found;
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

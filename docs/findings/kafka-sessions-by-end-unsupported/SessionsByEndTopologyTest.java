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

/*
 * A processor asks a session store in memory for the sessions that end within a range. Without a cache it answers; with one it
 * says that the store does not support the question. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SessionsByEndTopologyTest.java
 *   java -cp "out:$CP" findings.SessionsByEndTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class SessionsByEndTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean cached : new boolean[] {false, true}) {
            StreamsBuilder builder = new StreamsBuilder();
            var sessions = Stores.sessionStoreBuilder(
                    Stores.inMemorySessionStore("sessions", Duration.ofDays(1)), Serdes.String(), Serdes.String());
            builder.addStateStore(cached ? sessions.withCachingEnabled() : sessions);
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                    .process(() -> new Puts(cached ? "with caching, " : "without, "), "sessions");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
                var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
                in.pipeInput("k", "v");
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts a session and looks for it by its end. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        private final String with;

        private Puts(String with) {
            this.with = with;
        }

        @Override
        public void process(Record<String, String> record) {
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            sessions.put(new Windowed<>("k", new SessionWindow(1, 10)), record.value());
            expect(with + "sessions that end by 10", "[1=v]", byEnd(sessions, 0, 10));
            expect(with + "sessions that end by 9", "[]", byEnd(sessions, 0, 9));
        }
    }

    private static String byEnd(SessionStore<String, String> sessions, long earliest, long latest) {
        try {
            return rows(sessions.findSessions(earliest, latest)).toString();
        } catch (UnsupportedOperationException error) {
            return error.toString();
        }
    }

    /** Which sessions came, as start and value; sorted, as no order of those that end together is promised. */
    private static List<String> rows(KeyValueIterator<Windowed<String>, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.add(next.key.window().start() + "=" + next.value));
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

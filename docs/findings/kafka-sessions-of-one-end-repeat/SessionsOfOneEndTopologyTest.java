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
 * Two sessions of one key end together. With a cache over a store in memory, one of them is handed out twice where the other
 * lies in the store and in the cache, the second time with the value that lies below. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SessionsOfOneEndTopologyTest.java
 *   java -cp "out:$CP" findings.SessionsOfOneEndTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class SessionsOfOneEndTopologyTest {
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
                in.pipeInput("k", "old");
                in.pipeInput("k", "new");
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts both sessions and commits, then puts the longer one anew and looks. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        private final String with;

        private Puts(String with) {
            this.with = with;
        }

        @Override
        public void process(Record<String, String> record) {
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            sessions.put(new Windowed<>("k", new SessionWindow(1, 10)), record.value());
            if (record.value().equals("old")) {
                sessions.put(new Windowed<>("k", new SessionWindow(5, 10)), "short");
                return;
            }
            List<String> expected = List.of("1=new", "5=short");
            expect(with + "fetch", expected, rows(sessions.fetch("k")));
            expect(with + "findSessions", expected, rows(sessions.findSessions("k", 0, 10)));
            expect(with + "findSessions of all keys", expected, rows(sessions.findSessions(null, null, 0, 10)));
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

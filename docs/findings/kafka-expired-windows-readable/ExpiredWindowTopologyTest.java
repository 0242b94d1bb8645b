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
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/*
 * A window, or a session, that is older than its store keeps them is not taken by the store without caching. With caching
 * it is read back, also after the commit that dropped it below. Public API only, with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ExpiredWindowTopologyTest.java
 *   java -cp "out:$CP" findings.ExpiredWindowTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class ExpiredWindowTopologyTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean cached : new boolean[] {false, true}) {
            StreamsBuilder builder = new StreamsBuilder();
            var windows = Stores.windowStoreBuilder(
                    Stores.inMemoryWindowStore("windows", SECOND, Duration.ofMillis(10), false),
                    Serdes.String(), Serdes.String());
            var sessions = Stores.sessionStoreBuilder(
                    Stores.inMemorySessionStore("sessions", SECOND), Serdes.String(), Serdes.String());
            builder.addStateStore(cached ? windows.withCachingEnabled() : windows);
            builder.addStateStore(cached ? sessions.withCachingEnabled() : sessions);
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                    .process(Puts::new, "windows", "sessions");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
                var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
                in.pipeInput("k", "new", 1_000_000L);
                in.pipeInput("k", "expired", 5L);
                WindowStore<String, String> window = driver.getWindowStore("windows");
                SessionStore<String, String> session = driver.getSessionStore("sessions");
                String with = cached ? "with caching, " : "without, ";
                expect(with + "window of now", "new", window.fetch("k", 1_000_000L));
                expect(with + "expired window", null, window.fetch("k", 5L));
                expect(with + "session of now", "new", session.fetchSession("k", 1_000_000L, 1_000_000L));
                expect(with + "expired session", null, session.fetchSession("k", 5L, 5L));
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
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            windows.put("k", record.value(), record.timestamp());
            sessions.put(
                    new Windowed<>("k", new SessionWindow(record.timestamp(), record.timestamp())), record.value());
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

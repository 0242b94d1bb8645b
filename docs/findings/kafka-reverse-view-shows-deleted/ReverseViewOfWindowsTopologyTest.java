package findings;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
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
 * A processor deletes a window of its cached window store, or a session of its cached session store, and fetches
 * backward: what it deleted is there. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReverseViewOfWindowsTopologyTest.java
 *   java -cp "out:$CP" findings.ReverseViewOfWindowsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class ReverseViewOfWindowsTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
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
                .process(Deletes::new, "windows", "sessions");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // Room for about one entry: what was written before is below, and no longer in the cache.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 110);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("windows", "put");
            in.pipeInput("windows", "delete");
            in.pipeInput("sessions", "put");
            in.pipeInput("sessions", "delete");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts three windows or sessions that start at 100, 200 and 300, then deletes the one at 200. */
    private static final class Deletes extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            WindowStore<String, String> windows = context().getStateStore("windows");
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            boolean inWindows = record.key().equals("windows");
            if (record.value().equals("put")) {
                for (long start = 100; start <= 300; start += 100) {
                    if (inWindows) {
                        windows.put("k", "1", start);
                    } else {
                        sessions.put(session(start), "1");
                    }
                }
                return;
            }
            if (inWindows) {
                windows.put("k", null, 200);
                Instant from = Instant.EPOCH;
                Instant to = Instant.ofEpochMilli(1_000);
                expect("windows forward", "100 300", starts(windows.fetch("k", "k", from, to)));
                expect("windows backward", "300 100", starts(windows.backwardFetch("k", "k", from, to)));
                expect("all windows backward", "300 100", starts(windows.backwardAll()));
            } else {
                sessions.remove(session(200));
                expect("sessions forward", "100 300", starts(sessions.fetch("k")));
                try {
                    expect("sessions backward", "300 100", starts(sessions.backwardFetch("k")));
                } catch (UnsupportedOperationException e) {
                    return; // 3.9.2 and 4.0.0 offer a processor no backward iteration over sessions.
                }
            }
        }
    }

    private static Windowed<String> session(long start) {
        return new Windowed<>("k", new SessionWindow(start, start + 10));
    }

    private static String starts(KeyValueIterator<Windowed<String>, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            while (iterator.hasNext()) {
                KeyValue<Windowed<String>, String> next = iterator.next();
                found.add(next.key.window().start() + (next.value == null ? "=null" : ""));
            }
        }
        return String.join(" ", found);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

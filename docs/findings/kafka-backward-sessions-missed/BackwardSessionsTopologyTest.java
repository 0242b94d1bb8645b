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
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;

/*
 * backwardFindSessions of a cached, persistent session store misses a cached session that ends after the latest start
 * that was asked for, and throws when any session of the store lies in a later segment. Public API only; the
 * persistent store is one in memory that says it is persistent, so that no RocksDB is needed.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out BackwardSessionsTopologyTest.java
 *   java -cp "out:$CP" findings.BackwardSessionsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class BackwardSessionsTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.sessionStoreBuilder(new Persistent(), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "sessions");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            SessionStore<String, String> sessions = driver.getSessionStore("sessions");
            in.pipeInput("k", "100");
            String expected = "5-100 5-40";
            expect("backward after the commit", expected, found(() -> sessions.backwardFindSessions("k", 0, 50)));
            in.pipeInput("k", "1000000");
            expected = "5-1000000 " + expected;
            expect("backward after a later one", expected, found(() -> sessions.backwardFindSessions("k", 0, 50)));
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts sessions that start at 5 and end at 40 and at what the record says. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            sessions.put(new Windowed<>("k", new SessionWindow(5, 40)), "1");
            sessions.put(new Windowed<>("k", new SessionWindow(5, Long.parseLong(record.value()))), "1");
            if (record.value().equals("100")) {
                expect("forward before the commit", "5-40 5-100", found(() -> sessions.findSessions("k", 0, 50)));
                String backward = found(() -> sessions.backwardFindSessions("k", 0, 50));
                if (!backward.startsWith("UnsupportedOperationException")) { // 4.3.1 lets a processor ask
                    expect("backward before the commit", "5-100 5-40", backward);
                }
            }
        }
    }

    private static final class Persistent implements SessionBytesStoreSupplier {
        private final SessionBytesStoreSupplier inMemory = Stores.inMemorySessionStore("sessions", DAY);

        @Override
        public String name() {
            return "sessions";
        }

        @Override
        public SessionStore<Bytes, byte[]> get() {
            SessionStore<Bytes, byte[]> store = inMemory.get();
            @SuppressWarnings("unchecked")
            SessionStore<Bytes, byte[]> persistent = (SessionStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Persistent.class.getClassLoader(), new Class<?>[] {SessionStore.class}, (proxy, method, given) -> {
                        try {
                            return method.getName().equals("persistent") ? true : method.invoke(store, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            return persistent;
        }

        @Override
        public long segmentIntervalMs() {
            return 60_000;
        }

        @Override
        public String metricsScope() {
            return "in-memory-session";
        }

        @Override
        public long retentionPeriod() {
            return DAY.toMillis();
        }
    }

    private static String found(Supplier<KeyValueIterator<Windowed<String>, String>> asked) {
        List<String> found = new ArrayList<>();
        try (KeyValueIterator<Windowed<String>, String> iterator = asked.get()) {
            iterator.forEachRemaining(next -> found.add(next.key.window().start() + "-" + next.key.window().end()));
        } catch (IllegalStateException | UnsupportedOperationException e) {
            return e.getClass().getSimpleName() + " (" + e.getMessage() + ")";
        }
        return String.join(" ", found);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

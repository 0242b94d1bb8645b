package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
 * fetch(key) of a cached, persistent session store goes through every segment since 1970, one by one. The record here
 * has a timestamp in microseconds, so that the walk takes hours; without caching the same question is answered at once.
 * Public API only; the persistent store is one in memory that says it is persistent, so that no RocksDB is needed.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out FetchWalksSegmentsTopologyTest.java
 *   java -cp "out:$CP" findings.FetchWalksSegmentsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class FetchWalksSegmentsTopologyTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final long MICROSECONDS = 1_700_000_000_000_000L;
    private static final long PATIENCE_S = 5;
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) throws InterruptedException, ExecutionException {
        for (boolean cached : new boolean[] {false, true}) {
            StreamsBuilder builder = new StreamsBuilder();
            var sessions = Stores.sessionStoreBuilder(new Persistent(), Serdes.String(), Serdes.String());
            builder.addStateStore(cached ? sessions.withCachingEnabled() : sessions.withCachingDisabled());
            builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "sessions");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config);
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "v", MICROSECONDS);
            SessionStore<String, String> store = driver.getSessionStore("sessions");
            expect("fetch of a store with caching " + cached, "one session", answered(store));
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** What a thread that serves a query gets within the patience of this test. */
    private static String answered(SessionStore<String, String> store) throws InterruptedException, ExecutionException {
        CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> {
            int found = 0;
            try (KeyValueIterator<Windowed<String>, String> iterator = store.fetch("k")) {
                for (; iterator.hasNext(); iterator.next()) {
                    found++;
                }
            }
            return found == 1 ? "one session" : found + " sessions";
        });
        try {
            return answer.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            return "no answer in " + PATIENCE_S + " s";
        }
    }

    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            SessionStore<String, String> sessions = context().getStateStore("sessions");
            sessions.put(new Windowed<>("k", new SessionWindow(record.timestamp(), record.timestamp())), record.value());
        }
    }

    /** A store in memory that says it is persistent, with segments as the persistent ones have them. */
    private static final class Persistent implements SessionBytesStoreSupplier {
        private final SessionBytesStoreSupplier inMemory = Stores.inMemorySessionStore("sessions", DAY);

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
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

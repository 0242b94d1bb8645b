package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * A thread that serves queries reads the last value of a key and then, in a view of all keys, an older one, because the
 * stream thread evicts the key in between. Public API only; the store below shows the moment at which a view was made,
 * as RocksDB does, and waits there, to make the interleaving certain.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out QueryGoesBackTopologyTest.java
 *   java -cp "out:$CP" findings.QueryGoesBackTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class QueryGoesBackTopologyTest {
    private static final CountDownLatch VIEW_MADE = new CountDownLatch(1);
    private static final CountDownLatch EVICTED = new CountDownLatch(1);
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static KeyValueStore<String, String> queried;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(new Waits(), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 110);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            queried = driver.getKeyValueStore("store");
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("b", "1");
            in.pipeInput("b", "2");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts its record; at the second one it evicts that while another thread makes a view. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore("store");
            store.put(record.key(), record.value());
            if (record.value().equals("2")) {
                CompletableFuture<String> answer = CompletableFuture.supplyAsync(QueryGoesBackTopologyTest::query);
                await(VIEW_MADE);
                store.put("a", "a value that leaves no room for b in the cache, which holds 110 bytes");
                EVICTED.countDown();
                expect("b by its key, then in the view", "2 2", answer.join());
            }
        }
    }

    /** What a query reads of b: by its key, then in a view. */
    private static String query() {
        String read = queried.get("b");
        try (KeyValueIterator<String, String> all = queried.all()) {
            while (all.hasNext()) {
                var next = all.next();
                read += next.key.equals("b") ? " " + next.value : "";
            }
        }
        return read;
    }

    /** A store in memory whose view, made by another thread than the main one, is of the moment before the eviction. */
    private static final class Waits implements KeyValueBytesStoreSupplier {
        @Override
        public String name() {
            return "store";
        }

        @Override
        @SuppressWarnings("unchecked")
        public KeyValueStore<Bytes, byte[]> get() {
            KeyValueStore<Bytes, byte[]> store = Stores.inMemoryKeyValueStore("store").get();
            KeyValueBytesStoreSupplier copies = Stores.inMemoryKeyValueStore("copy");
            return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Waits.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        try {
                            if (method.getName().equals("all") && !Thread.currentThread().getName().equals("main")) {
                                KeyValueStore<Bytes, byte[]> copy = copies.get();
                                try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
                                    all.forEachRemaining(next -> copy.put(next.key, next.value));
                                }
                                VIEW_MADE.countDown();
                                await(EVICTED);
                                return copy.all();
                            }
                            return method.invoke(store, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public String metricsScope() {
            return "in-memory";
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("waited for 30 s");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * A store that is closed and initialised again, as a task does that is revived, is empty and says that it is as far as
 * it was: a query with a bound is answered, with nothing. So it is with a store in memory, and with a cached one over a
 * store that begins anew. A processor makes the stores and asks them, through their public interface.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out PositionAfterCloseTopologyTest.java
 *   java -cp "out:$CP" findings.PositionAfterCloseTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class PositionAfterCloseTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Reopens::new);
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("in", new StringSerializer(), new StringSerializer()).pipeInput("k", "v");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static final class Reopens extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            asked("a store that begins anew", new Anew(), false);
            asked("a cached store over it", new Anew(), true);
            asked("a store in memory", Stores.inMemoryKeyValueStore("own"), false);
        }

        private void asked(String what, KeyValueBytesStoreSupplier supplier, boolean cached) {
            var builder = Stores.keyValueStoreBuilder(supplier, Serdes.String(), Serdes.String()).withLoggingDisabled();
            KeyValueStore<String, String> store = (cached ? builder.withCachingEnabled() : builder).build();
            store.init((StateStoreContext) context(), null);
            store.put("k", "v");
            expect(what + ", before", "v", answer(store));
            store.close();
            store.init((StateStoreContext) context(), null);
            expect(what + ", closed and initialised", "refused", answer(store));
            store.close();
        }
    }

    /** The answer to a query for k that has seen the first record. */
    private static String answer(KeyValueStore<String, String> store) {
        PositionBound bound = PositionBound.at(Position.emptyPosition().withComponent("in", 0, 0));
        var result = store.query(KeyQuery.<String, String>withKey("k"), bound, new QueryConfig(false));
        return result.isSuccess() ? result.getResult() : "refused";
    }

    /** A store in memory that is another one after each init. */
    private static final class Anew implements KeyValueBytesStoreSupplier {
        @Override
        public String name() {
            return "own";
        }

        @Override
        @SuppressWarnings("unchecked")
        public KeyValueStore<Bytes, byte[]> get() {
            KeyValueBytesStoreSupplier inMemory = Stores.inMemoryKeyValueStore("own");
            AtomicReference<KeyValueStore<Bytes, byte[]>> store = new AtomicReference<>(inMemory.get());
            return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Anew.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        if (method.getName().equals("init")) {
                            store.set(inMemory.get());
                        }
                        try {
                            return method.invoke(store.get(), given);
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

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

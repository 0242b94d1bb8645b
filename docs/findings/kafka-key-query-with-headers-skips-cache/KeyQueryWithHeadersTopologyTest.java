package findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * A KeyQuery of a cached store must answer the last put. The store is one with headers where the release has such (4.3),
 * else one with timestamps. Public API only; by reflection, so that one text compiles for every release.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out KeyQueryWithHeadersTopologyTest.java
 *   java -cp "out:$CP" findings.KeyQueryWithHeadersTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class KeyQueryWithHeadersTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(store().withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Asks::new, "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "1");
            in.pipeInput("k", "2");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static boolean hasHeaders() {
        try {
            Class.forName("org.apache.kafka.streams.state.ValueTimestampHeaders");
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static StoreBuilder<?> store() throws ReflectiveOperationException {
        String name = hasHeaders() ? "timestampedKeyValueStoreWithHeadersBuilder" : "timestampedKeyValueStoreBuilder";
        return (StoreBuilder<?>) Stores.class
                .getMethod(name, KeyValueBytesStoreSupplier.class, Serde.class, Serde.class)
                .invoke(null, Stores.inMemoryKeyValueStore("store"), Serdes.String(), Serdes.String());
    }

    private static Object value(Record<String, String> record) throws ReflectiveOperationException {
        if (!hasHeaders()) {
            return ValueAndTimestamp.make(record.value(), record.timestamp());
        }
        return Class.forName("org.apache.kafka.streams.state.ValueTimestampHeaders")
                .getMethod("make", Object.class, long.class, Headers.class)
                .invoke(null, record.value(), record.timestamp(), record.headers());
    }

    /** Puts its records, and asks for each before it is committed. */
    private static final class Asks extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, Object> store = context().getStateStore("store");
            try {
                store.put(record.key(), value(record));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            Object found = store.query(
                            KeyQuery.<String, Object>withKey(record.key()), PositionBound.unbounded(), new QueryConfig(false))
                    .getResult();
            expect("KeyQuery after the put of " + record.value(), record.value(), found);
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

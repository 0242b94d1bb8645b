package findings;

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
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * A processor deletes a key of its cached store and iterates over the store: the deleted key is there.
 * Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ViewShowsDeletedTopologyTest.java
 *   java -cp "out:$CP" findings.ViewShowsDeletedTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class ViewShowsDeletedTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("store"), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Deletes::new, "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // Room for one of these entries: what was written before is below, and no longer in the cache.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 60);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("put", "abc");
            in.pipeInput("delete", "b");
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts or deletes the letters of its records; the driver commits, and so writes the cache through, after each. */
    private static final class Deletes extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore("store");
            for (String key : record.value().split("")) {
                store.put(key, record.key().equals("put") ? "1" : null);
            }
            if (record.key().equals("delete")) {
                String after = " after " + record.value() + " was deleted";
                expect("all" + after, List.of("a=1", "c=1"), drain(store.all()));
                expect("range" + after, List.of("a=1", "c=1"), drain(store.range("a", "z")));
            }
        }
    }

    private static List<String> drain(KeyValueIterator<String, String> iterator) {
        List<String> found = new ArrayList<>();
        try (iterator) {
            while (iterator.hasNext()) {
                KeyValue<String, String> next = iterator.next();
                found.add(next.key + "=" + next.value);
            }
        }
        return found;
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

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
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/*
 * A processor iterates over its store in memory and deletes the next key: the iteration must leave that out and must
 * not hand out a null value. Public API only; with and without caching.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out IterationMeetsDeletedTopologyTest.java
 *   java -cp "out:$CP" findings.IterationMeetsDeletedTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class IterationMeetsDeletedTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        expect("without caching", "a=1 c=1", met(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("store"), Serdes.String(), Serdes.String())
                .withCachingDisabled()));
        expect("with caching", "a=1 c=1", met(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("store"), Serdes.String(), Serdes.String())
                .withCachingEnabled()));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** What the processor meets. */
    private static String met(StoreBuilder<KeyValueStore<String, String>> store) {
        List<String> met = new ArrayList<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(store);
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .process(() -> new Iterates(met), "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("in", new StringSerializer(), new StringSerializer()).pipeInput("x", "abc");
        }
        return String.join(" ", met);
    }

    /** Puts its record's letters, then iterates over them all and deletes b. */
    private static final class Iterates extends ContextualProcessor<String, String, Void, Void> {
        private final List<String> met;

        private Iterates(List<String> met) {
            this.met = met;
        }

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore("store");
            for (String key : record.value().split("")) {
                store.put(key, "1");
            }
            try (KeyValueIterator<String, String> all = store.all()) {
                while (all.hasNext()) {
                    KeyValue<String, String> next = all.next();
                    met.add(next.key + "=" + next.value);
                    store.put("b", null);
                }
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

package findings;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/*
 * A processor deletes a key and then iterates over its cached store on RocksDB. A put during the iteration pushes the
 * deletion out of the cache, and the iteration meets the deleted key. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies, RocksDB too.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out DeletedKeyComesTopologyTest.java
 *   java -cp "out:$CP" findings.DeletedKeyComesTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class DeletedKeyComesTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        expect("without caching", "a b d e", seen(store().withCachingDisabled()));
        expect("with caching", "a b d e", seen(store().withCachingEnabled()));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static StoreBuilder<KeyValueStore<String, String>> store() {
        return Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("store"), Serdes.String(), Serdes.String());
    }

    /** The keys that the processor meets. */
    private static String seen(StoreBuilder<KeyValueStore<String, String>> store) throws Exception {
        List<String> seen = new ArrayList<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(store);
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .process(() -> new DeletesAndIterates(seen), "store");
        Path folder = Files.createTempDirectory("finding");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        // Room for five of these entries, not for five with a longer value.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 5 * 49);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            TestInputTopic<String, String> in =
                    driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("put", "abcde");
            in.pipeInput("delete", "c");
        }
        return String.join(" ", seen);
    }

    /** Puts letters; deletes a letter, uses the others, iterates over them all and puts a longer value to the first. */
    private static final class DeletesAndIterates extends ContextualProcessor<String, String, Void, Void> {
        private final List<String> seen;

        private DeletesAndIterates(List<String> seen) {
            this.seen = seen;
        }

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore("store");
            if (record.key().equals("put")) {
                for (String key : record.value().split("")) {
                    store.put(key, "1");
                }
                return;
            }
            store.delete(record.value());
            for (String key : "abde".split("")) {
                store.get(key);
            }
            try (KeyValueIterator<String, String> all = store.all()) {
                while (all.hasNext()) {
                    seen.add(all.next().key);
                    store.put("a", "a longer value than before");
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

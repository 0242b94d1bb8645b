package findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/*
 * Two tables are joined, and the rows of the join are written to a topic and kept in a store. Where both tables lose a
 * key between two commits, no tombstone comes out with the default cache: the joined row stays for good. One record
 * that both tables take stands for the two. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out JoinKeepsDeletedRowTopologyTest.java
 *   java -cp "out:$CP" findings.JoinKeepsDeletedRowTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class JoinKeepsDeletedRowTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (long cacheBytes : new long[] {0, 10_485_760}) {
            String with = "with a cache of " + cacheBytes + " bytes, ";
            expect(with + "a row", rows("1/1", "1/1"), after(cacheBytes, "1"));
            expect(with + "a row whose both sides were deleted", rows(null, null), after(cacheBytes, "1", null));
            expect(with + "one that came again", rows("2/2", "2/2"), after(cacheBytes, "1", null, "2"));
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static Map<String, String> rows(String written, String stored) {
        return Map.of("written", String.valueOf(written), "stored", String.valueOf(stored));
    }

    /** What a reader of the topic has of the key, and what the store of the join answers. */
    private static Map<String, String> after(long cacheBytes, String... values) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> in = builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()));
        KTable<String, String> left = in.toTable(inMemory("left"));
        KTable<String, String> right = in.toTable(inMemory("right"));
        left.join(right, (one, other) -> one + "/" + other, inMemory("joined"))
                .toStream()
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (String value : values) {
                input.pipeInput("k", value);
            }
            String written = driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer())
                    .readKeyValuesToMap()
                    .get("k");
            return rows(written, driver.<String, String>getKeyValueStore("joined").get("k"));
        }
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> inMemory(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name)
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String())
                .withStoreType(Materialized.StoreType.IN_MEMORY);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

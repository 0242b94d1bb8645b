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
 * A table with a cache is joined with one that has none. Between two commits the first gets a row, the second gets its
 * partner, and the first loses the row again: the join reads the row out of the cache and sends the joined one, and the
 * deletion is never told, since the store below the cache has not seen the row. One record that a flat map splits stands
 * for what comes between two commits. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out UnflushedRowJoinedTopologyTest.java
 *   java -cp "out:$CP" findings.UnflushedRowJoinedTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class UnflushedRowJoinedTopologyTest {
    private static final String DELETED = "-";
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean outer : new boolean[] {false, true}) {
            for (long cacheBytes : new long[] {0, 10_485_760}) {
                String with = (outer ? "left" : "inner") + " join with a cache of " + cacheBytes + " bytes, ";
                expect(with + "a row", rows("1/1", "1/1"), after(cacheBytes, outer, "1"));
                expect(with + "one deleted before the commit", rows(null, null), after(cacheBytes, outer, "1 -"));
                expect(with + "one deleted after it", rows(null, null), after(cacheBytes, outer, "1", "-"));
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static Map<String, String> rows(String written, String stored) {
        return Map.of("written", String.valueOf(written), "stored", String.valueOf(stored));
    }

    /** What a reader of the topic has of the key, and what the store of the join answers. */
    private static Map<String, String> after(long cacheBytes, boolean outer, String... batches) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> in = builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .flatMapValues(batch -> List.of(batch.split(" ")));
        KTable<String, String> left =
                in.mapValues(value -> value.equals(DELETED) ? null : value).toTable(inMemory("left"));
        KTable<String, String> right =
                in.filter((key, value) -> !value.equals(DELETED)).toTable(inMemory("right").withCachingDisabled());
        KTable<String, String> joined = outer
                ? left.leftJoin(right, (one, other) -> one + "/" + other, inMemory("joined"))
                : left.join(right, (one, other) -> one + "/" + other, inMemory("joined"));
        joined.toStream().to("out", Produced.with(Serdes.String(), Serdes.String()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (String batch : batches) {
                input.pipeInput("k", batch);
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

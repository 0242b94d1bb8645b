package findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/*
 * Two tables are joined, and the rows of the join are counted and their products summed. Where both tables change at a
 * key between two commits, the default cache makes the count and the sum wrong for good. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out JoinOfTablesTopologyTest.java
 *   java -cp "out:$CP" findings.JoinOfTablesTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class JoinOfTablesTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (long cacheBytes : new long[] {0, 10_485_760}) {
            String with = "with a cache of " + cacheBytes + " bytes, ";
            expect(with + "one row", Map.of("rows", 1L, "sum", 1L), aggregated(cacheBytes, "1"));
            expect(with + "one row that changed", Map.of("rows", 1L, "sum", 4L), aggregated(cacheBytes, "1", "2"));
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** The number of joined rows and the sum of their products, after values that both tables take at one key. */
    private static Map<String, Long> aggregated(long cacheBytes, String... values) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, Long> in =
                builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).mapValues(value -> Long.valueOf(value));
        KTable<String, Long> left = in.toTable(inMemory());
        KTable<String, Long> right = in.toTable(inMemory());
        KTable<String, Long> joined = left.join(right, (one, other) -> one * other);
        joined.groupBy((key, value) -> KeyValue.pair("rows", value), Grouped.with(Serdes.String(), Serdes.Long()))
                .count(inMemory())
                .toStream()
                .to("out", Produced.with(Serdes.String(), Serdes.Long()));
        joined.groupBy((key, value) -> KeyValue.pair("sum", value), Grouped.with(Serdes.String(), Serdes.Long()))
                .reduce(Long::sum, (sum, gone) -> sum - gone, inMemory())
                .toStream()
                .to("out", Produced.with(Serdes.String(), Serdes.Long()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (String value : values) {
                input.pipeInput("k", value);
            }
            return driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer())
                    .readKeyValuesToMap();
        }
    }

    private static Materialized<String, Long, KeyValueStore<Bytes, byte[]>> inMemory() {
        return Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>with(Serdes.String(), Serdes.Long())
                .withStoreType(Materialized.StoreType.IN_MEMORY);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

package findings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;
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
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.state.KeyValueStore;

/*
 * A table is suppressed until a time limit, and what comes out is summed. An update that overtook others in the buffer
 * takes off the value before it, which never came out, and not the one that did: the sum is wrong for good. The cache does
 * not matter. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SuppressOldValueTopologyTest.java
 *   java -cp "out:$CP" findings.SuppressOldValueTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class SuppressOldValueTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (long cacheBytes : new long[] {0, 10_485_760}) {
            String with = "with a cache of " + cacheBytes + " bytes, the sum of ";
            expect(with + "a row that was updated once", 11L, sum(cacheBytes, 1));
            expect(with + "a row that was updated in the buffer", 15L, sum(cacheBytes, 1, 2, 5));
            expect(with + "a row that was deleted in the buffer", 10L, sum(cacheBytes, 1, 2, null));
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** The sum of a row of 10, which is out already, and of one that gets these values while it is in the buffer. */
    private static Long sum(long cacheBytes, Integer... values) {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, Long> suppressed = builder
                .stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
                .toTable(inMemory("table"))
                .suppress(Suppressed.untilTimeLimit(Duration.ofMillis(50), BufferConfig.unbounded()));
        suppressed
                .groupBy((key, value) -> KeyValue.pair("sum", value), Grouped.with(Serdes.String(), Serdes.Long()))
                .reduce(Long::sum, (sum, value) -> sum - value, inMemory("sums"))
                .toStream()
                .to("out", Produced.with(Serdes.String(), Serdes.Long()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var input = driver.createInputTopic("in", new StringSerializer(), new LongSerializer());
            input.pipeInput("first", 10L, 0L);
            long time = 100;
            for (Integer value : values) {
                input.pipeInput("k", value == null ? null : Long.valueOf(value), time++);
            }
            input.pipeInput("later", 1_000L, 200L);
            return driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer()).readKeyValuesToMap().get("sum");
        }
    }

    private static Materialized<String, Long, KeyValueStore<Bytes, byte[]>> inMemory(String name) {
        return Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as(name)
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long())
                .withStoreType(Materialized.StoreType.IN_MEMORY);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

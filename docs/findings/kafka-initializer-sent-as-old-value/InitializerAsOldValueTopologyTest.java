package findings;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
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
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Events are counted by user, and users by whether they have few events or many. With a cache both are right. Without one,
 * the first event of a user says that the user had none before, and not that there was no such user: an aggregation of the
 * counts takes a user off that it has never added. Windows do the same. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out InitializerAsOldValueTopologyTest.java
 *   java -cp "out:$CP" findings.InitializerAsOldValueTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class InitializerAsOldValueTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        for (boolean isWindowed : new boolean[] {false, true}) {
            for (long cacheBytes : new long[] {10_485_760, 0}) {
                String with = "with a cache of " + cacheBytes + " bytes" + (isWindowed ? ", by window" : "") + ", ";
                expect(with + "three users", Map.of("few", 3L), users(cacheBytes, isWindowed, "ann", "bob", "eve"));
                expect(with + "a user of three events", Map.of("few", 1L, "many", 1L),
                        users(cacheBytes, isWindowed, "ann", "bob", "bob", "bob"));
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** How many users have few events and how many have many, after events of these users. */
    private static Map<String, Long> users(long cacheBytes, boolean isWindowed, String... events) {
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream<String, String> byUser = builder
                .stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
        KTable<String, Long> levels = isWindowed
                ? byUser.windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1)))
                        .count(inMemory(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("windows")))
                        .groupBy((user, count) -> level(count), Grouped.with(Serdes.String(), Serdes.Long()))
                        .reduce(Long::sum, (sum, value) -> sum - value, inMemory(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("levels")))
                : byUser.count(inMemory(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")))
                        .groupBy((user, count) -> level(count), Grouped.with(Serdes.String(), Serdes.Long()))
                        .reduce(Long::sum, (sum, value) -> sum - value, inMemory(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("levels")));
        levels.toStream().to("out", Produced.with(Serdes.String(), Serdes.Long()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (String user : events) {
                input.pipeInput(user, "event", 1_000L);
            }
            return new TreeMap<>(driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer()).readKeyValuesToMap());
        }
    }

    private static KeyValue<String, Long> level(long count) {
        return KeyValue.pair(count < 3 ? "few" : "many", 1L);
    }

    private static <S extends org.apache.kafka.streams.processor.StateStore> Materialized<String, Long, S> inMemory(Materialized<String, Long, S> store) {
        return store.withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()).withStoreType(Materialized.StoreType.IN_MEMORY);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

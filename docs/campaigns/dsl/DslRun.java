package campaigns;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/** One topology of the DSL, played with caches of one size. */
final class DslRun {
    /** What came out, to compare. */
    Object result;
    /** Which promises it broke by itself. */
    final List<String> broken = new ArrayList<>();
    /** How many nodes of each kind it has. */
    final Map<String, Integer> kinds;
    /** The topology in words. */
    final String text;
    private final DslParts parts;
    private final boolean isTable;

    /** The topology that follows from the draws; where it is strict, nothing is in it that a finding is about. */
    DslRun(Random random, boolean isStrict) {
        parts = new DslParts(random);
        kinds = parts.kinds;
        DslTables tables = new DslTables(parts, isStrict);
        isTable = random.nextInt(3) != 0;
        text = isTable ? withSums(tables.node(1 + random.nextInt(3), true)) : new DslStreams(parts, tables).build();
    }

    /** A table, and beside it the sum of what comes out of it. */
    private String withSums(DslTables.Node root) {
        root.table().toStream().to("out", Produced.with(Serdes.String(), Serdes.Long()));
        root.table()
                .groupBy((key, value) -> KeyValue.pair("sum", value), Grouped.with(Serdes.String(), Serdes.Long()))
                .aggregate(() -> 0L, (key, value, sum) -> sum + value, (key, value, sum) -> sum - value, parts.store(true))
                .toStream()
                .to("sums", Produced.with(Serdes.String(), Serdes.Long()));
        return root.text();
    }

    /** Play the rows; with a harm, the last row of one batch is left out. */
    DslRun play(long cacheBytes, List<String> batches, boolean isHarmed) throws Exception {
        Path folder = Files.createTempDirectory("dsl");
        try (TopologyTestDriver driver = new TopologyTestDriver(parts.builder.build(), config(folder, cacheBytes))) {
            var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (int index = 0; index < batches.size(); index++) {
                String batch = batches.get(index);
                boolean isCut = isHarmed && index == batches.size() - 3;
                input.pipeInput("batch", isCut ? batch.substring(0, Math.max(1, batch.lastIndexOf(';'))) : batch, 0L);
            }
            read(driver, isTable);
        } catch (RuntimeException error) {
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            broken.add("throws " + cause + " at " + cause.getStackTrace()[0]);
        }
        delete(folder);
        return this;
    }

    private static Properties config(Path folder, long cacheBytes) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "campaign");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.LongSerde.class);
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        config.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
        return config;
    }

    private void read(TopologyTestDriver driver, boolean isTable) {
        var out = driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer());
        List<KeyValue<String, Long>> told = out.readKeyValuesToList();
        Map<String, Long> table = last(told);
        if (!isTable) {
            result = parts.kinds.containsKey("stream join") ? told : table;
            return;
        }
        result = table;
        long sum = table.values().stream().mapToLong(Long::longValue).sum();
        Map<String, Long> sums = last(driver.createOutputTopic("sums", new StringDeserializer(), new LongDeserializer())
                .readKeyValuesToList());
        if (!Objects.equals(sums.getOrDefault("sum", 0L), sum)) {
            broken.add("the sum of new minus old is " + sums + ", the table " + table);
        }
        for (String name : parts.stored) {
            Map<String, Long> holds = new TreeMap<>();
            try (var rows = driver.<String, Long>getKeyValueStore(name).all()) {
                rows.forEachRemaining(row -> holds.put(row.key, row.value));
            }
            Map<String, Long> restored = last(driver.createOutputTopic("campaign-" + name + "-changelog",
                    new StringDeserializer(), new LongDeserializer()).readKeyValuesToList());
            if (!holds.equals(restored)) {
                broken.add("the store " + name + " holds " + holds + ", its changelog restores " + restored);
            }
        }
    }

    private static Map<String, Long> last(List<KeyValue<String, Long>> rows) {
        Map<String, Long> found = new TreeMap<>();
        for (KeyValue<String, Long> row : rows) {
            if (row.value == null) {
                found.remove(row.key);
            } else {
                found.put(row.key, row.value);
            }
        }
        return found;
    }

    private static void delete(Path folder) throws Exception {
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}

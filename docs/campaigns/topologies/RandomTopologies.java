package campaigns;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Random topologies of tables over caches of random sizes. What comes out is held to two promises, which know no cache:
 * the last row of each key is what the same expression says of the last rows of the inputs, and the sum over what comes
 * out, as an aggregation downstream keeps it by adding new and taking off old rows, is the sum of that table.
 *
 * Between two commits many rows arrive: an input keeps its rows until time moves, then forwards them in turns with the
 * other input. Public API only.
 *
 *   java -cp "out:$CP" campaigns.RandomTopologies FIRST_SEED COUNT
 *
 * Prints one JSON object; ends with 1 if a promise is broken that no finding explains. Findings explain what comes out of
 * caches where tables are joined by their keys: sums over rows of a join (kafka-join-of-tables-counts-twice), and rows
 * that stay. Nothing is excused where nothing is cached, or without such a join. Odd seeds join left and outer only.
 */
public final class RandomTopologies {
    private static final int SLOTS = 6;
    private static final String[] KEYS = {"k0", "k1", "k2", "k3", "k4"};
    private static final String AGGREGATED = "kafka-join-of-tables-counts-twice";
    private static final String DELETED = "kafka-join-keeps-deleted-row, kafka-unflushed-row-joined-for-good";
    private static final long[] CACHES = {0, 200, 700, 2_000, 10_485_760};

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        Map<String, Integer> kinds = new TreeMap<>();
        List<String> differences = new ArrayList<>();
        Map<String, Integer> explained = new TreeMap<>(Map.of(AGGREGATED, 0, DELETED, 0));
        int strict = 0;
        long rows = 0;
        for (long seed = first; seed < first + count; seed++) {
            World world = new World(new Random(seed * 0x9E3779B97F4A7C15L), seed % 2 == 0);
            world.play();
            world.kinds.forEach((kind, number) -> kinds.merge(kind, number, Integer::sum));
            rows += world.log.size();
            strict += world.isStrict() ? 1 : 0;
            String known = world.explanation();
            if (known != null) {
                explained.merge(known, 1, Integer::sum);
            } else if (!world.broken.isEmpty()) {
                differences.add("seed " + seed + ", cache " + world.cacheBytes + ", " + world.text + ": " + world.broken);
            }
        }
        StringBuilder text = new StringBuilder("{\"first_seed\": " + first + ", \"topologies\": " + count);
        text.append(", \"nothing_excused_in\": " + strict + ", \"rows\": " + rows);
        text.append(", \"explained\": " + json(explained) + ", \"nodes\": " + json(kinds) + ", \"differences\": [");
        text.append(String.join(", ", differences.stream().map(d -> "\"" + d.replace("\"", "'") + "\"").toList()));
        System.out.println(text.append("]}"));
        System.out.flush();
        Runtime.getRuntime().halt(differences.isEmpty() ? 0 : 1);
    }

    private static String json(Map<String, Integer> counts) {
        return "{" + String.join(", ", counts.entrySet().stream()
                .map(each -> "\"" + each.getKey() + "\": " + each.getValue()).toList()) + "}";
    }

    /** A row that an input has forwarded. */
    private record Row(int input, String key, Long value) {}

    /** A table of the topology, what it is in words, and what it has to hold. */
    private record Node(KTable<String, Long> table, Supplier<Map<String, Long>> holds, String text, boolean joins) {}

    /** One topology, its inputs, and what was found. */
    private static final class World {
        final Random random;
        final long cacheBytes;
        final Map<String, Integer> kinds = new TreeMap<>();
        final List<Row> log = new ArrayList<>();
        final List<String> broken = new ArrayList<>();
        String text = "";
        private boolean joinIsAggregated;
        private boolean joins;
        private final boolean mayJoinInner;
        private long clock;
        private int slot;
        private int stores;
        private final StreamsBuilder builder = new StreamsBuilder();
        private int inputs;

        World(Random random, boolean mayJoinInner) {
            this.random = random;
            this.mayJoinInner = mayJoinInner;
            this.cacheBytes = CACHES[random.nextInt(CACHES.length)];
        }

        /** Whether no finding may show here: nothing is cached, or there is no join of two tables by their keys. */
        boolean isStrict() {
            return cacheBytes == 0 || !joins;
        }

        /** The finding that explains what is broken, or null. */
        String explanation() {
            boolean rows = broken.stream().anyMatch(what -> !what.startsWith("sum "));
            if (broken.isEmpty() || cacheBytes == 0 || broken.stream().anyMatch(what -> what.startsWith("throws"))) {
                return null;
            }
            if (joinIsAggregated || joins && !rows) {
                return AGGREGATED;
            }
            return joins ? DELETED : null;
        }

        void play() throws Exception {
            Node root = node(1 + random.nextInt(3));
            text = root.text;
            joins = root.joins;
            root.table.toStream().to("out", Produced.with(Serdes.String(), Serdes.Long()));
            root.table
                    .groupBy((key, value) -> KeyValue.pair("sum", value), Grouped.with(Serdes.String(), Serdes.Long()))
                    .aggregate(() -> 0L, (key, value, sum) -> sum + value, (key, value, sum) -> sum - value, stored())
                    .toStream()
                    .to("sums", Produced.with(Serdes.String(), Serdes.Long()));
            Path folder = Files.createTempDirectory("topologies");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "campaign");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
            config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.LongSerde.class);
            config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
            config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
            config.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
            try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
                feed(driver);
                Map<String, Long> got = last(driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer())
                        .readKeyValuesToList());
                Map<String, Long> sums = last(driver.createOutputTopic("sums", new StringDeserializer(), new LongDeserializer())
                        .readKeyValuesToList());
                Map<String, Long> wanted = root.holds.get();
                compare("rows", wanted, got);
                long sum = wanted.values().stream().mapToLong(Long::longValue).sum();
                compare("sum of new minus old", sum, sums.getOrDefault("sum", 0L));
            } catch (RuntimeException error) {
                Throwable cause = error;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                broken.add("throws " + cause + " at " + cause.getStackTrace()[0]);
            }
            delete(folder);
        }

        private void feed(TopologyTestDriver driver) {
            List<TestInputTopic<String, Long>> topics = new ArrayList<>();
            for (int input = 0; input < inputs; input++) {
                topics.add(driver.createInputTopic(name(input), new StringSerializer(), new LongSerializer()));
            }
            int rounds = 1 + random.nextInt(4);
            for (int round = 0; round < rounds; round++) {
                int records = 1 + random.nextInt(8 * inputs);
                for (int number = 0; number < records; number++) {
                    slot = random.nextInt(SLOTS);
                    Long value = random.nextInt(4) == 0 ? null : (Long) (1L + random.nextInt(9));
                    topics.get(random.nextInt(inputs)).pipeInput(KEYS[random.nextInt(KEYS.length)], value);
                }
                driver.advanceWallClockTime(Duration.ofSeconds(10));
            }
        }

        private void compare(String what, Object wanted, Object got) {
            if (!Objects.equals(wanted, got)) {
                broken.add(what + ": expected " + wanted + ", got " + got);
            }
        }

        /** A table of an input of its own: one that is joined with itself goes wrong without a cache too. */
        private Node source() {
            int input = inputs++;
            KTable<String, Long> table = builder.stream(name(input), Consumed.with(Serdes.String(), Serdes.Long()))
                    .processValues(() -> new Collector(this, input))
                    .toTable(stored());
            return new Node(table, () -> lastOf(input), name(input), false);
        }

        private static String name(int input) {
            return String.valueOf((char) ('a' + input));
        }

        private Node node(int depth) {
            if (depth == 0) {
                return source();
            }
            Node one = node(depth - 1);
            switch (random.nextInt(7)) {
                case 0:
                    return told("filter", new Node(
                            random.nextBoolean() ? one.table.filter((k, v) -> v % 2 == 0)
                                    : one.table.filter((k, v) -> v % 2 == 0, stored()),
                            () -> kept(one.holds.get(), v -> v % 2 == 0), "filter(" + one.text + ")", one.joins));
                case 1:
                    return told("mapValues", new Node(
                            random.nextBoolean() ? one.table.mapValues(v -> v + 1) : one.table.mapValues(v -> v + 1, stored()),
                            () -> mapped(one.holds.get()), "mapValues(" + one.text + ")", one.joins));
                case 2:
                    return aggregated(one);
                case 3:
                    // What a punctuator forwards has no partition, which a foreign-key join asks for: repartitioned first.
                    return foreign(aggregated(one), node(depth - 1));
                default:
                    return joined(one, node(depth - 1));
            }
        }

        private Node aggregated(Node one) {
            joinIsAggregated |= one.joins;
            KTable<String, Long> sums = one.table
                    .groupBy((key, value) -> KeyValue.pair(group(key), value), Grouped.with(Serdes.String(), Serdes.Long()))
                    .aggregate(() -> 0L, (key, value, sum) -> sum + value, (key, value, sum) -> sum - value, stored())
                    .filter((key, value) -> value != 0);
            Supplier<Map<String, Long>> holds = () -> {
                Map<String, Long> found = new TreeMap<>();
                one.holds.get().forEach((key, value) -> found.merge(group(key), value, Long::sum));
                return found;
            };
            return told("groupBy.aggregate", new Node(sums, holds, "sums(" + one.text + ")", one.joins));
        }

        private Node foreign(Node one, Node other) {
            KTable<String, Long> table = one.table.join(
                    other.table, value -> KEYS[(int) (value % KEYS.length)], RandomTopologies::both, stored());
            Supplier<Map<String, Long>> holds = () -> {
                Map<String, Long> right = other.holds.get();
                Map<String, Long> found = new TreeMap<>();
                one.holds.get().forEach((key, value) -> {
                    Long there = right.get(KEYS[(int) (value % KEYS.length)]);
                    if (there != null) {
                        found.put(key, both(value, there));
                    }
                });
                return found;
            };
            return told("foreign-key join", new Node(table, holds, "foreign(" + one.text + ", " + other.text + ")", one.joins || other.joins));
        }

        private Node joined(Node one, Node other) {
            int kind = mayJoinInner ? random.nextInt(3) : 1 + random.nextInt(2);
            KTable<String, Long> table = switch (kind) {
                case 0 -> one.table.join(other.table, RandomTopologies::both, stored());
                case 1 -> one.table.leftJoin(other.table, RandomTopologies::both, stored());
                default -> one.table.outerJoin(other.table, RandomTopologies::both, stored());
            };
            String name = new String[] {"join", "leftJoin", "outerJoin"}[kind];
            Supplier<Map<String, Long>> holds = () -> {
                Map<String, Long> left = one.holds.get();
                Map<String, Long> right = other.holds.get();
                Map<String, Long> found = new TreeMap<>();
                Stream.concat(left.keySet().stream(), right.keySet().stream()).distinct().forEach(key -> {
                    boolean isThere = switch (kind) {
                        case 0 -> left.containsKey(key) && right.containsKey(key);
                        case 1 -> left.containsKey(key);
                        default -> true;
                    };
                    if (isThere) {
                        found.put(key, both(left.get(key), right.get(key)));
                    }
                });
                return found;
            };
            return told(name, new Node(table, holds, name + "(" + one.text + ", " + other.text + ")", true));
        }

        private Node told(String kind, Node node) {
            kinds.merge(kind, 1, Integer::sum);
            return node;
        }

        /** A store of its own, in memory, with or without a cache. */
        private Materialized<String, Long, KeyValueStore<Bytes, byte[]>> stored() {
            Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store =
                    Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("s" + stores++))
                            .withKeySerde(Serdes.String())
                            .withValueSerde(Serdes.Long());
            return random.nextInt(4) == 0 ? store.withCachingDisabled() : store.withCachingEnabled();
        }

        private Map<String, Long> lastOf(int input) {
            Map<String, Long> found = new TreeMap<>();
            for (Row row : log) {
                if (row.input == input && row.value == null) {
                    found.remove(row.key);
                } else if (row.input == input) {
                    found.put(row.key, row.value);
                }
            }
            return found;
        }
    }

    /** Keeps the rows of an input, and forwards those of each slot when its time has come. */
    private static final class Collector implements FixedKeyProcessor<String, Long, Long> {
        private final World world;
        private final int input;
        private final Map<Integer, List<FixedKeyRecord<String, Long>>> kept = new HashMap<>();

        Collector(World world, int input) {
            this.world = world;
            this.input = input;
        }

        @Override
        public void init(FixedKeyProcessorContext<String, Long> context) {
            for (int number = 0; number < SLOTS; number++) {
                int slot = number;
                Duration after = Duration.ofMillis(20L * (number + 1) + 2L * input);
                context.schedule(after, PunctuationType.WALL_CLOCK_TIME, time -> {
                    List<FixedKeyRecord<String, Long>> rows = kept.remove(slot);
                    for (FixedKeyRecord<String, Long> row : rows == null ? List.<FixedKeyRecord<String, Long>>of() : rows) {
                        world.log.add(new Row(input, row.key(), row.value()));
                        context.forward(row.withTimestamp(++world.clock));
                    }
                });
            }
        }

        @Override
        public void process(FixedKeyRecord<String, Long> row) {
            kept.computeIfAbsent(world.slot, slot -> new ArrayList<>()).add(row);
        }
    }

    private static Long both(Long one, Long other) {
        return 3 * (one == null ? 0 : one) + 2 * (other == null ? 0 : other) + 1;
    }

    private static String group(String key) {
        return KEYS[key.hashCode() & 1];
    }

    private static Map<String, Long> kept(Map<String, Long> rows, java.util.function.LongPredicate test) {
        Map<String, Long> found = new TreeMap<>(rows);
        found.values().removeIf(value -> !test.test(value));
        return found;
    }

    private static Map<String, Long> mapped(Map<String, Long> rows) {
        Map<String, Long> found = new TreeMap<>(rows);
        found.replaceAll((key, value) -> value + 1);
        return found;
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

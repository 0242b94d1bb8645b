package campaigns;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Twins: two stores of one kind, one with a cache and one without, are told the same random writes and asked the same
 * random questions. Every answer has to be the same, and so has what a changelog holds at the end.
 *
 * Between two commits some forty operations happen. Public API only; stores on disk need RocksDB on the class path.
 *
 *   java -cp "out:$CP" campaigns.TwinStores FIRST_SEED COUNT [fixed | HARM]
 *
 * With the fixes of the findings in front of the release (fixed) nothing is excused.
 * HARM names an operation whose answer is spoiled in the cached store from time to time: what a campaign must see.
 * Prints one JSON object; ends with 1 if an answer differs that no finding explains.
 */
public final class TwinStores {
    private static final String[] KINDS = {"key-value", "timestamped", "headers", "windows", "timestamped windows", "sessions"};
    private static final String[] KEYS = {"a", "aa", "ab", "b", "ba", "c", "\u00ff", "\u00ff\u00ff"};
    private static final long[] CACHES = {0, 150, 600, 3_000, 10_485_760};
    private static final long RETENTION = 1_200_000;
    private static final int ROUNDS = 6;
    private static final int STEPS = 40;
    /** What an answer that differs is put down to: the operation, and the stores that a finding is about. */
    private static final Map<String, String> KNOWN = new TreeMap<>(Map.ofEntries(
            Map.entry("reverseRange", "kafka-reverse-view-shows-deleted"),
            Map.entry("reverseAll", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardFetch", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardFetchKeys", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardFetchAll", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardAll", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardSessions", "kafka-reverse-view-shows-deleted"),
            Map.entry("backwardFindSessions", "kafka-backward-sessions-missed, kafka-reverse-view-shows-deleted"),
            Map.entry("backwardFindSessionsKeys", "kafka-reverse-view-shows-deleted"),
            Map.entry("fetchNullKeys on disk", "kafka-null-bounds-repeat-windows"),
            Map.entry("findSessionsByEnd", "kafka-sessions-by-end-unsupported"),
            Map.entry("sessions in memory", "kafka-sessions-of-one-end-repeat"),
            Map.entry("sessionsOfKeys in memory", "kafka-sessions-of-one-end-repeat"),
            Map.entry("findSessions in memory", "kafka-sessions-of-one-end-repeat"),
            Map.entry("findSessionsKeys in memory", "kafka-sessions-of-one-end-repeat")));

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        String harm = arguments.length > 2 ? arguments[2] : "";
        Map<String, Integer> asked = new TreeMap<>();
        Map<String, Integer> explained = new TreeMap<>();
        List<String> differences = new ArrayList<>();
        for (long seed = first; seed < first + count; seed++) {
            World world = new World(seed, harm);
            world.play();
            world.asked.forEach((what, number) -> asked.merge(what, number, Integer::sum));
            for (String[] difference : world.differences) {
                String known = harm.equals("fixed") ? null : KNOWN.getOrDefault(difference[0], KNOWN.get(difference[0] + world.where()));
                if (known == null) {
                    differences.add(world + ": " + difference[0] + ": " + difference[1]);
                } else {
                    explained.merge(known, 1, Integer::sum);
                }
            }
        }
        System.out.println("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"asked\": " + json(asked)
                + ", \"explained\": " + json(explained) + ", \"differences\": ["
                + String.join(", ", differences.stream().limit(Integer.getInteger("told", 20)).map(TwinStores::quoted).toList()) + "]}");
        System.out.flush();
        Runtime.getRuntime().halt(differences.isEmpty() ? 0 : 1);
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "/").replace("\"", "'").replace("\n", " ") + "\"";
    }

    private static String json(Map<String, Integer> counts) {
        return "{" + String.join(", ", counts.entrySet().stream()
                .map(each -> quoted(each.getKey()) + ": " + each.getValue()).toList()) + "}";
    }

    /** Something that a store can be told or asked. */
    private record Step(String name, Function<StateStore, Object> does) {}

    /** Two stores, what they were asked, and where they differ. */
    private static final class World {
        final long seed;
        final String harm;
        final Random random;
        final String kind;
        final boolean onDisk;
        final long cacheBytes;
        final Map<String, Integer> asked = new TreeMap<>();
        final List<String[]> differences = new ArrayList<>();
        private int number;

        World(long seed, String harm) {
            this.seed = seed;
            this.harm = harm;
            this.random = new Random(seed * 0x9E3779B97F4A7C15L);
            String drawn = KINDS[random.nextInt(KINDS.length)];
            this.kind = drawn.equals("headers") && !Headers.ARE_THERE ? "timestamped" : drawn;
            this.onDisk = random.nextBoolean();
            this.cacheBytes = CACHES[random.nextInt(CACHES.length)];
        }

        String where() {
            return onDisk ? " on disk" : " in memory";
        }

        @Override
        public String toString() {
            return "seed " + seed + ", " + kind + where() + ", cache " + cacheBytes;
        }

        void play() throws Exception {
            Topology topology = new Topology();
            topology.addSource("in", "in").addProcessor("asks", () -> new Asks(this), "in");
            topology.addStateStore(builder("cached").withCachingEnabled(), "asks");
            topology.addStateStore(builder("plain").withCachingDisabled(), "asks");
            Path folder = Files.createTempDirectory("twins");
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "campaign");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
            config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
            config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
            config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
            config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
            try (TopologyTestDriver driver = new TopologyTestDriver(topology, config)) {
                var input = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
                for (int round = 0; round < ROUNDS; round++) {
                    input.pipeInput("k", "v" + round, Instant.ofEpochMilli(1_000 + round));
                }
                compare("changelog", changelog(driver, "plain"), changelog(driver, "cached"));
            }
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        }

        void round(StateStore cached, StateStore plain) {
            for (int step = 0; step < STEPS; step++) {
                Step next = step();
                asked.merge(next.name, 1, Integer::sum);
                Object got = answer(next, cached);
                compare(next.name, answer(next, plain), next.name.equals(harm) && step % 9 == 0 ? got + "!" : got);
            }
        }

        private Object answer(Step step, StateStore store) {
            try {
                return String.valueOf(step.does.apply(store));
            } catch (RuntimeException error) {
                return error.getClass().getSimpleName() + " " + error.getMessage();
            }
        }

        void compare(String what, Object wanted, Object got) {
            if (!wanted.equals(got)) {
                differences.add(new String[] {what, "expected " + wanted + ", got " + got});
            }
        }

        /** The last row of each key: its value, headers and time. */
        private static Map<String, String> changelog(TopologyTestDriver driver, String name) {
            Map<String, String> rows = new TreeMap<>();
            var bytes = new ByteArrayDeserializer();
            for (var row : driver.createOutputTopic("campaign-" + name + "-changelog", bytes, bytes).readRecordsToList()) {
                String key = new String(row.key(), StandardCharsets.ISO_8859_1);
                if (row.value() == null) {
                    rows.remove(key);
                } else {
                    String value = new String(row.value(), StandardCharsets.ISO_8859_1);
                    rows.put(key, value + " " + row.headers() + " " + row.timestamp());
                }
            }
            return rows;
        }

        private StoreBuilder<?> builder(String name) {
            Serde<String> text = Serdes.String();
            Duration keeps = Duration.ofMillis(RETENTION);
            Duration size = Duration.ofMillis(10);
            return switch (kind) {
                case "key-value" -> Stores.keyValueStoreBuilder(
                        onDisk ? Stores.persistentKeyValueStore(name) : Stores.inMemoryKeyValueStore(name), text, text);
                case "timestamped" -> Stores.timestampedKeyValueStoreBuilder(
                        onDisk ? Stores.persistentTimestampedKeyValueStore(name) : Stores.inMemoryKeyValueStore(name), text, text);
                case "headers" -> Headers.builder(name, onDisk);
                case "windows" -> Stores.windowStoreBuilder(
                        onDisk ? Stores.persistentWindowStore(name, keeps, size, false)
                                : Stores.inMemoryWindowStore(name, keeps, size, false), text, text);
                case "timestamped windows" -> Stores.timestampedWindowStoreBuilder(
                        onDisk ? Stores.persistentTimestampedWindowStore(name, keeps, size, false)
                                : Stores.inMemoryWindowStore(name, keeps, size, false), text, text);
                default -> Stores.sessionStoreBuilder(
                        onDisk ? Stores.persistentSessionStore(name, keeps) : Stores.inMemorySessionStore(name, keeps), text, text);
            };
        }

        private Step step() {
            return kind.contains("windows") ? windowStep() : kind.equals("sessions") ? sessionStep() : keyValueStep();
        }

        private String key() {
            return KEYS[random.nextInt(KEYS.length)];
        }

        private String keyOrNull() {
            return random.nextInt(4) == 0 ? null : key();
        }

        /** Times of two segments; now and then one that lies near the border of them. */
        private long time() {
            return switch (random.nextInt(4)) {
                case 0 -> RETENTION / 2 - 2 + random.nextInt(4);
                case 1 -> random.nextInt(5);
                default -> random.nextInt(12) * (RETENTION / 12) + random.nextInt(3);
            };
        }

        private Object value(boolean mayBeNull) {
            if (mayBeNull && random.nextInt(3) == 0) {
                return null;
            }
            String text = "v" + number++;
            return switch (kind) {
                case "timestamped", "timestamped windows" -> ValueAndTimestamp.make(text, (long) number);
                case "headers" -> Headers.value(text, number);
                default -> text;
            };
        }

        @SuppressWarnings("unchecked")
        private Step keyValueStep() {
            String key = key();
            String from = keyOrNull();
            String to = keyOrNull();
            boolean isOrdered = from == null || to == null || from.compareTo(to) <= 0;
            String low = isOrdered ? from : to;
            String high = isOrdered ? to : from;
            boolean peeks = random.nextBoolean();
            Function<StateStore, KeyValueStore<String, Object>> as = store -> (KeyValueStore<String, Object>) store;
            Object value = value(true);
            Object other = value(false);
            return switch (random.nextInt(13)) {
                case 0, 1, 2 -> new Step("put", store -> {
                    as.apply(store).put(key, value);
                    return "";
                });
                case 3 -> new Step("putIfAbsent", store -> as.apply(store).putIfAbsent(key, value));
                case 4 -> new Step("putAll", store -> {
                    as.apply(store).putAll(List.of(KeyValue.pair(key, value), KeyValue.pair(KEYS[0], other)));
                    return "";
                });
                case 5 -> new Step("delete", store -> as.apply(store).delete(key));
                case 6 -> new Step("get", store -> as.apply(store).get(key));
                case 7 -> new Step("range", store -> rows(as.apply(store).range(low, high), peeks));
                case 8 -> new Step("reverseRange", store -> rows(as.apply(store).reverseRange(low, high), peeks));
                case 9 -> new Step("all", store -> rows(as.apply(store).all(), peeks));
                case 10 -> new Step("reverseAll", store -> rows(as.apply(store).reverseAll(), peeks));
                case 11 -> new Step("prefixScan", store -> rows(as.apply(store).prefixScan(key, new StringSerializer()), peeks));
                default -> new Step("get", store -> as.apply(store).get(KEYS[1]));
            };
        }

        @SuppressWarnings("unchecked")
        private Step windowStep() {
            String key = key();
            String[] keys = {key(), key()};
            java.util.Arrays.sort(keys);
            String nullable = random.nextBoolean() ? null : keys[1];
            String lower = nullable == null ? keyOrNull() : null;
            long time = time();
            long[] times = {time(), time()};
            java.util.Arrays.sort(times);
            long from = times[0];
            long to = random.nextInt(6) == 0 ? Long.MAX_VALUE : times[1];
            boolean peeks = random.nextBoolean();
            Object value = value(true);
            Function<StateStore, WindowStore<String, Object>> as = store -> (WindowStore<String, Object>) store;
            return switch (random.nextInt(15)) {
                case 0, 1, 2, 3, 4 -> new Step("put", store -> {
                    as.apply(store).put(key, value, time);
                    return "";
                });
                case 5 -> new Step("fetchOne", store -> as.apply(store).fetch(key, time));
                case 6 -> new Step("fetch", store -> rows(as.apply(store).fetch(key, from, to), peeks));
                case 7 -> new Step("backwardFetch", store -> rows(as.apply(store).backwardFetch(key, from, to), peeks));
                case 8 -> new Step("fetchKeys", store -> rows(as.apply(store).fetch(keys[0], keys[1], from, to), peeks));
                case 9 -> new Step("backwardFetchKeys",
                        store -> rows(as.apply(store).backwardFetch(keys[0], keys[1], from, to), peeks));
                case 10 -> new Step("fetchNullKeys", store -> rows(as.apply(store).fetch(lower, nullable, from, to), peeks));
                case 11 -> new Step("fetchAll", store -> rows(as.apply(store).fetchAll(from, to), peeks));
                case 12 -> new Step("backwardFetchAll", store -> rows(as.apply(store).backwardFetchAll(from, to), peeks));
                case 13 -> new Step("all", store -> rows(as.apply(store).all(), peeks));
                default -> new Step("backwardAll", store -> rows(as.apply(store).backwardAll(), peeks));
            };
        }

        @SuppressWarnings("unchecked")
        private Step sessionStep() {
            String key = key();
            String[] keys = {keyOrNull(), keyOrNull()};
            if (keys[0] != null && keys[1] != null) {
                java.util.Arrays.sort(keys);
            }
            long[] times = {time(), time()};
            java.util.Arrays.sort(times);
            Windowed<String> session = new Windowed<>(key, new SessionWindow(times[0], times[1]));
            long end = time();
            long start = random.nextInt(6) == 0 ? Long.MAX_VALUE : time();
            boolean peeks = random.nextBoolean();
            String value = (String) value(true);
            Function<StateStore, SessionStore<String, String>> as = store -> (SessionStore<String, String>) store;
            return switch (random.nextInt(15)) {
                case 0, 1, 2, 3, 4 -> new Step("put", store -> {
                    as.apply(store).put(session, value);
                    return "";
                });
                case 5 -> new Step("remove", store -> {
                    as.apply(store).remove(session);
                    return "";
                });
                case 6 -> new Step("fetchSession", store -> as.apply(store).fetchSession(key, times[0], times[1]));
                case 7 -> new Step("sessions", store -> rows(as.apply(store).fetch(key), peeks));
                case 8 -> new Step("backwardSessions", store -> rows(as.apply(store).backwardFetch(key), peeks));
                case 9 -> new Step("sessionsOfKeys", store -> rows(as.apply(store).fetch(keys[0], keys[1]), peeks));
                case 10 -> new Step("findSessions", store -> rows(as.apply(store).findSessions(key, end, start), peeks));
                case 11 -> new Step("backwardFindSessions",
                        store -> rows(as.apply(store).backwardFindSessions(key, end, start), peeks));
                case 12 -> new Step("findSessionsKeys",
                        store -> rows(as.apply(store).findSessions(keys[0], keys[1], end, start), peeks));
                case 13 -> new Step("backwardFindSessionsKeys",
                        store -> rows(as.apply(store).backwardFindSessions(keys[0], keys[1], end, start), peeks));
                default -> new Step("findSessionsByEnd", store -> rows(as.apply(store).findSessions(times[0], times[1]), peeks));
            };
        }

        private static Object rows(KeyValueIterator<?, ?> iterator, boolean peeks) {
            List<String> found = new ArrayList<>();
            try (iterator) {
                while (iterator.hasNext()) {
                    String peeked = peeks ? "" + iterator.peekNextKey() : null;
                    KeyValue<?, ?> row = iterator.next();
                    found.add((peeked == null || peeked.equals("" + row.key) ? "" : "peeked " + peeked + " ") + row.key + "=" + row.value);
                }
            }
            return found;
        }
    }

    /** Stores with headers, of 4.3 and later: named by reflection, so that this file compiles on every release. */
    private static final class Headers {
        static final boolean ARE_THERE = isThere();

        private static boolean isThere() {
            try {
                Class.forName("org.apache.kafka.streams.state.ValueTimestampHeaders");
                return true;
            } catch (ClassNotFoundException older) {
                return false;
            }
        }

        static StoreBuilder<?> builder(String name, boolean onDisk) {
            Object supplier = onDisk ? called("persistentTimestampedKeyValueStoreWithHeaders", name) : Stores.inMemoryKeyValueStore(name);
            return (StoreBuilder<?>) called("timestampedKeyValueStoreWithHeadersBuilder", supplier, Serdes.String(), Serdes.String());
        }

        static Object value(String text, int number) {
            var headers = new org.apache.kafka.common.header.internals.RecordHeaders();
            for (int index = 0; index < number % 3; index++) {
                headers.add("h" + index, (text + index).getBytes(StandardCharsets.UTF_8));
            }
            try {
                Class<?> type = Class.forName("org.apache.kafka.streams.state.ValueTimestampHeaders");
                return Stream.of(type.getMethods()).filter(each -> each.getName().equals("make")).findFirst().orElseThrow()
                        .invoke(null, text, (long) number, headers);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }

        private static Object called(String name, Object... arguments) {
            try {
                return Stream.of(Stores.class.getMethods())
                        .filter(each -> each.getName().equals(name) && each.getParameterCount() == arguments.length)
                        .findFirst().orElseThrow().invoke(null, arguments);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    /** Plays a round of the world for each record. */
    private static final class Asks implements Processor<String, String, Void, Void> {
        private final World world;
        private ProcessorContext<Void, Void> context;

        Asks(World world) {
            this.world = world;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            this.context = context;
        }

        @Override
        public void process(Record<String, String> row) {
            world.round(context.getStateStore("cached"), context.getStateStore("plain"));
        }
    }
}

package org.apache.kafka.streams.processor.internals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.PunctuationType;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** The topologies. */
final class Shapes {
    /** Those that send each result once. */
    static final Set<String> ONCE = Set.of("closed windows", "final windows", "versioned join", "stream join");
    private static final Duration SIZE = Duration.ofMillis(20);
    private static final Serde<String> KEYS = Serdes.String();
    private static final Serde<Long> VALUES = Serdes.Long();

    private final StreamsBuilder builder = new StreamsBuilder();
    private final Materialized.StoreType type;
    private final KStream<String, Long> rows;

    private Shapes(RevivedTasks.Plan plan) {
        type = plan.isOnDisk() ? Materialized.StoreType.ROCKS_DB : Materialized.StoreType.IN_MEMORY;
        rows = input(0);
    }

    static StreamsBuilder topology(RevivedTasks.Plan plan) {
        Shapes shapes = new Shapes(plan);
        shapes.result(plan.shape()).to("out", Produced.with(KEYS, VALUES));
        return shapes.builder;
    }

    static Properties config(RevivedTasks.Plan plan, Path folder) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "campaign");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.LongSerde.class);
        config.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, plan.cacheBytes());
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, plan.isExact() ? StreamsConfig.EXACTLY_ONCE_V2 : StreamsConfig.AT_LEAST_ONCE);
        config.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
        config.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
        return config;
    }

    private KStream<String, Long> input(int number) {
        return builder.stream("in" + number, Consumed.with(KEYS, VALUES));
    }

    private KStream<String, Long> result(String shape) {
        var grouped = rows.groupByKey(Grouped.with(KEYS, VALUES));
        var windows = grouped.windowedBy(TimeWindows.ofSizeAndGrace(SIZE, SIZE));
        return switch (shape) {
            case "table" -> rows.toTable(table()).toStream();
            case "count" -> grouped.aggregate(() -> 0L, Shapes::sum, table()).toStream();
            case "suppress" -> rows.toTable(table()).suppress(Suppressed.untilTimeLimit(Duration.ofMillis(30), BufferConfig.unbounded())).toStream();
            case "windows" -> told(windows.aggregate(() -> 0L, Shapes::sum, windows(Duration.ofDays(1))));
            case "windows kept for short" -> told(windows.aggregate(() -> 0L, Shapes::sum, windows(SIZE.multipliedBy(2))));
            case "closed windows" -> told(windows.aggregate(() -> 0L, Shapes::sum, windows(Duration.ofDays(1)))
                    .suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())));
            case "final windows" -> told(windows.emitStrategy(EmitStrategy.onWindowClose()).aggregate(() -> 0L, Shapes::sum, windows(Duration.ofDays(1))));
            case "sliding windows" -> told(grouped.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(SIZE, SIZE))
                    .aggregate(() -> 0L, Shapes::sum, windows(Duration.ofDays(1))));
            case "sessions" -> told(grouped.windowedBy(SessionWindows.ofInactivityGapAndGrace(SIZE, SIZE))
                    .aggregate(() -> 0L, Shapes::sum, (key, one, other) -> one + other, sessions()));
            case "versioned join" -> rows.join(input(1).toTable(Materialized.<String, Long>as(Stores.persistentVersionedKeyValueStore("held", Duration.ofSeconds(100)))
                    .withKeySerde(KEYS).withValueSerde(VALUES)), Shapes::both, Joined.with(KEYS, VALUES, VALUES, "joined", SIZE));
            case "stream join" -> rows.leftJoin(input(1), Shapes::both, JoinWindows.ofTimeDifferenceAndGrace(SIZE, SIZE), StreamJoined.with(KEYS, VALUES, VALUES));
            case "processor" -> processed();
            default -> throw new IllegalArgumentException(shape);
        };
    }

    private KStream<String, Long> processed() {
        builder.addStateStore(Stores.keyValueStoreBuilder(type == Materialized.StoreType.ROCKS_DB ? Stores.persistentKeyValueStore("held")
                : Stores.inMemoryKeyValueStore("held"), KEYS, VALUES).withCachingEnabled());
        return rows.process(Notes::new, "held");
    }

    private static KStream<String, Long> told(KTable<Windowed<String>, Long> table) {
        return table.toStream((key, value) -> key.toString());
    }

    private static Long sum(String key, Long value, Long sum) {
        return sum + value;
    }

    private static Long both(Long one, Long other) {
        return 100 * one + (other == null ? 0 : other);
    }

    private Materialized<String, Long, KeyValueStore<Bytes, byte[]>> table() {
        return Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("held").withStoreType(type).withKeySerde(KEYS).withValueSerde(VALUES);
    }

    private Materialized<String, Long, WindowStore<Bytes, byte[]>> windows(Duration kept) {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("held").withStoreType(type).withKeySerde(KEYS).withValueSerde(VALUES).withRetention(kept);
    }

    private Materialized<String, Long, SessionStore<Bytes, byte[]>> sessions() {
        return Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("held").withStoreType(type).withKeySerde(KEYS).withValueSerde(VALUES)
                .withRetention(Duration.ofDays(1));
    }

    /**
     * Puts what comes, and a note of its own at each tick. The property also says whether it puts when it begins (but for its
     * first life, in which no broker is there yet) and when it ends (where it took a row: before, a put throws for want of one).
     */
    private static final class Notes implements Processor<String, Long, String, Long> {
        private static final String ALSO = System.getProperty("also", "");
        private KeyValueStore<String, Long> held;
        private long lives;
        private long taken;

        @Override
        public void init(ProcessorContext<String, Long> context) {
            held = context.getStateStore("held");
            context.schedule(Duration.ofMillis(10), PunctuationType.WALL_CLOCK_TIME, now -> held.put("tick", now));
            lives++;
            taken = 0;
            if (ALSO.contains("init") && lives > 1) {
                held.put("init", lives);
            }
        }

        @Override
        public void process(Record<String, Long> row) {
            held.put(row.key(), row.value());
            taken++;
        }

        @Override
        public void close() {
            if (ALSO.contains("close") && taken > 0) {
                held.put("close", taken);
            }
        }
    }
}

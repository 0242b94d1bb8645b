package entrycache.recorder;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/**
 * A topology that one thread drives: aggregations of the DSL by key, window and session, a table with tombstones and old
 * values, and a processor that writes and views cached stores of its own. The argument is the number of records.
 */
public final class StoresSample {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private StoresSample() { }

    public static void main(String[] arguments) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "sample");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "1500");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        try (TopologyTestDriver driver = new TopologyTestDriver(topology().build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
                in.pipeInput("key-" + i * 7 % 11, "value-" + i % 10, 1_000_000L + i * 130L - i % 5 * 300L);
            }
        }
    }

    private static StreamsBuilder topology() {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> in = builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()));
        KGroupedStream<String, String> grouped = in.groupByKey();
        grouped.count(Materialized.as(Stores.inMemoryKeyValueStore("counts")));
        grouped.windowedBy(TimeWindows.ofSizeAndGrace(SECOND, DAY.dividedBy(2)))
                .count(Materialized.as(Stores.inMemoryWindowStore("windows", DAY, SECOND, false)));
        grouped.windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(SECOND, DAY.dividedBy(2)))
                .count(Materialized.as(Stores.inMemoryWindowStore("sliding", DAY, SECOND, false)));
        grouped.windowedBy(SessionWindows.ofInactivityGapAndGrace(SECOND, DAY.dividedBy(2)))
                .count(Materialized.as(Stores.inMemorySessionStore("sessions", DAY)));
        KTable<String, String> last = grouped.aggregate(
                () -> "", (key, value, before) -> value.endsWith("7") ? null : value,
                Materialized.as(Stores.inMemoryKeyValueStore("last")));
        last.groupBy((key, value) -> KeyValue.pair(value, key), Grouped.with(Serdes.String(), Serdes.String()))
                .count(Materialized.as(Stores.inMemoryKeyValueStore("values")));
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("own"), Serdes.String(), Serdes.String()).withCachingEnabled());
        builder.addStateStore(Stores.windowStoreBuilder(
                Stores.inMemoryWindowStore("own-windows", DAY, SECOND, false), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.addStateStore(Stores.sessionStoreBuilder(
                Stores.inMemorySessionStore("own-sessions", DAY), Serdes.String(), Serdes.String()).withCachingEnabled());
        in.process(Writer::new, "own", "own-windows", "own-sessions");
        return builder;
    }

    /** Writes and views its own stores. */
    private static final class Writer extends ContextualProcessor<String, String, Void, Void> {
        private long records;

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> own = context().getStateStore("own");
            WindowStore<String, String> windows = context().getStateStore("own-windows");
            SessionStore<String, String> sessions = context().getStateStore("own-sessions");
            long now = record.timestamp();
            for (long i = 0; i < 4; i++) {
                long at = records * 5 + i;
                own.put("own-" + at * 3 % 17, at % 6 == 0 ? null : "v" + at);
                windows.put("own-" + at % 7, at % 9 == 0 ? null : "w" + at, now - at % 3 * 1_000);
                Windowed<String> session = new Windowed<>("own-" + at % 5, new SessionWindow(now - at % 4, now));
                sessions.put(session, at % 8 == 0 ? null : "s" + at);
                own.get("own-" + at % 17);
                windows.fetch("own-" + at % 7, now);
            }
            switch ((int) (records++ % 10)) {
                case 0 -> end(own.all());
                case 1 -> end(own.reverseRange("own-1", "own-5"));
                case 2 -> end(own.range("own-1", "own-15"));
                case 3 -> end(own.prefixScan("own-1", new StringSerializer()));
                case 4 -> end(windows.fetch("own-1", now - 5_000, now));
                case 5 -> end(windows.backwardFetch("own-1", "own-4", now - 5_000, now));
                case 6 -> end(windows.fetchAll(now - 3_000, now));
                case 7 -> end(sessions.findSessions("own-1", "own-3", now - 2_000, now));
                case 8 -> end(sessions.fetch("own-2"));
                default -> end(windows.all());
            }
        }

        private static void end(KeyValueIterator<?, ?> view) {
            try (view) {
                view.forEachRemaining(entry -> { });
            }
        }
    }
}

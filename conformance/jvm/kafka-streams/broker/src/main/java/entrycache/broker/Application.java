package entrycache.broker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.WindowStore;

/**
 * A KRaft broker and a Kafka Streams application in one process. The application counts by key, by window and by session,
 * views the counts, keeps a table with tombstones and joins them, all behind a record cache that is too small.
 *
 * <p>Arguments {@code name=value}: {@code folder}, {@code port}, {@code messages}, {@code cache}, {@code threads}.
 */
public final class Application {
    private Application() { }

    /** Sends the messages, waits until all are processed, and exits with status 1 if some are not. */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = new HashMap<>();
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            options.put(pair[0], pair[1]);
        }
        KafkaRaftServer server = new KafkaRaftServer(KafkaConfig.fromProps(broker(options)), Time.SYSTEM);
        server.startup();
        String address = "127.0.0.1:" + options.get("port");
        long messages = Long.parseLong(options.get("messages"));
        AtomicLong processed = new AtomicLong();
        boolean all;
        try (KafkaStreams streams = new KafkaStreams(topology(processed).build(), settings(options, address))) {
            send(address, 1);
            streams.start();
            send(address, messages);
            all = awaited(processed, messages);
            streams.close(Duration.ofSeconds(30));
        }
        server.shutdown();
        System.exit(all ? 0 : 1);
    }

    /** Returns the properties of the broker, whose folder is already formatted. */
    private static Properties broker(Map<String, String> options) throws Exception {
        Properties properties = new Properties();
        try (var in = java.nio.file.Files.newInputStream(Path.of(options.get("folder"), "server.properties"))) {
            properties.load(in);
        }
        return properties;
    }

    private static Properties settings(Map<String, String> options, String address) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "recorded");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, address);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, Path.of(options.get("folder"), "state").toString());
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, options.get("cache"));
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, options.get("threads"));
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "500");
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put("auto.offset.reset", "earliest");
        return properties;
    }

    private static StreamsBuilder topology(AtomicLong processed) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> events = builder.stream("events");
        KTable<String, Long> counts = events.peek((key, value) -> processed.incrementAndGet()).groupByKey()
                .count(Materialized.as("counts"));
        // The cache hands over expired windows too, so windows are retained for longer than they are cached.
        events.groupByKey().windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofSeconds(1)))
                .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("windows").withRetention(Duration.ofDays(1)));
        events.groupByKey().windowedBy(SessionWindows.ofInactivityGapWithNoGrace(Duration.ofMillis(100)))
                .count(Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("sessions").withRetention(Duration.ofDays(1)));
        events.process(Viewer::new, "counts", "windows");
        // In this table, every seventh value deletes its key.
        KTable<String, String> last = events.groupByKey().aggregate(
                () -> "", (key, value, before) -> value.endsWith("7") ? null : value);
        last.groupBy((key, value) -> KeyValue.pair(value, key)).count();
        counts.join(last, (count, value) -> value + count).toStream()
                .map((key, value) -> KeyValue.pair(key, String.valueOf(value))).to("joined");
        return builder;
    }

    /** Views the counts at each 200th record. */
    private static final class Viewer extends ContextualProcessor<String, String, Void, Void> {
        private long records;

        @Override
        public void process(Record<String, String> record) {
            if (records++ % 200 != 0) {
                return;
            }
            KeyValueStore<String, ValueAndTimestamp<Long>> counts = context().getStateStore("counts");
            WindowStore<String, ValueAndTimestamp<Long>> windows = context().getStateStore("windows");
            view(counts.range("key-1", "key-12"));
            view(counts.reverseRange("key-1", "key-12"));
            view(windows.fetch(record.key(), record.timestamp() - 10_000, record.timestamp()));
            view(windows.fetchAll(record.timestamp() - 1_000, record.timestamp()));
        }

        private static void view(KeyValueIterator<?, ?> entries) {
            try (entries) {
                entries.forEachRemaining(entry -> { });
            }
        }
    }

    private static void send(String address, long messages) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            for (long i = 0; i < messages; i++) {
                // A few keys occur often; most keys are rare.
                long key = i % 3 == 0 ? i % 17 : i * 2_654_435_761L % 1_999;
                producer.send(new ProducerRecord<>("events", "key-" + Math.abs(key), "value-" + i % 100));
            }
        }
    }

    private static boolean awaited(AtomicLong processed, long messages) throws InterruptedException {
        for (int i = 0; i < 120 && processed.get() < messages; i++) {
            System.out.println("processed " + processed.get() + " of " + messages);
            Thread.sleep(500);
        }
        Thread.sleep(700);
        return processed.get() >= messages;
    }
}

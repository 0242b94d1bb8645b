import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StateRestoreListener;

/*
 * Records are counted by key, and those of a rare kind by window too; both stores are on disk, exactly once. The application
 * is stopped, cleanly, and started again on the same disk. If no rare record has come yet, it restores the counts from their
 * changelog, though they are on its disk.
 *
 * Plays it twice: with a rare record, for control, and without one.
 *
 * Public clients only. Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out EmptyWindowsBrokerTest.java
 *   java -cp "out:$CP" EmptyWindowsBrokerTest 127.0.0.1:9092
 *
 * Prints "conforms" and ends with status 0, or prints the difference and ends with status 1.
 */
public final class EmptyWindowsBrokerTest {
    private static final int SECONDS_MOST = 60;

    private static final int RECORDS = 10;

    public static void main(String[] arguments) throws Exception {
        long control = restored(arguments[0], true);
        System.out.println("with a window on the disk a clean restart restores records of the counts: " + control);
        long got = restored(arguments[0], false);
        System.out.println("without a window on the disk a clean restart restores records of the counts: " + got);
        end(control == 0 && got == 0, "0 both times");
    }

    /** The number of records of the counts that a clean restart restores. */
    private static long restored(String servers, boolean isRare) throws Exception {
        String name = "windows-" + System.nanoTime();
        createTopics(servers, name + "-in");
        Properties config = config(servers, name);
        try (KafkaStreams first = new KafkaStreams(topology(name), config)) {
            first.start();
            for (int record = 0; record < RECORDS; record++) {
                send(servers, name + "-in", "key" + record, isRare && record == 0 ? "rare" : "usual");
            }
            await("all is committed", () -> committed(servers, name, name + "-in") == RECORDS);
        }
        AtomicLong restored = new AtomicLong();
        try (KafkaStreams second = new KafkaStreams(topology(name), config)) {
            second.setGlobalStateRestoreListener(new Counting(restored));
            second.start();
            send(servers, name + "-in", "last", "usual");
            await("a record after the restart is committed", () -> committed(servers, name, name + "-in") == RECORDS + 1);
        }
        return restored.get();
    }

    private static Topology topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        var records = builder.stream(name + "-in", Consumed.with(Serdes.String(), Serdes.String()));
        records.groupByKey(Grouped.with(Serdes.String(), Serdes.String())).count(Materialized.as("counts"));
        records.filter((key, value) -> value.equals("rare"))
                .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1)))
                .count(Materialized.as("windows"));
        return builder.build();
    }

    /** Counts the restored records of the store with the counts. */
    private static final class Counting implements StateRestoreListener {
        private final AtomicLong restored;

        private Counting(AtomicLong restored) {
            this.restored = restored;
        }

        @Override
        public void onRestoreStart(TopicPartition partition, String store, long start, long end) {
        }

        @Override
        public void onBatchRestored(TopicPartition partition, String store, long end, long count) {
        }

        @Override
        public void onRestoreEnd(TopicPartition partition, String store, long total) {
            if (store.equals("counts")) {
                restored.addAndGet(total);
            }
        }
    }

    private static void createTopics(String servers, String... names) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            for (String name : names) {
                admin.createTopics(Set.of(new NewTopic(name, 1, (short) 1))).all().get();
            }
        }
    }

    private static void send(String servers, String topic, String key, String value) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, 0, 100L, key, value)).get();
        }
    }

    private static long committed(String servers, String group, String topic) {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            var offsets = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get(30, TimeUnit.SECONDS);
            var offset = offsets.get(new TopicPartition(topic, 0));
            return offset == null ? 0 : offset.offset();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(String what, BooleanSupplier condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_MOST);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("not within " + SECONDS_MOST + " s: " + what);
            }
            Thread.sleep(50);
        }
    }

    private static void end(boolean conforms, String expected) {
        System.out.println(conforms ? "conforms" : "expected " + expected);
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }

    private static Properties config(String servers, String name) throws Exception {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, name);
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("windows").toString());
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        return config;
    }
}

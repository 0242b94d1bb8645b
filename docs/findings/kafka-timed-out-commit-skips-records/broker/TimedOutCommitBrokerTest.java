import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Two instances of an application count records in windows, exactly once. As the second one starts, the first one commits
 * what it has, to give a task away. The broker stands still for some seconds just then, as in a long collection of garbage,
 * and the commit times out: the transaction is aborted. The task that the first instance keeps is made anew, and goes on
 * after the records of the aborted transaction, which nobody reads again. Public clients only; the broker is stopped by
 * its process id.
 *
 * The broker: one, on this machine. Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out TimedOutCommitBrokerTest.java
 *   java -cp "out:$CP" TimedOutCommitBrokerTest 127.0.0.1:9092 PROCESS-ID-OF-THE-BROKER
 *
 * Plays it twice: without a standstill, for control, and with one. Prints "conforms" and ends with status 0, or prints what
 * was lost and ends with status 1.
 */
public final class TimedOutCommitBrokerTest {
    /** How long a commit waits for the broker: by default a minute. */
    private static final int MAX_BLOCK_MILLIS = 2_000;
    private static final int STANDSTILL_MILLIS = MAX_BLOCK_MILLIS + 1_000;
    private static final int QUIET_MILLIS = 1_000;
    /** Long: the commit of the rebalance is the first one. */
    private static final int COMMIT_MILLIS = 50_000;
    private static final int TRANSACTION_MILLIS = 100_000;
    private static final int SECONDS_MOST = 60;

    public static void main(String[] arguments) throws Exception {
        Map<String, Long> expected = Map.of("0@0", 1L, "0@100", 1L, "0@200", 1L, "1@0", 1L, "1@100", 1L, "1@200", 1L);
        Map<String, Long> control = counts(arguments[0], null);
        System.out.println("without a standstill: counts " + control);
        Map<String, Long> got = counts(arguments[0], arguments[1]);
        System.out.println("with a commit that timed out: counts " + got);
        boolean conforms = control.equals(expected) && got.equals(expected);
        System.out.println(conforms ? "conforms" : "expected " + new TreeMap<>(expected));
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }

    private static Map<String, Long> counts(String servers, String broker) throws Exception {
        String name = "timed-out-" + System.nanoTime();
        createTopics(servers, name + "-in", name + "-out");
        AtomicInteger read = new AtomicInteger();
        AtomicInteger last = new AtomicInteger();
        AtomicBoolean armed = new AtomicBoolean();
        AtomicBoolean committing = new AtomicBoolean();
        Runnable atCommit = () -> {
            if (armed.getAndSet(false)) {
                committing.set(true);
                if (broker != null) {
                    standStill(broker);
                }
            }
        };
        try (KafkaStreams first = new KafkaStreams(topology(name, read, last, atCommit), config(servers, name));
                KafkaStreams second = new KafkaStreams(topology(name, read, last, atCommit), config(servers, name))) {
            first.start();
            await("the application runs", () -> first.state() == KafkaStreams.State.RUNNING);
            send(servers, name + "-in", 5, 100);
            await("all records are read", () -> read.get() == 4);
            // What the tasks have sent is acknowledged by then; what is left for the broker is the commit.
            Thread.sleep(QUIET_MILLIS);
            armed.set(true);
            second.start();
            await("a task is to be given away", committing::get);
            send(servers, name + "-in", 200);
            await("the last records are read", () -> last.get() == 2);
        }
        return committedCounts(servers, name + "-out");
    }

    private static Topology topology(String name, AtomicInteger read, AtomicInteger last, Runnable atCommit) {
        StreamsBuilder builder = new StreamsBuilder();
        KGroupedStream<String, String> rows = builder
                .stream(name + "-in", Consumed.with(Serdes.String(), Serdes.String()))
                .peek((key, value) -> (value.equals("200") ? last : read).incrementAndGet())
                .groupByKey();
        rows.windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(10)))
                .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>with(Serdes.String(), Serdes.Long())
                        .withCachingDisabled())
                .toStream((key, count) -> key.key() + "@" + key.window().start())
                .to(name + "-out", Produced.with(Serdes.String(), Serdes.Long()));
        // A cached store forwards at a commit: this one tells that one has begun. It sends nothing.
        rows.reduce((old, one) -> one, Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("begun")
                        .withLoggingDisabled())
                .toStream()
                .foreach((key, value) -> atCommit.run());
        return builder.build();
    }

    /** Stop the broker, and let it go on after a while. */
    private static void standStill(String broker) {
        signal("STOP", broker);
        new Thread(() -> {
            try {
                Thread.sleep(STANDSTILL_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            signal("CONT", broker);
        }).start();
    }

    private static void signal(String signal, String process) {
        try {
            int ended = new ProcessBuilder("kill", "-" + signal, process).start().waitFor();
            if (ended != 0) {
                throw new IllegalStateException("kill -" + signal + " " + process + " ended with status " + ended);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void createTopics(String servers, String... names) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            for (String name : names) {
                admin.createTopics(Set.of(new NewTopic(name, 2, (short) 1))).all().get();
            }
        }
    }

    private static void send(String servers, String topic, long... times) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int partition : List.of(0, 1)) {
                for (long time : times) {
                    producer.send(new ProducerRecord<>(topic, partition, time, String.valueOf(partition), String.valueOf(time)));
                }
            }
        }
    }

    private static Map<String, Long> committedCounts(String servers, String topic) {
        Map<String, Object> config = Map.of("bootstrap.servers", servers, "isolation.level", "read_committed");
        Map<String, Long> counts = new TreeMap<>();
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
                consumer.poll(Duration.ofMillis(100)).forEach(row -> counts.put(row.key(), row.value()));
            }
        }
        return counts;
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

    private static Properties config(String servers, String name) throws Exception {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, name);
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("timed-out").toString());
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MILLIS);
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.producerPrefix("max.block.ms"), MAX_BLOCK_MILLIS);
        config.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), TRANSACTION_MILLIS);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        return config;
    }
}

import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.KeyValueStore;

/*
 * A table of orders is joined with a table of customers by a foreign key. An order is joined, is deleted, and comes again
 * under a customer who is not there, in two records that are sent together. The joined row has to go.
 *
 * Plays it twice: with a pause between the two records, for control, and without one.
 *
 * Public clients only. Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ForeignKeyJoinBrokerTest.java
 *   java -cp "out:$CP" ForeignKeyJoinBrokerTest 127.0.0.1:9092
 *
 * Prints "conforms" and ends with status 0, or prints the difference and ends with status 1.
 */
public final class ForeignKeyJoinBrokerTest {
    private static final int SECONDS_MOST = 60;

    private static final int QUIET_MILLIS = 3_000;

    public static void main(String[] arguments) throws Exception {
        List<String> expected = List.of("1=ann", "1=null");
        List<String> control = joined(arguments[0], true);
        System.out.println("with a pause are sent: " + control);
        List<String> got = joined(arguments[0], false);
        System.out.println("without a pause are sent: " + got);
        end(control.equals(expected) && got.equals(expected), expected + " both times");
    }

    private static List<String> joined(String servers, boolean isPaused) throws Exception {
        String name = "foreign-" + System.nanoTime();
        createTopics(servers, name + "-orders", name + "-customers", name + "-out");
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, String> orders = builder.table(name + "-orders", Consumed.with(Serdes.String(), Serdes.String()));
        KTable<String, String> customers = builder.table(name + "-customers", Consumed.with(Serdes.String(), Serdes.String()));
        orders.join(customers, customer -> customer, (order, customer) -> order,
                        Materialized.<String, String, KeyValueStore<Bytes, byte[]>>with(Serdes.String(), Serdes.String()))
                .toStream()
                .to(name + "-out", Produced.with(Serdes.String(), Serdes.String()));
        try (KafkaStreams streams = new KafkaStreams(builder.build(), config(servers, name))) {
            streams.start();
            await("the application runs", () -> streams.state() == KafkaStreams.State.RUNNING);
            send(servers, name + "-customers", "ann", "a customer");
            await("the customer is read", () -> committed(servers, name, name + "-customers") == 1);
            send(servers, name + "-orders", "1", "ann");
            await("the order is joined", () -> read(servers, name + "-out").size() == 1);
            Map<String, Object> config = Map.of("bootstrap.servers", servers, "linger.ms", 1_000);
            try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
                producer.send(new ProducerRecord<>(name + "-orders", 0, 200L, "1", (String) null));
                if (isPaused) {
                    producer.flush();
                    Thread.sleep(QUIET_MILLIS);
                }
                producer.send(new ProducerRecord<>(name + "-orders", 0, 201L, "1", "bob"));
            }
            await("both are committed", () -> committed(servers, name, name + "-orders") == 3);
            Thread.sleep(QUIET_MILLIS);
        }
        // A tombstone may be sent twice.
        return read(servers, name + "-out").stream().distinct().toList();
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

    private static List<String> read(String servers, String topic) {
        Map<String, Object> config = Map.of("bootstrap.servers", servers, "isolation.level", "read_committed");
        List<String> rows = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(row -> rows.add(row.key() + "=" + row.value()));
            }
        }
        return rows;
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
        config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("foreign").toString());
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        return config;
    }
}

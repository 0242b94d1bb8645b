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
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/*
 * A running application joins a stream with a versioned table, with a grace period of 500 ms. A record of the stream waits
 * in the buffer when the application is stopped, cleanly, and started again, once on the same disk, for control, and once
 * on an empty one, where it restores its stores from the changelogs. A later record of the stream ends the wait of the
 * first one, which has to be joined, and waits itself. Public clients only.
 *
 * Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RestoredJoinBufferBrokerTest.java
 *   java -cp "out:$CP" RestoredJoinBufferBrokerTest 127.0.0.1:9092
 *
 * Prints "conforms" and ends with status 0, or prints what was joined and ends with status 1.
 */
public final class RestoredJoinBufferBrokerTest {
    private static final int SECONDS_MOST = 60;

    public static void main(String[] arguments) throws Exception {
        List<String> control = joined(arguments[0], false);
        System.out.println("after a restart on the same disk are joined: " + control);
        List<String> got = joined(arguments[0], true);
        System.out.println("after a restart on an empty disk are joined: " + got);
        boolean conforms = control.equals(List.of("kept")) && got.equals(control);
        System.out.println(conforms ? "conforms" : "expected [kept]");
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }

    private static List<String> joined(String servers, boolean onEmptyDisk) throws Exception {
        String name = "restored-" + System.nanoTime();
        createTopics(servers, name + "-table", name + "-stream", name + "-out");
        Properties config = config(servers, name);
        StreamsBuilder builder = topology(name);
        try (KafkaStreams first = new KafkaStreams(builder.build(), config)) {
            first.start();
            send(servers, name + "-table", "kept", 50);
            send(servers, name + "-table", "other", 50);
            await("the table is read", () -> committed(servers, name, "-table") == 2);
            send(servers, name + "-stream", "kept", 100);
            await("the record of the stream is read", () -> committed(servers, name, "-stream") == 1);
        }
        try (KafkaStreams second = new KafkaStreams(topology(name).build(), config)) {
            if (onEmptyDisk) {
                second.cleanUp();
            }
            second.start();
            await("the application runs", () -> second.state() == KafkaStreams.State.RUNNING);
            send(servers, name + "-stream", "other", 1_000);
            await("the second record of the stream is read", () -> committed(servers, name, "-stream") == 2);
        }
        return out(servers, name + "-out");
    }

    private static StreamsBuilder topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        var table = builder.table(name + "-table", Consumed.with(Serdes.String(), Serdes.String()),
                Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("table", Duration.ofHours(1)))
                        .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
        builder.stream(name + "-stream", Consumed.with(Serdes.String(), Serdes.String()))
                .join(table, (one, other) -> one,
                        Joined.with(Serdes.String(), Serdes.String(), Serdes.String(), "joined", Duration.ofMillis(500)))
                .to(name + "-out", Produced.with(Serdes.String(), Serdes.String()));
        return builder;
    }

    private static void createTopics(String servers, String... names) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            for (String name : names) {
                admin.createTopics(Set.of(new NewTopic(name, 1, (short) 1))).all().get();
            }
        }
    }

    private static void send(String servers, String topic, String key, long timestamp) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, 0, timestamp, key, "value")).get();
        }
    }

    private static long committed(String servers, String group, String topic) {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            var offsets = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get(30, TimeUnit.SECONDS);
            var offset = offsets.get(new TopicPartition(group + topic, 0));
            return offset == null ? 0 : offset.offset();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<String> out(String servers, String topic) {
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        List<String> keys = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(row -> keys.add(row.key()));
            }
        }
        return keys;
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
        config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("restored").toString());
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        return config;
    }
}

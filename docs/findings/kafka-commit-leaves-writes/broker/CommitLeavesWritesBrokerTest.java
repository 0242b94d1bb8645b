import java.nio.file.Files;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Two processors share a cached store; the second one stands behind a cached table and copies its rows into the store. A row
 * of the table comes, and its offset is committed, exactly once. Then the process of the application ends without a word, as if it were
 * killed, and another one goes on from the committed offsets, on the same disk. The copy has to be there.
 *
 * Plays it twice: with an end by KafkaStreams.close, for control, and with a sudden one.
 *
 * Public clients only. Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CommitLeavesWritesBrokerTest.java
 *   java -cp "out:$CP" CommitLeavesWritesBrokerTest 127.0.0.1:9092
 *
 * Prints "conforms" and ends with status 0, or prints the difference and ends with status 1.
 */
public final class CommitLeavesWritesBrokerTest {
    private static final int SECONDS_MOST = 60;

    private static final int KILLED = 9;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 1) {
            application(arguments[0], arguments[1], arguments[2], arguments[3].equals("kill"));
        }
        String control = copy(arguments[0], false);
        System.out.println("after a close the copy is " + control);
        String got = copy(arguments[0], true);
        System.out.println("after a sudden end the copy is " + got);
        end("1".equals(control) && "1".equals(got), "1 both times");
    }

    private static String copy(String servers, boolean isKilled) throws Exception {
        String name = "copied-" + System.nanoTime();
        createTopics(servers, name + "-first", name + "-rows");
        String disk = Files.createTempDirectory("copied").toString();
        Process process = new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(), "-cp", System.getProperty("java.class.path"),
                CommitLeavesWritesBrokerTest.class.getName(), servers, name, disk, isKilled ? "kill" : "close")
                .inheritIO().start();
        if (process.waitFor() != (isKilled ? KILLED : 0)) {
            throw new IllegalStateException("the application ended with status " + process.exitValue());
        }
        try (KafkaStreams streams = new KafkaStreams(topology(name), config(servers, name, disk))) {
            streams.start();
            send(servers, name + "-first", "b", "2");
            await("a record is committed", () -> committed(servers, name, name + "-first") == 1);
            ReadOnlyKeyValueStore<String, String> copies = streams.store(
                    StoreQueryParameters.fromNameAndType("copies", QueryableStoreTypes.keyValueStore()));
            return copies.get("a");
        }
    }

    /** The process that ends when the offset of the row is committed. */
    private static void application(String servers, String name, String disk, boolean isKilled) throws Exception {
        try (KafkaStreams streams = new KafkaStreams(topology(name), config(servers, name, disk))) {
            streams.start();
            await("the application runs", () -> streams.state() == KafkaStreams.State.RUNNING);
            send(servers, name + "-rows", "a", "1");
            await("the row's offset is committed", () -> committed(servers, name, name + "-rows") == 1);
            if (isKilled) {
                Runtime.getRuntime().halt(KILLED);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static Topology topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore("copies"), Serdes.String(), Serdes.String()).withCachingEnabled());
        builder.stream(name + "-first", Consumed.with(Serdes.String(), Serdes.String())).process(Copy::new, "copies");
        builder.table(name + "-rows", Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("rows")
                                .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()).withCachingEnabled())
                .toStream()
                .process(Copy::new, "copies");
        return builder.build();
    }

    /** Puts what it gets. */
    private static final class Copy implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, String> copies;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            copies = context.getStateStore("copies");
        }

        @Override
        public void process(Record<String, String> change) {
            copies.put(change.key(), change.value());
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

    private static Properties config(String servers, String name, String disk) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, name);
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        config.put(StreamsConfig.STATE_DIR_CONFIG, disk);
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        config.put(StreamsConfig.consumerPrefix("session.timeout.ms"), 6_000);
        config.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        return config;
    }
}

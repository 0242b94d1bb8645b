package findings;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.internals.StreamTask;
import org.apache.kafka.streams.state.WindowStore;

/*
 * Exactly once. A task counts two records in windows, the transaction is aborted, and the task is closed dirty and revived,
 * as TaskManager does after a TaskCorruptedException (a commit that timed out is one). It reads both records again, and the
 * first one is dropped as late: the aggregation still knows the time of the second one.
 *
 * The task is the one in the TopologyTestDriver; public API has nothing that revives one.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RevivedTaskTest.java
 *   java -cp "out:$CP" findings.RevivedTaskTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RevivedTaskTest {
    public static void main(String[] arguments) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(10)))
                .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>with(Serdes.String(), Serdes.Long())
                        .withStoreType(Materialized.StoreType.IN_MEMORY))
                .toStream((key, count) -> key.key() + "@" + key.window().start())
                .to("out", Produced.with(Serdes.String(), Serdes.Long()));
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config())) {
            StreamTask task = task(driver);
            process(task, 0, 5);
            process(task, 1, 100);
            task.suspend();
            task.closeDirty();
            task.revive();
            task.initializeIfNeeded();
            task.completeRestoration(partitions -> { });
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "", 5L);
            in.pipeInput("k", "", 100L);
            Map<String, Long> counts = driver.createOutputTopic("out", new StringDeserializer(), new LongDeserializer()).readKeyValuesToMap();
            expect("the counts of both windows", Map.of("k@0", 1L, "k@100", 1L), counts);
        }
        conforms();
    }

    /** One record, without a commit. */
    private static void process(StreamTask task, long offset, long timestamp) {
        byte[] key = new StringSerializer().serialize("in", "k");
        TopicPartition in = new TopicPartition("in", 0);
        task.addRecords(in, List.of(new ConsumerRecord<>(
                "in", 0, offset, timestamp, TimestampType.CREATE_TIME, 1, 0, key, new byte[0], new RecordHeaders(), Optional.empty())));
        task.process(0);
    }

    private static StreamTask task(TopologyTestDriver driver) throws Exception {
        Field task = TopologyTestDriver.class.getDeclaredField("task");
        task.setAccessible(true);
        return (StreamTask) task.get(driver);
    }

    private static Properties config() throws IOException {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATE_DIR_CONFIG, Files.createTempDirectory("revived").toString());
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        return config;
    }

    private static void conforms() {
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            fail(what + ": expected " + expected + ", got " + got);
        }
    }

    private static void fail(String message) {
        System.out.println(message.replace('\n', ' '));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }
}

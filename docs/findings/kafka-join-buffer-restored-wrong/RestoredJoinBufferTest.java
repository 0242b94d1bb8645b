package findings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.internals.ProcessorStateManager;
import org.apache.kafka.streams.processor.internals.StreamTask;
import org.apache.kafka.streams.state.Stores;

/*
 * A stream is joined with a versioned table, with a grace period. A record of the stream waits in the buffer when the
 * application goes on elsewhere, on an instance that restores its stores from the changelogs. Records of the stream that
 * come later have to be joined when their time has come, and the one that waited with them.
 *
 * TopologyTestDriver restores nothing, so the records of the changelogs are handed to ProcessorStateManager.restore, as
 * StoreChangelogReader does.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies, RocksDB too.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RestoredJoinBufferTest.java
 *   java -cp "out:$CP" findings.RestoredJoinBufferTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RestoredJoinBufferTest {
    private static final List<String> CHANGELOGS = List.of("app-table-changelog", "app-joined-Buffer-changelog");

    public static void main(String[] arguments) throws Exception {
        List<ConsumerRecord<byte[], byte[]>> changes = new ArrayList<>();
        try (TopologyTestDriver first = driver()) {
            pipe(first, "table", "kept", 50);
            pipe(first, "table", "other", 50);
            pipe(first, "stream", "kept", 100);
            expect("sent before the time has come", List.of(), out(first));
            for (String topic : CHANGELOGS) {
                changes.addAll(read(first, topic));
            }
        }
        try (TopologyTestDriver second = driver()) {
            for (String topic : CHANGELOGS) {
                restore(second, topic, changes.stream().filter(change -> change.topic().equals(topic)).toList());
            }
            pipe(second, "stream", "other", 1_000);
            expect("joined when its time has come, after a restart", List.of("kept"), out(second));
            pipe(second, "stream", "other", 2_000);
            expect("joined then", List.of("other"), out(second));
        }
        conforms();
    }

    private static String stateFolder() {
        try {
            return Files.createTempDirectory("restored").toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TopologyTestDriver driver() {
        StreamsBuilder builder = new StreamsBuilder();
        var table = builder.table("table", Consumed.with(Serdes.String(), Serdes.String()),
                Materialized.<String, String>as(Stores.persistentVersionedKeyValueStore("table", Duration.ofHours(1)))
                        .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
        builder.stream("stream", Consumed.with(Serdes.String(), Serdes.String()))
                .join(table, (one, other) -> one,
                        Joined.with(Serdes.String(), Serdes.String(), Serdes.String(), "joined", Duration.ofMillis(500)))
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // not the folder in which another release may have left its own kind of store
        config.put(StreamsConfig.STATE_DIR_CONFIG, stateFolder());
        return new TopologyTestDriver(builder.build(), config);
    }

    private static void pipe(TopologyTestDriver driver, String topic, String key, long timestamp) {
        driver.createInputTopic(topic, new StringSerializer(), new StringSerializer()).pipeInput(key, "value", timestamp);
    }

    private static List<String> out(TopologyTestDriver driver) {
        return driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer()).readKeyValuesToList().stream()
                .map(row -> row.key).toList();
    }

    private static List<ConsumerRecord<byte[], byte[]>> read(TopologyTestDriver driver, String topic) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer()).readRecordsToList()
                .forEach(row -> records.add(new ConsumerRecord<>(topic, 0, records.size(), row.timestamp() == null ? 0 : row.timestamp(),
                        TimestampType.CREATE_TIME, 0, 0, row.key(), row.value(), row.headers(), Optional.empty())));
        return records;
    }

    private static void restore(TopologyTestDriver driver, String topic, List<ConsumerRecord<byte[], byte[]>> records) throws Exception {
        Field task = TopologyTestDriver.class.getDeclaredField("task");
        task.setAccessible(true);
        ProcessorStateManager manager = (ProcessorStateManager) ((StreamTask) task.get(driver)).stateManager();
        Method metadata = method("storeMetadata");
        method("restore").invoke(manager, metadata.invoke(manager, new TopicPartition(topic, 0)), records, OptionalLong.empty());
    }

    private static Method method(String name) {
        Method found = Arrays.stream(ProcessorStateManager.class.getDeclaredMethods())
                .filter(method -> method.getName().equals(name)).findFirst().orElseThrow();
        found.setAccessible(true);
        return found;
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

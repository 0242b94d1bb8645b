package findings;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.internals.StreamTask;
import org.apache.kafka.streams.processor.internals.Task;

/*
 * Records are counted by key, and those of a rare kind by window too; both stores are on disk, under exactly-once. No rare
 * one has come yet when the application is stopped, cleanly, and started again on the same disk. Its task has to begin
 * with the counts that are there.
 *
 * TopologyTestDriver.close deletes the disk, so the task is stopped as TaskManager.shutdown does: prepareCommit, postCommit,
 * suspend, closeClean.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies, RocksDB too.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out EmptyWindowsWipeTaskTest.java
 *   java -cp "out:$CP" findings.EmptyWindowsWipeTaskTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class EmptyWindowsWipeTaskTest {
    public static void main(String[] arguments) throws Exception {
        Path disk = Files.createTempDirectory("disk");
        TopologyTestDriver first = driver(disk);
        first.createInputTopic("in", new StringSerializer(), new StringSerializer()).pipeInput("a", "usual", 100);
        stop(first);
        try (TopologyTestDriver second = driver(disk)) {
            expect("the count after a clean restart", 1L, second.<String, Long>getKeyValueStore("counts").get("a"));
        } catch (TaskCorruptedException wiped) {
            fail("a clean restart: expected a task with the counts on its disk, got " + wiped.getMessage());
        }
        conforms();
    }

    private static TopologyTestDriver driver(Path disk) {
        StreamsBuilder builder = new StreamsBuilder();
        var records = builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()));
        records.groupByKey().count(Materialized.as("counts"));
        records.filter((key, value) -> value.equals("rare")).groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMinutes(1))).count(Materialized.as("windows"));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        config.put(StreamsConfig.STATE_DIR_CONFIG, disk.toString());
        return new TopologyTestDriver(builder.build(), config);
    }

    private static void stop(TopologyTestDriver driver) throws Exception {
        Field field = TopologyTestDriver.class.getDeclaredField("task");
        field.setAccessible(true);
        StreamTask task = (StreamTask) field.get(driver);
        try {
            Task.class.getMethod("prepareCommit", boolean.class).invoke(task, true);
        } catch (NoSuchMethodException older) {
            Task.class.getMethod("prepareCommit").invoke(task);
        }
        task.postCommit(true);
        task.suspend();
        task.closeClean();
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

package findings;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only, DSL alone. A table of the lengths of large records is suppressed by a buffer of a million bytes: the
 * buffer keeps the whole source records beside the lengths, and does not count them.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SuppressSourceBytesTopologyTest.java
 *   java -cp "out:$CP" findings.SuppressSourceBytesTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class SuppressSourceBytesTopologyTest {
    private static final int RECORDS = 98;
    private static final int RECORD_BYTES = 1 << 20;
    private static final long BUFFER_BYTES = 1_000_000;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("records", Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .mapValues(value -> value.length)
                .toTable(Materialized.<String, Integer>as(Stores.inMemoryKeyValueStore("table"))
                        .withKeySerde(Serdes.String())
                        .withValueSerde(Serdes.Integer()))
                .suppress(Suppressed.untilTimeLimit(
                        Duration.ofHours(1), BufferConfig.maxBytes(BUFFER_BYTES).emitEarlyWhenFull()))
                .toStream()
                .to("lengths", Produced.with(Serdes.String(), Serdes.Integer()));
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config(0))) {
            TestInputTopic<String, byte[]> records =
                    driver.createInputTopic("records", new StringSerializer(), new ByteArraySerializer());
            records.pipeInput("first", new byte[RECORD_BYTES], 0L);
            long before = heldBytes();
            for (int record = 0; record < RECORDS; record++) {
                records.pipeInput("key" + record, new byte[RECORD_BYTES], 0L);
                // What the driver keeps of its outputs and changelogs is not the topology's.
                driver.producedTopicNames().forEach(topic -> driver.createOutputTopic(
                        topic, new ByteArrayDeserializer(), new ByteArrayDeserializer()).readRecordsToList());
            }
            long grown = heldBytes() - before;
            expect("a buffer of " + BUFFER_BYTES + " bytes holds more than ten times that (held: " + (grown >> 20)
                    + " MiB)", false, grown > 10 * BUFFER_BYTES);
        }
        conforms();
    }

    /** What is reachable, after a collection. */
    private static long heldBytes() {
        for (int times = 0; times < 3; times++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static Properties config(long cacheBytes) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
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

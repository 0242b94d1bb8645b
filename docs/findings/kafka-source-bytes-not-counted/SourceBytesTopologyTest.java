package findings;

import java.lang.management.ManagementFactory;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only. A processor puts a few bytes of each large record into a cached store: the cache keeps the whole
 * record beside them, and does not count it.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SourceBytesTopologyTest.java
 *   java -cp "out:$CP" findings.SourceBytesTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class SourceBytesTopologyTest {
    private static final int RECORDS = 64;
    private static final int RECORD_BYTES = 1 << 20;

    public static void main(String[] arguments) {
        Topology topology = new Topology();
        topology.addSource("source", new StringDeserializer(), new ByteArrayDeserializer(), "records");
        topology.addProcessor("writer", Writer::new, "source");
        topology.addStateStore(
                Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore("lengths"), Serdes.String(), Serdes.Integer())
                        .withCachingEnabled()
                        .withLoggingDisabled(),
                "writer");
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config(1 << 20))) {
            TestInputTopic<String, byte[]> records =
                    driver.createInputTopic("records", new StringSerializer(), new ByteArraySerializer());
            records.pipeInput("first", new byte[RECORD_BYTES]);
            long before = heldBytes();
            for (int record = 0; record < RECORDS; record++) {
                records.pipeInput("key" + record, new byte[RECORD_BYTES]);
            }
            long grown = heldBytes() - before;
            expect("more than half of " + RECORDS + " records of 1 MiB held by a cache of 1 MiB (held: "
                    + (grown >> 20) + " MiB)", false, grown > (long) RECORDS * RECORD_BYTES / 2);
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

    /** Puts the length of what it gets. */
    private static final class Writer implements Processor<String, byte[], Void, Void> {
        private KeyValueStore<String, Integer> lengths;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            lengths = context.getStateStore("lengths");
        }

        @Override
        public void process(Record<String, byte[]> given) {
            lengths.put(given.key(), given.value().length);
        }
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

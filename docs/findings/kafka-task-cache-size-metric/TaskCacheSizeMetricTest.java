package findings;

import java.util.Objects;
import java.util.Properties;
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
 * Public API only. The metric cache-size-bytes-total of a task with two cached stores tells the bytes of the store that
 * changed last.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out TaskCacheSizeMetricTest.java
 *   java -cp "out:$CP" findings.TaskCacheSizeMetricTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class TaskCacheSizeMetricTest {
    public static void main(String[] arguments) {
        Topology topology = new Topology();
        topology.addSource("source", new StringDeserializer(), new StringDeserializer(), "commands");
        topology.addProcessor("writer", Writer::new, "source");
        for (String name : new String[] {"large", "small"}) {
            topology.addStateStore(
                    Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.String())
                            .withCachingEnabled(),
                    "writer");
        }
        Properties config = config(1_000_000);
        config.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
        try (TopologyTestDriver driver = new TopologyTestDriver(topology, config)) {
            TestInputTopic<String, String> commands =
                    driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
            commands.pipeInput("c", "x".repeat(5000));
            double told = driver.metrics().entrySet().stream()
                    .filter(each -> each.getKey().name().equals("cache-size-bytes-total"))
                    .mapToDouble(each -> (Double) each.getValue().metricValue())
                    .sum();
            expect("5000 bytes and more in the task's cache (told: " + told + ")", true, told >= 5000);
        }
        conforms();
    }

    /** Puts a large value into one store and a small one into the other. */
    private static final class Writer implements Processor<String, String, Void, Void> {
        private ProcessorContext<Void, Void> context;

        @Override
        public void init(ProcessorContext<Void, Void> given) {
            context = given;
        }

        @Override
        public void process(Record<String, String> command) {
            KeyValueStore<String, String> large = context.getStateStore("large");
            KeyValueStore<String, String> small = context.getStateStore("small");
            large.put("a", command.value());
            small.put("a", "1");
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

package findings;

import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * Public API only. A processor downstream of a cached table throws once, while an eviction passes it what was written;
 * the processor whose write evicted catches that and goes on. What was written and not yet passed on never is: it
 * reaches neither the store below nor anybody downstream, and the task commits.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out FailedForwardTopologyTest.java
 *   java -cp "out:$CP" findings.FailedForwardTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class FailedForwardTopologyTest {
    private static boolean refuses = true;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.table(
                        "table",
                        Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String>as(Stores.inMemoryKeyValueStore("store"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingEnabled())
                .toStream()
                .process(Downstream::new)
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        builder.stream("commands", Consumed.with(Serdes.String(), Serdes.String())).process(Writer::new, "store");
        Map<String, String> passedOn = new TreeMap<>();
        // room for two of the three entries that one command writes
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config(180))) {
            TestInputTopic<String, String> commands =
                    driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
            TestOutputTopic<String, String> out =
                    driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
            commands.pipeInput("c", "abc");
            commands.pipeInput("c", "defghi");
            out.readKeyValuesToList().forEach(each -> passedOn.put(each.key, each.value));
            KeyValueStore<String, ValueAndTimestamp<String>> store = driver.getTimestampedKeyValueStore("store");
            Map<String, String> stored = new TreeMap<>();
            for (String key : "abcdefghi".split("")) {
                ValueAndTimestamp<String> value = store.get(key);
                stored.put(key, value == null ? null : value.value());
            }
            expect("the last values that were put", every("abcdefghi"), stored);
        }
        // the one that was refused may stay away: its processor said so
        expect("what went downstream", every("bcdefghi"), passedOn.entrySet().stream()
                .filter(each -> !each.getKey().equals("a"))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (one, other) -> other, TreeMap::new)));
        conforms();
    }

    private static Map<String, String> every(String keys) {
        Map<String, String> all = new TreeMap<>();
        for (String key : keys.split("")) {
            all.put(key, "value of " + key);
        }
        return all;
    }

    /** Writes an entry for each letter of what it gets, and goes on past what a write throws. */
    private static final class Writer implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, ValueAndTimestamp<String>> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> command) {
            for (String key : command.value().split("")) {
                try {
                    store.put(key, ValueAndTimestamp.make("value of " + key, command.timestamp()));
                } catch (RuntimeException e) {
                    System.err.println("caught: " + e);
                }
            }
        }
    }

    /** Refuses the first record that it gets. */
    private static final class Downstream implements Processor<String, String, String, String> {
        private ProcessorContext<String, String> context;

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
        }

        @Override
        public void process(Record<String, String> change) {
            if (refuses) {
                refuses = false;
                throw new IllegalArgumentException("refused: " + change.key());
            }
            context.forward(change);
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

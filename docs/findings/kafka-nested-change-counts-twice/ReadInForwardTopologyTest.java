package findings;

import java.util.Objects;
import java.util.Properties;
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
 * Public API only. A processor downstream of a cached table only reads the table, at another key. What the cache reads
 * through is counted twice. Where keys also come and go, the account grows until it is nearly all of the maximum: from
 * then on the cache has room for one entry or two, and passes on single writes.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReadInForwardTopologyTest.java
 *   java -cp "out:$CP" findings.ReadInForwardTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReadInForwardTopologyTest {
    private static final int WRITES = 3;
    private static final int KEYS = 20;
    private static final int CYCLES = 40;

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
                .process(Reader::new, "store")
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        builder.stream("commands", Consumed.with(Serdes.String(), Serdes.String())).process(Writer::new, "store");
        // room for eight entries of about a hundred bytes
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config(900))) {
            TestInputTopic<String, String> commands =
                    driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
            TestOutputTopic<String, String> out =
                    driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
            for (int key = 0; key < KEYS; key++) {
                commands.pipeInput("put", "key" + key);
            }
            for (int cycle = 0; cycle < CYCLES; cycle++) {
                commands.pipeInput("put", "passing");
                commands.pipeInput("delete", "passing");
            }
            out.readKeyValuesToList();
            out.readKeyValuesToList();
            commands.pipeInput("put", "a b c d");
            expect("records passed on for " + WRITES + " writes of each of four keys in one commit", 4,
                    out.readKeyValuesToList().size());
        }
        conforms();
    }

    /** Writes some keys several times, or deletes one. */
    private static final class Writer implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, ValueAndTimestamp<String>> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> command) {
            if (command.key().equals("delete")) {
                store.delete(command.value());
                return;
            }
            for (int write = 0; write < WRITES; write++) {
                for (String key : command.value().split(" ")) {
                    store.put(key, ValueAndTimestamp.make("value " + write, command.timestamp()));
                }
            }
        }
    }

    /** Looks up another key of the table. */
    private static final class Reader implements Processor<String, String, String, String> {
        private ProcessorContext<String, String> context;
        private KeyValueStore<String, ValueAndTimestamp<String>> store;
        private int other;

        @Override
        public void init(ProcessorContext<String, String> given) {
            context = given;
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> change) {
            store.get("key" + other++ % KEYS);
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

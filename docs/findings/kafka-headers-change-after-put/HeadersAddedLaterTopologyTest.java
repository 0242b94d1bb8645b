package findings;

import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.header.Header;
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
 * Public API only. A processor puts into a cached table and adds a header to its record afterwards: what the table passes
 * on at the commit carries that header, though the write had none.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out HeadersAddedLaterTopologyTest.java
 *   java -cp "out:$CP" findings.HeadersAddedLaterTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class HeadersAddedLaterTopologyTest {
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
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        builder.stream("commands", Consumed.with(Serdes.String(), Serdes.String())).process(Writer::new, "store");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config(10_000))) {
            TestInputTopic<String, String> commands =
                    driver.createInputTopic("commands", new StringSerializer(), new StringSerializer());
            TestOutputTopic<String, String> out =
                    driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
            commands.pipeInput("c", "a");
            int bytes = 0;
            for (Header header : out.readRecord().headers()) {
                bytes += header.value().length;
            }
            expect("bytes in headers of what was passed on for a write without headers", 0, bytes);
        }
        conforms();
    }

    /** Puts what it gets, then adds a header of more bytes than the whole cache may have. */
    private static final class Writer implements Processor<String, String, Void, Void> {
        private KeyValueStore<String, ValueAndTimestamp<String>> store;

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore("store");
        }

        @Override
        public void process(Record<String, String> command) {
            store.put(command.value(), ValueAndTimestamp.make("1", command.timestamp()));
            command.headers().add("later", new byte[20_000]);
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

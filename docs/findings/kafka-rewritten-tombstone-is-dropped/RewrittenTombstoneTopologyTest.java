package findings;

import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * A processor behind a cached table that is told of a deletion and puts the key again loses what it put.
 * Public API only, with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RewrittenTombstoneTopologyTest.java
 *   java -cp "out:$CP" findings.RewrittenTombstoneTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RewrittenTombstoneTopologyTest {
    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.table(
                        "in",
                        Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String>as(Stores.inMemoryKeyValueStore("table"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingEnabled())
                .toStream()
                .process(PutsDeletedKeysAgain::new, "table");

        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("a", "1");
            in.pipeInput("a", (String) null);
            ValueAndTimestamp<String> got = driver.<String, String>getTimestampedKeyValueStore("table").get("a");
            expect("the last value that was put under a", "again", got == null ? null : got.value());
        }
        System.out.println("conforms");
    }

    private static final class PutsDeletedKeysAgain extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            if (record.value() == null) {
                TimestampedKeyValueStore<String, String> store = context().getStateStore("table");
                store.put(record.key(), ValueAndTimestamp.make("again", record.timestamp()));
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

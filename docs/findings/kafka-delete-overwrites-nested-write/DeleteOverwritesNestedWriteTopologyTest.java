package findings;

import java.util.ArrayList;
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
 * One processor deletes a key of a cached table. The deletion pushes another entry out; the processor behind the table
 * puts the key again. The deletion answers the value from before that, and yet takes it away. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out DeleteOverwritesNestedWriteTopologyTest.java
 *   java -cp "out:$CP" findings.DeleteOverwritesNestedWriteTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class DeleteOverwritesNestedWriteTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static String deleted;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.table(
                        "table-in",
                        Consumed.with(Serdes.String(), Serdes.String()),
                        Materialized.<String, String>as(Stores.inMemoryKeyValueStore("table"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.String())
                                .withCachingEnabled())
                .toStream()
                .process(Follows::new, "table");
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Writes::new, "table");

        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // Room for one of these entries.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 65);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("put", "k");
            in.pipeInput("put then delete", "xk");
            ValueAndTimestamp<String> got = driver.<String, String>getTimestampedKeyValueStore("table").get("k");
            expect("k after a deletion that answered " + deleted, "again", got == null ? null : got.value());
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts k, or puts x and deletes k. */
    private static final class Writes extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            TimestampedKeyValueStore<String, String> store = context().getStateStore("table");
            store.put(record.value().substring(0, 1), ValueAndTimestamp.make("1", record.timestamp()));
            if (record.value().equals("xk")) {
                deleted = store.delete("k").value();
            }
        }
    }

    /** Puts k where x is forwarded. */
    private static final class Follows extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            if (record.key().equals("x")) {
                TimestampedKeyValueStore<String, String> store = context().getStateStore("table");
                store.put("k", ValueAndTimestamp.make("again", record.timestamp()));
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

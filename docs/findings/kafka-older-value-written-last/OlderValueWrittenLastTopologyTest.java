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
 * A processor behind a cached table writes or deletes another key of that table, and reads some: the table ends with
 * the older value of that key, and forwards it last. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out OlderValueWrittenLastTopologyTest.java
 *   java -cp "out:$CP" findings.OlderValueWrittenLastTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class OlderValueWrittenLastTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static String lastForwarded;

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
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Puts::new, "table");

        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // Room for two of these entries.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 130);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("all", "acde");
            for (String order : List.of("put", "delete")) {
                in.pipeInput(order, "ac");
                var store = driver.<String, String>getTimestampedKeyValueStore("table");
                ValueAndTimestamp<String> got = store.get("c");
                String expected = order.equals("put") ? "newer" : null;
                expect("c after the " + order, expected, got == null ? null : got.value());
                expect("what was forwarded last of c after the " + order, expected, lastForwarded);
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts the letters of a record, one after the other, with the record's key as their value: the driver commits
     * after each record, so one record stands for those between two commits. */
    private static final class Puts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            TimestampedKeyValueStore<String, String> store = context().getStateStore("table");
            for (String key : record.value().split("")) {
                store.put(key, ValueAndTimestamp.make(record.key(), record.timestamp()));
            }
        }
    }

    /** Where a is forwarded: puts or deletes c as a's value says, then looks up d and e. */
    private static final class Follows extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            TimestampedKeyValueStore<String, String> store = context().getStateStore("table");
            if (record.key().equals("c")) {
                lastForwarded = record.value();
            }
            if (record.key().equals("a") && !record.value().equals("all")) {
                boolean put = record.value().equals("put");
                store.put("c", put ? ValueAndTimestamp.make("newer", record.timestamp()) : null);
                store.get("d");
                store.get("e");
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

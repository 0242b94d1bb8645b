package findings;

import java.time.Duration;
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
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedWindowStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * A processor behind a cached table of windows writes or deletes a window of another key, and writes some more: the
 * table ends with the older value of that window, and forwards it last. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out OlderWindowWrittenLastTopologyTest.java
 *   java -cp "out:$CP" findings.OlderWindowWrittenLastTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class OlderWindowWrittenLastTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static String lastForwarded;

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("table-in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(10)))
                .reduce(
                        (before, now) -> now,
                        Materialized.<String, String>as(Stores.inMemoryWindowStore(
                                        "table", Duration.ofDays(1), Duration.ofMillis(10), false))
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
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 170);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("all", "acde");
            for (String order : List.of("put", "delete")) {
                in.pipeInput(order, "ac");
                var store = driver.<String, String>getTimestampedWindowStore("table");
                ValueAndTimestamp<String> got = store.fetch("c", 0);
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
            TimestampedWindowStore<String, String> store = context().getStateStore("table");
            for (String key : record.value().split("")) {
                store.put(key, ValueAndTimestamp.make(record.key(), record.timestamp()), 0);
            }
        }
    }

    /** Where a is forwarded: puts or deletes c as a's value says, then puts d and e. */
    private static final class Follows extends ContextualProcessor<Windowed<String>, String, Void, Void> {
        @Override
        public void process(Record<Windowed<String>, String> record) {
            TimestampedWindowStore<String, String> store = context().getStateStore("table");
            if (record.key().key().equals("c")) {
                lastForwarded = record.value();
            }
            if (record.key().key().equals("a") && !record.value().equals("all")) {
                boolean put = record.value().equals("put");
                store.put("c", put ? ValueAndTimestamp.make("newer", record.timestamp()) : null, 0);
                store.put("d", ValueAndTimestamp.make("more", record.timestamp()), 0);
                store.put("e", ValueAndTimestamp.make("more", record.timestamp()), 0);
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

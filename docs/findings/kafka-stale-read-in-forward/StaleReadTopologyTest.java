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
 * A processor behind a cached table reads other keys of that table: it sees a value that was overwritten before, the
 * old value stays in the cache after the commit, and the next count starts from it. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out StaleReadTopologyTest.java
 *   java -cp "out:$CP" findings.StaleReadTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class StaleReadTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.table(
                        "table-in",
                        Consumed.with(Serdes.String(), Serdes.Long()),
                        Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("table"))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(Serdes.Long())
                                .withCachingEnabled())
                .toStream()
                .process(Looks::new, "table");
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Counts::new, "table");

        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        // Room for two of these entries.
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 130);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("first counts", "acde");
            in.pipeInput("second counts", "ac");
            var store = driver.<String, Long>getTimestampedKeyValueStore("table");
            expect("c after the commit of the second counts", 2L, store.get("c").value());
            in.pipeInput("third count of c", "c");
            expect("c after its third count", 3L, store.get("c").value());
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Counts the letters of a record, one after the other: the driver commits after each record, so one record
     * stands for those between two commits. */
    private static final class Counts extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            TimestampedKeyValueStore<String, Long> store = context().getStateStore("table");
            for (String key : record.value().split("")) {
                ValueAndTimestamp<Long> count = store.get(key);
                long next = count == null ? 1 : count.value() + 1;
                store.put(key, ValueAndTimestamp.make(next, record.timestamp()));
            }
        }
    }

    /** Looks up d, e, and then c, when the second count of a is forwarded. */
    private static final class Looks extends ContextualProcessor<String, Long, Void, Void> {
        @Override
        public void process(Record<String, Long> record) {
            TimestampedKeyValueStore<String, Long> store = context().getStateStore("table");
            if (record.key().equals("a") && record.value() == 2) {
                store.get("d");
                store.get("e");
                expect("c as read while a is forwarded", 2L, store.get("c").value());
            }
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

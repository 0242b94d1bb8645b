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
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.TimestampedKeyQuery;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.TimestampedKeyValueStore;
import org.apache.kafka.streams.state.ValueAndTimestamp;

/*
 * A KeyQuery that is told to skip the cache, and a TimestampedKeyQuery likewise, answer from the cache what is not in the
 * store below yet. Public API only, with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SkipCacheTopologyTest.java
 *   java -cp "out:$CP" findings.SkipCacheTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class SkipCacheTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("plain"), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.addStateStore(Stores.timestampedKeyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("timestamped"), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .process(Asks::new, "plain", "timestamped");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            in.pipeInput("k", "1", 5L);
            in.pipeInput("k", "2", 5L);
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** Puts its record, which a commit follows, and asks before that. */
    private static final class Asks extends ContextualProcessor<String, String, Void, Void> {
        private String below;

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> plain = context().getStateStore("plain");
            TimestampedKeyValueStore<String, String> timestamped = context().getStateStore("timestamped");
            String cached = record.value();
            plain.put("k", cached);
            timestamped.put("k", ValueAndTimestamp.make(cached, record.timestamp()));
            KeyQuery<String, String> byKey = KeyQuery.withKey("k");
            expect("KeyQuery", cached, asked(plain, byKey));
            expect("KeyQuery that skips the cache", below, asked(plain, byKey.skipCache()));
            TimestampedKeyQuery<String, String> timestampedByKey = TimestampedKeyQuery.withKey("k");
            ValueAndTimestamp<String> found = asked(timestamped, timestampedByKey.skipCache());
            expect("TimestampedKeyQuery that skips the cache", below, found == null ? null : found.value());
            below = cached;
        }
    }

    private static <R> R asked(StateStore store, Query<R> query) {
        return store.query(query, PositionBound.unbounded(), new QueryConfig(false)).getResult();
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

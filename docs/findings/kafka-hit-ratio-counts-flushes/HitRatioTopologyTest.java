package findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * The hit ratio of a record cache counts entries that are flushed as reads that hit: a store whose only reads miss has a
 * hit ratio. Public API only, with the default cache size.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out HitRatioTopologyTest.java
 *   java -cp "out:$CP" findings.HitRatioTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class HitRatioTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("store"), Serdes.String(), Serdes.String())
                .withCachingEnabled());
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).process(Writes::new, "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            expect("hit ratio at the start", "[NaN]", hitRatios(driver));
            for (int i = 0; i < 10; i++) {
                in.pipeInput("k" + i, "v");
            }
            String told = hitRatios(driver);
            if (!told.equals("[NaN]") && !told.equals("[0.0]")) {
                DIFFERENCES.add("ten reads that miss and ten commits: expected a hit ratio of 0 or none, got " + told);
            }
        }
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static String hitRatios(TopologyTestDriver driver) {
        return driver.metrics().entrySet().stream()
                .filter(each -> each.getKey().name().equals("hit-ratio-max"))
                .map(each -> each.getValue().metricValue())
                .collect(Collectors.toList())
                .toString();
    }

    /** Puts its record; reads a key that was never written. */
    private static final class Writes extends ContextualProcessor<String, String, Void, Void> {
        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<String, String> store = context().getStateStore("store");
            store.put(record.key(), record.value());
            expect("value of a key that was never written", null, store.get("none"));
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

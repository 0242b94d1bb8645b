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
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

/*
 * A count by tumbling windows that emits on the closing of a window emits its windows with the default cache, and none
 * of them without a cache, though each one was closed. Public API only; the stores are those that the DSL makes in
 * memory.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out FinalWindowsTopologyTest.java
 *   java -cp "out:$CP" findings.FinalWindowsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class FinalWindowsTopologyTest {
    private static final long SIZE_MS = 100_000;
    private static final long DEFAULT_CACHE_BYTES = 10_485_760;
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        expect("with the default cache", "0=2 100000=2 200000=1", emitted(DEFAULT_CACHE_BYTES));
        expect("without a cache", "0=2 100000=2 200000=1", emitted(0));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** The windows that were emitted, when time has gone on far behind the end of each. */
    private static String emitted(long cacheBytes) {
        List<String> emitted = new ArrayList<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofMillis(SIZE_MS)))
                .emitStrategy(EmitStrategy.onWindowClose())
                .count()
                .toStream()
                .foreach((key, count) -> emitted.add(key.window().start() + "=" + count));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        config.put(
                StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
                BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            for (long timestamp : new long[] {0, 60_000, 130_000, 190_000, 230_000, 310_000}) {
                in.pipeInput("k", "v", timestamp);
                driver.advanceWallClockTime(Duration.ofSeconds(2)); // by default windows are emitted once a second
            }
        }
        return String.join(" ", emitted);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

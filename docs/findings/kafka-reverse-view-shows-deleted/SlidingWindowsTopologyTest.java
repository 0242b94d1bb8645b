package findings;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.WindowStore;

/*
 * An aggregation by sliding windows whose aggregator answers null for some records stops with a NullPointerException,
 * because it looks for its windows backward and meets a deleted one. Without a cache it goes on. Public API only: the
 * DSL, and a processor before it that stands for several records between two commits.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SlidingWindowsTopologyTest.java
 *   java -cp "out:$CP" findings.SlidingWindowsTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the difference in one line and ends with status 1.
 */
public final class SlidingWindowsTopologyTest {
    /** Each line is what comes between two commits: values and their timestamps; d makes the aggregator answer null. */
    private static final List<String> COMMITS = List.of("B:24", "d:32,d:21,E:1", "A:12,C:35");

    public static void main(String[] arguments) {
        String expected = "{0=E, 2=A, 22=B, 25=C}";
        String without = aggregated(0);
        String with = aggregated(250); // room for two windows or three
        boolean conforms = expected.equals(without) && Objects.equals(without, with);
        String got = "got " + without + " without a cache, " + with + " with one";
        System.out.println(conforms ? "conforms" : "expected " + expected + ", " + got);
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }

    /** The last value of each window by its start, or what stopped the task. */
    private static String aggregated(long cacheBytes) {
        TreeMap<Long, String> windows = new TreeMap<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .processValues(Splits::new)
                .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(Duration.ofMillis(10), Duration.ofHours(1)))
                .aggregate(
                        () -> "",
                        (key, value, sum) -> value.equals("d") ? null : sum == null ? value : sum + value,
                        Materialized.<String, String, WindowStore<Bytes, byte[]>>with(Serdes.String(), Serdes.String())
                                .withStoreType(Materialized.StoreType.IN_MEMORY))
                .toStream()
                .foreach((key, sum) -> {
                    if (sum == null) {
                        windows.remove(key.window().start());
                    } else {
                        windows.put(key.window().start(), sum);
                    }
                });
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, cacheBytes);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            var in = driver.createInputTopic("in", new StringSerializer(), new StringSerializer());
            COMMITS.forEach(records -> in.pipeInput("k", records, 0L));
        } catch (StreamsException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return cause.getClass().getSimpleName();
        }
        return windows.toString();
    }

    private static final class Splits extends ContextualFixedKeyProcessor<String, String, String> {
        @Override
        public void process(FixedKeyRecord<String, String> record) {
            for (String part : record.value().split(",")) {
                String[] valueAndTime = part.split(":");
                context().forward(
                        record.withValue(valueAndTime[0]).withTimestamp(Long.parseLong(valueAndTime[1])));
            }
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * The metrics of a namespace are there again when it is asked for a range after it was closed, and stay there when it
 * is closed by another thread than the one that made it.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ClosedCacheMetricsTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.ClosedCacheMetricsTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class ClosedCacheMetricsTest {
    private static final String STORE = "0_0-store";
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        Metrics metrics = new Metrics();
        ThreadCache cache = threadCache(metrics);
        cache.addDirtyEntryFlushListener(STORE, entries -> {});
        expect("hit ratios of an open namespace", 1L, hitRatios(metrics));
        cache.close(STORE);
        expect("hit ratios of a closed namespace", 0L, hitRatios(metrics));
        cache.range(STORE, null, null).close();
        expect("hit ratios after a range of a closed namespace", 0L, hitRatios(metrics));

        metrics = new Metrics();
        ThreadCache other = threadCache(metrics);
        Thread maker = new Thread(() -> other.addDirtyEntryFlushListener(STORE, entries -> {}), "maker");
        maker.start();
        maker.join();
        other.close(STORE);
        expect("hit ratios of a namespace that another thread closed", 0L, hitRatios(metrics));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static long hitRatios(Metrics metrics) {
        return metrics.metrics().keySet().stream()
                .filter(each -> each.name().equals("hit-ratio-max"))
                .count();
    }

    /** A thread cache; the constructors of the releases differ. */
    private static ThreadCache threadCache(Metrics metrics) throws ReflectiveOperationException {
        Constructor<?> longest = Arrays.stream(StreamsMetricsImpl.class.getDeclaredConstructors())
                .max(Comparator.comparingInt(Constructor::getParameterCount))
                .orElseThrow();
        Object[] given = longest.getParameterCount() == 4
                ? new Object[] {metrics, "client", "process", Time.SYSTEM}
                : new Object[] {metrics, "client", Time.SYSTEM};
        return new ThreadCache(new LogContext(), 1_000, (StreamsMetricsImpl) longest.newInstance(given));
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * A listener closes, or clears, the namespace that is being flushed: its bytes are subtracted twice.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CloseInsideListenerTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.CloseInsideListenerTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CloseInsideListenerTest {
    private static final String STORE = "0_0-store";
    private static final String OTHER = "0_0-other";
    private static ThreadCache cache;

    public static void main(String[] arguments) throws Exception {
        cache = threadCache(1000);
        cache.addDirtyEntryFlushListener(STORE, entries -> cache.clear(STORE));
        cache.put(STORE, key("x"), entry("1", true));
        cache.flush(STORE);
        long afterClear = cache.sizeBytes();
        cache.addDirtyEntryFlushListener(OTHER, entries -> cache.close(OTHER));
        cache.put(OTHER, key("x"), entry("1", true));
        cache.flush(OTHER);
        expect("bytes counted after a clear and a close inside flushes, nothing is left",
                List.of(0L, 0L), List.of(afterClear, cache.sizeBytes()));
        conforms();
    }

    /** A thread cache; the constructors of the releases differ. */
    private static ThreadCache threadCache(long maxBytes) throws Exception {
        Constructor<?> longest = longest(StreamsMetricsImpl.class);
        Object[] given = longest.getParameterCount() == 4
                ? new Object[] {new Metrics(), "client", "process", Time.SYSTEM}
                : new Object[] {new Metrics(), "client", Time.SYSTEM};
        return new ThreadCache(new LogContext(), maxBytes, (StreamsMetricsImpl) longest.newInstance(given));
    }

    private static LRUCacheEntry entry(String value, boolean dirty) {
        try {
            Constructor<?> longest = longest(LRUCacheEntry.class);
            byte[] bytes = value == null ? null : value.getBytes(StandardCharsets.UTF_8);
            Object[] given = {bytes, new RecordHeaders(), dirty, -1L, -1L, -1, ""};
            return (LRUCacheEntry) longest.newInstance(Arrays.copyOf(given, longest.getParameterCount()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Constructor<?> longest(Class<?> type) {
        Constructor<?> found = Arrays.stream(type.getDeclaredConstructors())
                .max(Comparator.comparingInt(Constructor::getParameterCount))
                .orElseThrow();
        found.setAccessible(true);
        return found;
    }

    private static Bytes key(String key) {
        return Bytes.wrap(key.getBytes(StandardCharsets.UTF_8));
    }

    private static void conforms() {
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            fail(what + ": expected " + expected + ", got " + got);
        }
    }

    private static void fail(String message) {
        System.out.println(message.replace('\n', ' '));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }
}

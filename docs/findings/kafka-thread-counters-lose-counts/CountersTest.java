package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * Two threads ask one thread cache: what it counts comes out too low.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CountersTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.CountersTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CountersTest {
    private static final int ROUNDS = 200;
    private static final int GETS = 500_000;
    private static ThreadCache cache;

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            cache = threadCache(1000);
            Thread[] threads = {new Thread(CountersTest::ask), new Thread(CountersTest::ask)};
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            expect("gets of two threads", 2L * GETS, cache.gets());
        }
        conforms();
    }

    private static void ask() {
        for (int get = 0; get < GETS; get++) {
            cache.get("0_0-a", key("x"));
        }
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

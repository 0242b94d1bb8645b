package org.apache.kafka.streams.state.internals;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * Two threads flush two namespaces whose listeners write to each other: each holds the monitor of its own namespace and
 * waits for the other's.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CrossedListenersTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.CrossedListenersTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CrossedListenersTest {
    private static final CountDownLatch IN_A = new CountDownLatch(1);
    private static final CountDownLatch IN_B = new CountDownLatch(1);
    private static ThreadCache cache;

    public static void main(String[] arguments) throws Exception {
        cache = threadCache(1000);
        Thread first = new Thread(() -> cache.flush("0_0-a"), "flushing a");
        Thread second = new Thread(() -> cache.flush("0_0-b"), "flushing b");
        cache.addDirtyEntryFlushListener("0_0-a", entries -> {
            IN_A.countDown();
            meet(IN_B, first, second);
            cache.put("0_0-b", key("from a"), entry("1", false));
        });
        cache.addDirtyEntryFlushListener("0_0-b", entries -> {
            IN_B.countDown();
            meet(IN_A, second, first);
            cache.put("0_0-a", key("from b"), entry("1", false));
        });
        cache.put("0_0-a", key("x"), entry("1", true));
        cache.put("0_0-b", key("x"), entry("1", true));
        first.setDaemon(true);
        second.setDaemon(true);
        first.start();
        second.start();
        endOf(first, second);
        expect("entries", 4L, cache.size());
        conforms();
    }

    /** Both are in their listeners, or the other cannot come there because of this one, or has ended. */
    private static void meet(CountDownLatch other, Thread self, Thread thread) {
        while (other.getCount() > 0 && thread.getState() != Thread.State.TERMINATED) {
            ThreadInfo seen = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
            if (seen != null && seen.getLockOwnerId() == self.getId()) {
                return;
            }
            Thread.onSpinWait();
        }
    }

    /** Until both have ended, or the JVM says that they wait for each other. */
    private static void endOf(Thread one, Thread other) throws InterruptedException {
        while (one.isAlive() || other.isAlive()) {
            long[] deadlocked = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
            if (deadlocked != null) {
                fail("deadlock: " + Arrays.stream(ManagementFactory.getThreadMXBean().getThreadInfo(deadlocked))
                        .map(each -> each.getThreadName() + " waits for " + each.getLockInfo().getClassName()
                                + " of " + each.getLockOwnerName())
                        .sorted()
                        .collect(Collectors.joining(", ")));
            }
            one.join(1);
            other.join(1);
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

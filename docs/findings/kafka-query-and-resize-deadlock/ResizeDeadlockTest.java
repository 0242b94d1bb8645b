package org.apache.kafka.streams.state.internals;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * One thread resizes the cache while another is in a listener that asks it anything: each holds the monitor that the
 * other waits for.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ResizeDeadlockTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.ResizeDeadlockTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ResizeDeadlockTest {
    private static ThreadCache cache;

    public static void main(String[] arguments) throws Exception {
        cache = threadCache(1000);
        Thread resizing = new Thread(() -> cache.resize(0), "resizing");
        Thread flushing = new Thread(() -> cache.flush("0_0-a"), "flushing");
        cache.addDirtyEntryFlushListener("0_0-a", entries -> {
            if (Thread.currentThread() == flushing) {
                resizing.start();
                untilWaitsFor(flushing, resizing);
                cache.get("0_0-b", key("x"));
            }
        });
        cache.put("0_0-a", key("x"), entry("1", true));
        resizing.setDaemon(true);
        flushing.setDaemon(true);
        flushing.start();
        flushing.join(1);
        endOf(flushing, resizing);
        expect("bytes held", 0L, cache.sizeBytes());
        conforms();
    }

    /** Until the thread waits for something that the other has, or has ended: from then on it needs no time any more. */
    private static void untilWaitsFor(Thread owner, Thread thread) {
        while (thread.getState() != Thread.State.TERMINATED) {
            ThreadInfo seen = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
            if (seen != null && seen.getLockOwnerId() == owner.getId()) {
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

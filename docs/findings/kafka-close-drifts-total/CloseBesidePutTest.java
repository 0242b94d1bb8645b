package org.apache.kafka.streams.state.internals;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/*
 * A put has found its namespace and waits for it while another thread closes it: it writes to what was taken out, and
 * its bytes are counted for good, in no namespace.
 *
 * Class path CP: org.apache.kafka:kafka-streams and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out CloseBesidePutTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.CloseBesidePutTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class CloseBesidePutTest {
    private static ThreadCache cache;

    public static void main(String[] arguments) throws Exception {
        cache = threadCache(1000);
        cache.put("0_0-a", key("x"), entry("1", false));
        Thread putting = new Thread(() -> cache.put("0_0-a", key("y"), entry("1", false)), "putting");
        putting.setDaemon(true);
        Object namespace = namespaceOf("0_0-a");
        // Whoever is in an operation of the namespace holds this monitor; here it makes the moment certain.
        synchronized (namespace) {
            putting.start();
            while (putting.getState() != Thread.State.TERMINATED) {
                ThreadInfo seen = ManagementFactory.getThreadMXBean().getThreadInfo(putting.getId());
                if (seen != null && seen.getLockOwnerId() == Thread.currentThread().getId()) {
                    break;
                }
                Thread.onSpinWait();
            }
            cache.close("0_0-a");
        }
        putting.join();
        expect("bytes counted", bytesOf("0_0-a"), cache.sizeBytes());
        conforms();
    }

    private static Object namespaceOf(String name) throws ReflectiveOperationException {
        Field caches = ThreadCache.class.getDeclaredField("caches");
        caches.setAccessible(true);
        return ((Map<?, ?>) caches.get(cache)).get(name);
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

    /** The bytes of all entries, of the namespaces that there are. */
    private static long bytesOf(String... namespaces) {
        long bytes = 0;
        for (String namespace : namespaces) {
            ThreadCache.MemoryLRUCacheBytesIterator all = cache.all(namespace);
            while (all.hasNext()) {
                KeyValue<Bytes, LRUCacheEntry> each = all.next();
                bytes += each.key.get().length + 24 + each.value.size();
            }
        }
        return bytes;
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

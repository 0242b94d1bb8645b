package org.apache.kafka.streams.state.internals;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * Measures puts and gets of the released ThreadCache in a JVM of its own.
 *
 * <p>Stdin begins with three lines: the limit in bytes, the unmeasured operations that fill the cache, and the measured
 * mix. An operation is a number: n puts entry n, and -n - 1 gets it. Each further line, "clean" or "dirty", plays the
 * mix once. Each answer is one line on stdout: the processor time of the whole JVM for the mix in nanoseconds, the
 * hits, and the number of entries that a listener received.
 */
public final class StreamCosts {
    private static final byte[] VALUE = "payload".getBytes(StandardCharsets.UTF_8);
    private static final String NAMESPACE = "0_0-store";
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final Constructor<?> DIRTY = longest(LRUCacheEntry.class);
    /** The arguments of the constructor that sets the dirty flag. Its parameters differ between releases. */
    private static final Object[] GIVEN = Arrays.copyOf(
            new Object[] {VALUE, new RecordHeaders(), true, 0L, 0L, 0, ""}, DIRTY.getParameterCount());

    private final ThreadCache cache;
    private final Bytes[] keys;
    private final boolean isDirty;
    private long hits;
    private long handed;

    private StreamCosts(long maxSizeBytes, Bytes[] keys, boolean isDirty) throws ReflectiveOperationException {
        this.cache = new ThreadCache(new LogContext(), maxSizeBytes, metrics());
        this.keys = keys;
        this.isDirty = isDirty;
        cache.addDirtyEntryFlushListener(NAMESPACE, dirty -> handed += dirty.size());
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        long maxSizeBytes = Long.parseLong(in.readLine());
        int[] before = numbers(in.readLine());
        int[] mix = numbers(in.readLine());
        int greatest = Math.max(greatest(before), greatest(mix));
        Bytes[] keys = new Bytes[greatest + 1];
        for (int number = 0; number <= greatest; number++) {
            keys[number] = Bytes.wrap(String.format("%012d", number).getBytes(StandardCharsets.UTF_8));
        }
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            StreamCosts played = new StreamCosts(maxSizeBytes, keys, line.equals("dirty"));
            played.play(before);
            played.hits = 0;
            played.handed = 0;
            System.gc();
            long start = PROCESS.getProcessCpuTime();
            played.play(mix);
            System.out.println((PROCESS.getProcessCpuTime() - start) + " " + played.hits + " " + played.handed);
            System.out.flush();
        }
    }

    private void play(int[] operations) {
        for (int operation : operations) {
            if (operation >= 0) {
                cache.put(NAMESPACE, keys[operation], entry());
            } else if (cache.get(NAMESPACE, keys[-operation - 1]) != null) {
                hits++;
            }
        }
    }

    private LRUCacheEntry entry() {
        if (!isDirty) {
            return new LRUCacheEntry(VALUE);
        }
        try {
            return (LRUCacheEntry) DIRTY.newInstance(GIVEN);
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static StreamsMetricsImpl metrics() throws ReflectiveOperationException {
        Constructor<?> longest = longest(StreamsMetricsImpl.class);
        Object[] given = new Object[longest.getParameterCount()];
        Arrays.fill(given, "bench");
        given[0] = new Metrics();
        given[given.length - 1] = Time.SYSTEM;
        return (StreamsMetricsImpl) longest.newInstance(given);
    }

    private static Constructor<?> longest(Class<?> type) {
        Constructor<?> constructor = Arrays.stream(type.getDeclaredConstructors())
                .max(Comparator.comparingInt(Constructor::getParameterCount))
                .orElseThrow();
        constructor.setAccessible(true);
        return constructor;
    }

    private static int[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
    }

    private static int greatest(int[] operations) {
        return Arrays.stream(operations).map(number -> number >= 0 ? number : -number - 1).max().orElse(0);
    }
}

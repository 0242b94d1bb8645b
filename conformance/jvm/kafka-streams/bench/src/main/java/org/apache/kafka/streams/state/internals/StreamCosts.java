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
 * What puts and gets of the released ThreadCache cost, in its own JVM.
 *
 * <p>Three lines of stdin first: the limit in bytes; what goes before, unmeasured; the mix. An operation is a number: n
 * puts entry n, -n - 1 gets it. Then one line a play: "clean" or "dirty". One line an answer on stdout: nanoseconds of
 * processor time of the whole JVM for the mix, its hits, and the entries that a listener got.
 */
public final class StreamCosts {
    private static final byte[] VALUE = "payload".getBytes(StandardCharsets.UTF_8);
    private static final String NAMESPACE = "0_0-store";
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static final Constructor<?> DIRTY = longest(LRUCacheEntry.class);
    /** The constructor that says whether an entry is dirty has other parameters in each release. */
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
        Constructor<?> found = Arrays.stream(type.getDeclaredConstructors())
                .max(Comparator.comparingInt(Constructor::getParameterCount))
                .orElseThrow();
        found.setAccessible(true);
        return found;
    }

    private static int[] numbers(String line) {
        return Arrays.stream(line.split(" ")).mapToInt(Integer::parseInt).toArray();
    }

    private static int greatest(int[] operations) {
        return Arrays.stream(operations).map(number -> number >= 0 ? number : -number - 1).max().orElse(0);
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;

/**
 * The bytes that a thread cache counts, for an eviction that only its namespace offers.
 *
 * <p>The releases count the difference that such a call makes to its namespace, including what the steps inside it have
 * counted already. A repaired build counts in another way. Two calls of the tested classes show which one it is, so that
 * the eviction of this driver counts as theirs do.
 */
final class Total {
    /** The running total; null in a build that has none. */
    private static final Field FIELD = Stream.of(ThreadCache.class.getDeclaredFields())
            .filter(each -> each.getName().equals("sizeInBytes") && each.getType() == AtomicLong.class)
            .findFirst()
            .map(each -> Reflection.field(ThreadCache.class, each.getName()))
            .orElse(null);

    private static final Way WAY = way();

    private enum Way {
        /** The namespace counts its changes itself. */
        BY_NAMESPACE,
        /** Each caller counts what it changed, without the steps inside it. */
        EXACT,
        /** Each caller counts the difference, as the releases do. */
        DIFFERENCE
    }

    private Total() {}

    /** Evicts an entry of a namespace, and counts that. */
    static void evict(ThreadCache cache, NamedCache named) {
        long before = named.sizeInBytes();
        named.evict();
        if (WAY == Way.DIFFERENCE) {
            running(cache).getAndAdd(named.sizeInBytes() - before);
        } else if (WAY == Way.EXACT) {
            running(cache).getAndAdd(sum(cache) - cache.sizeBytes());
        }
    }

    private static Way way() {
        if (FIELD == null || evictionIsCounted()) {
            return Way.BY_NAMESPACE;
        }
        return nestedPutIsCountedOnce() ? Way.EXACT : Way.DIFFERENCE;
    }

    private static boolean evictionIsCounted() {
        ThreadCache cache = cache();
        cache.put(name(), key("x"), entry(false));
        long before = cache.sizeBytes();
        LookOps.caches(cache).get(name()).evict();
        return cache.sizeBytes() != before;
    }

    private static boolean nestedPutIsCountedOnce() {
        ThreadCache cache = cache();
        cache.addDirtyEntryFlushListener(name(), entries -> cache.put(name(), key("y"), entry(false)));
        cache.put(name(), key("x"), entry(true));
        cache.flush(name());
        return cache.sizeBytes() == sum(cache);
    }

    private static long sum(ThreadCache cache) {
        synchronized (cache) {
            return LookOps.caches(cache).values().stream()
                    .mapToLong(NamedCache::sizeInBytes)
                    .sum();
        }
    }

    private static AtomicLong running(ThreadCache cache) {
        return (AtomicLong) Reflection.get(FIELD, cache);
    }

    private static ThreadCache cache() {
        Metrics registry = new Metrics(new MetricConfig(), List.of(), StandingTime.INSTANCE);
        return Era.cache(1_000, Era.metrics(registry, StandingTime.INSTANCE));
    }

    private static String name() {
        return ThreadCache.nameSpaceFromTaskIdAndStore(Context.TASK.toString(), "total");
    }

    private static Bytes key(String key) {
        return Bytes.wrap(key.getBytes(StandardCharsets.UTF_8));
    }

    private static LRUCacheEntry entry(boolean dirty) {
        return Era.entry(new byte[1], new RecordHeaders(), dirty, Values.ABSENT, Values.ABSENT, Values.ABSENT, "");
    }
}

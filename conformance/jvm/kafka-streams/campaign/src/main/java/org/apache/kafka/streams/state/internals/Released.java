package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/** A released thread cache and the fields that the promises refer to. */
final class Released {
    private static final Field CACHES = Reflection.field(ThreadCache.class, "caches");
    private static final Field TOTAL = Reflection.field(ThreadCache.class, "sizeInBytes");
    private static final Field NODES = Reflection.field(NamedCache.class, "cache");
    private static final Field DIRTY = Reflection.field(NamedCache.class, "dirtyKeys");

    final ThreadCache cache;
    final AtomicLong total;
    private final Map<String, NamedCache> caches;

    @SuppressWarnings("unchecked")
    Released(long maxSizeBytes, StreamsMetricsImpl metrics) {
        cache = Era.cache(maxSizeBytes, metrics);
        total = (AtomicLong) Reflection.get(TOTAL, cache);
        caches = (Map<String, NamedCache>) Reflection.get(CACHES, cache);
    }

    NamedCache named(String namespace) {
        return caches.get(namespace);
    }

    /** Returns the exact sum of the sizes of all entries. */
    long sum() {
        long sum = 0;
        for (NamedCache named : caches.values()) {
            for (NamedCache.LRUNode node : nodes(named).values()) {
                sum += node.size();
            }
        }
        return sum;
    }

    /** Returns the entry of the key, or null if there is none. */
    LRUCacheEntry entry(String namespace, Bytes key) {
        NamedCache named = caches.get(namespace);
        NamedCache.LRUNode node = named == null ? null : nodes(named).get(key);
        return node == null ? null : node.entry();
    }

    boolean isDirty(String namespace, Bytes key) {
        return dirty(caches.get(namespace)).contains(key);
    }

    boolean isEmpty(String namespace) {
        NamedCache named = caches.get(namespace);
        return named == null || nodes(named).isEmpty();
    }

    /**
     * Checks that each dirty key belongs to a dirty entry and, with `isTotalHeld`, that the running total equals the
     * sum.
     */
    void settled(boolean isTotalHeld) {
        Broken.unless(!isTotalHeld || total.get() == sum(), "total");
        for (NamedCache named : caches.values()) {
            for (Bytes key : dirty(named)) {
                NamedCache.LRUNode node = nodes(named).get(key);
                Broken.unless(node != null && node.entry().isDirty(), "dirty");
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<Bytes, NamedCache.LRUNode> nodes(NamedCache named) {
        return (Map<Bytes, NamedCache.LRUNode>) Reflection.get(NODES, named);
    }

    @SuppressWarnings("unchecked")
    private static Set<Bytes> dirty(NamedCache named) {
        return (Set<Bytes>) Reflection.get(DIRTY, named);
    }
}

package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.KafkaRun.namespace;
import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;
import static org.apache.kafka.streams.state.internals.Values.pair;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.internals.ThreadCache.MemoryLRUCacheBytesIterator;

/**
 * The operations of level {@code cache} that query a thread cache. Sizes and orders are read from fields, which changes
 * no state.
 */
final class LookOps {
    private static final Field CACHES = Reflection.field(ThreadCache.class, "caches");
    private static final Field NODES = Reflection.field(NamedCache.class, "cache");
    private static final Field DIRTY_KEYS = Reflection.field(NamedCache.class, "dirtyKeys");

    private LookOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(
                new Operation<>("get", "ThreadCache.get", LookOps::get),
                new Operation<>("range", "ThreadCache.range", LookOps::range),
                new Operation<>("reverse_range", "ThreadCache.reverseRange", LookOps::reverseRange),
                new Operation<>("all", "ThreadCache.all", LookOps::all),
                new Operation<>("reverse_all", "ThreadCache.reverseAll", LookOps::reverseAll),
                new Operation<>("usage", "none: nodes of NamedCache; tracked is ThreadCache.sizeBytes", LookOps::usage),
                new Operation<>("metrics", "counters of ThreadCache, or counters and fields of NamedCache", LookOps::metrics));
    }

    /** Returns the cache of a namespace, or null if it does not exist. */
    static NamedCache named(KafkaRun run, Args step) {
        synchronized (run.cache) {
            return caches(run.cache).get(namespace(step));
        }
    }

    private static JsonObject get(KafkaRun run, Args step) {
        LRUCacheEntry found = run.cache.get(namespace(step), key(step, "key"));
        JsonObject outcome = new JsonObject();
        outcome.addProperty("hit", found != null);
        outcome.add("value", json(found));
        return outcome;
    }

    private static JsonObject range(KafkaRun run, Args step) {
        boolean inclusive = step.flag("to_inclusive", true);
        return entries(run.cache.range(namespace(step), key(step, "from"), key(step, "to"), inclusive));
    }

    private static JsonObject reverseRange(KafkaRun run, Args step) {
        return entries(run.cache.reverseRange(namespace(step), key(step, "from"), key(step, "to")));
    }

    private static JsonObject all(KafkaRun run, Args step) {
        return entries(run.cache.all(namespace(step)));
    }

    private static JsonObject reverseAll(KafkaRun run, Args step) {
        return entries(run.cache.reverseAll(namespace(step)));
    }

    private static JsonObject entries(MemoryLRUCacheBytesIterator found) {
        JsonArray entries = new JsonArray();
        while (found.hasNext()) {
            KeyValue<Bytes, LRUCacheEntry> next = found.next();
            entries.add(pair(json(next.key), json(next.value)));
        }
        found.close();
        JsonObject outcome = new JsonObject();
        outcome.add("entries", entries);
        return outcome;
    }

    private static JsonObject usage(KafkaRun run, Args step) {
        boolean one = step.has("ns");
        NamedCache named = one ? named(run, step) : null;
        Collection<NamedCache> queried = one ? (named == null ? List.of() : List.of(named)) : caches(run.cache).values();
        JsonObject outcome = new JsonObject();
        outcome.addProperty("entries", queried.stream().mapToLong(each -> nodes(each).size()).sum());
        outcome.addProperty("bytes", queried.stream().mapToLong(LookOps::bytes).sum());
        if (!one) {
            outcome.addProperty("tracked", run.cache.sizeBytes());
        }
        return outcome;
    }

    private static JsonObject metrics(KafkaRun run, Args step) {
        JsonObject outcome = new JsonObject();
        if (!step.has("ns")) {
            outcome.addProperty("puts", run.cache.puts());
            outcome.addProperty("gets", run.cache.gets());
            outcome.addProperty("evicts", run.cache.evicts());
            outcome.addProperty("flushes", run.cache.flushes());
            return outcome;
        }
        NamedCache named = named(run, step);
        outcome.addProperty("hits", named == null ? 0 : named.hits());
        outcome.addProperty("misses", named == null ? 0 : named.misses());
        outcome.addProperty("overwrites", named == null ? 0 : named.overwrites());
        outcome.addProperty("flushes", named == null ? 0 : named.flushes());
        outcome.add("dirty", named == null ? new JsonArray() : dirty(named, run, step));
        outcome.add("lru", named == null ? new JsonArray() : leastRecentLast(named, run, step));
        return outcome;
    }

    @SuppressWarnings("unchecked")
    private static JsonArray dirty(NamedCache named, KafkaRun run, Args step) {
        JsonArray keys = new JsonArray();
        StoreKind kind = kind(run, step);
        ((Set<Bytes>) Reflection.get(DIRTY_KEYS, named)).forEach(key -> keys.add(kind.name(key)));
        return keys;
    }

    /**
     * Returns the keys in the order of the linked list, and stops after one more key than the cache has, because a
     * longer list is a cycle.
     */
    private static JsonArray leastRecentLast(NamedCache named, KafkaRun run, Args step) {
        JsonArray keys = new JsonArray();
        StoreKind kind = kind(run, step);
        NamedCache.LRUNode node = named.head();
        for (long left = nodes(named).size() + 1L; node != null && left > 0; left--) {
            keys.add(kind.name(node.key()));
            node = node.next();
        }
        return keys;
    }

    /** Returns the kind of the store whose namespace the step names. */
    private static StoreKind kind(KafkaRun run, Args step) {
        CachedStore store = run.stores.get(step.text("ns"));
        return store == null ? StoreKind.KEY_VALUE : store.kind;
    }

    private static long bytes(NamedCache named) {
        return nodes(named).values().stream().mapToLong(NamedCache.LRUNode::size).sum();
    }

    @SuppressWarnings("unchecked")
    private static Map<Bytes, NamedCache.LRUNode> nodes(NamedCache named) {
        return (Map<Bytes, NamedCache.LRUNode>) Reflection.get(NODES, named);
    }

    @SuppressWarnings("unchecked")
    static Map<String, NamedCache> caches(ThreadCache cache) {
        return (Map<String, NamedCache>) Reflection.get(CACHES, cache);
    }
}

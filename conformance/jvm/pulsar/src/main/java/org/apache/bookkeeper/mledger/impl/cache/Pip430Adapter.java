package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The system {@code pulsar-pip430}, as released by Pulsar 4.2.
 *
 * <p>It lives in the package of the released cache, whose classes are not public.
 */
final class Pip430Adapter implements Adapter<Pip430Run> {
    private static final List<String> CONFIG =
            List.of("max_size_bytes", "watermark", "ttl_nanos", "max_requeues", "extend_recently_accessed");
    private static final List<String> INTROSPECTION =
            List.of("now", "bytes", "caches", "queue", "tombstones", "requeues");

    @Override
    public String system() {
        return "pulsar-pip430";
    }

    @Override
    public JsonObject implementation() {
        Class<?> released = RangeEntryCacheManagerImpl.class;
        Path jar = Path.of(released.getProtectionDomain().getCodeSource().getLocation().getPath());
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", "Apache Pulsar managed-ledger");
        implementation.addProperty(
                "version", Objects.requireNonNullElse(released.getPackage().getImplementationVersion(), "unknown"));
        implementation.addProperty("language", "Java");
        implementation.addProperty("source", "org.apache.pulsar:managed-ledger (" + jar.getFileName() + ")" + Era.STAND_INS);
        return implementation;
    }

    @Override
    public JsonObject declares() {
        JsonObject fixed = new JsonObject();
        fixed.addProperty("eviction", "inline");
        JsonObject limits = new JsonObject();
        limits.addProperty("max_size", Integer.MAX_VALUE);
        JsonObject system = new JsonObject();
        system.add("config", strings(CONFIG));
        system.add("fixed", fixed);
        system.add("introspection", strings(INTROSPECTION));
        system.addProperty("payload", false);
        system.addProperty("leaks", false);
        system.add("limits", limits);
        return system;
    }

    @Override
    public List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("insert", "EntryCache.insert", Pip430Run::insert),
                new Operation<>("get", "RangeCache.get", Pip430Run::get),
                new Operation<>("get_range", "RangeCache.getRange", Pip430Run::getRange),
                new Operation<>("exists", "RangeCache.exists", Pip430Run::exists),
                new Operation<>(
                        "remove_range",
                        "RangeCache.removeRange, RangeEntryCacheManagerImpl.entriesRemoved",
                        Pip430Run::removeRange),
                new Operation<>("clear", "EntryCache.clear", Pip430Run::clear),
                new Operation<>(
                        "usage",
                        "RangeCache.getNumberOfEntries, EntryCache.getSize or RangeEntryCacheManagerImpl.getSize",
                        Pip430Run::usage),
                new Operation<>("advance", "none: the virtual clock", Pip430Run::advance),
                new Operation<>(
                        "expire",
                        "RangeEntryCacheManagerEvictionHandler.invalidateEntriesBeforeTimestampNanos",
                        Pip430Run::expire),
                new Operation<>("evict", "RangeEntryCacheManagerEvictionHandler.evictEntries", Pip430Run::evict),
                new Operation<>("mark_read", "EntryReadCountHandler.markRead", Pip430Run::markRead),
                new Operation<>(
                        "expect_read", "EntryReadCountHandler.incrementExpectedReadCount", Pip430Run::expectRead),
                new Operation<>(
                        "observe", "none: fields of RangeCache and RangeCacheRemovalQueue", Pip430Run::observe));
    }

    @Override
    public Pip430Run open(Args config) {
        return new Pip430Run(config);
    }

    private static JsonArray strings(List<String> values) {
        JsonArray array = new JsonArray();
        values.forEach(array::add);
        return array;
    }
}

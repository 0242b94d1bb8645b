package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.List;
import java.util.stream.Stream;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;

/**
 * The operations of level {@code manager}: trigger and watermark, the periodic task, dynamic settings, invalidation,
 * counters.
 *
 * <p>The released code accepts any setting but the protocol refuses some, so this class checks those arguments.
 */
final class ManagerOps {
    private ManagerOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("cycle", "RangeEntryCacheManagerImpl.doCacheEviction", ManagerOps::cycle),
                new Operation<>(
                        "run_scheduled",
                        "Runnable.run of what RangeEntryCacheManagerImpl.triggerEvictionWhenNeeded gave its executor",
                        ManagerOps::runScheduled),
                new Operation<>(
                        "configure",
                        "RangeEntryCacheManagerImpl.updateCacheSizeAndThreshold, updateCacheEvictionWatermark, "
                                + "updateCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes, "
                                + "updateCacheEvictionExtendTTLOfRecentlyAccessed, "
                                + "ManagedLedgerFactoryImpl.updateCacheEvictionTimeThreshold",
                        ManagerOps::configure),
                new Operation<>("invalidate_before", "EntryCache.invalidateEntries", ManagerOps::invalidateBefore),
                new Operation<>("invalidate_ledger", "EntryCache.invalidateAllEntries", ManagerOps::invalidateLedger),
                new Operation<>("remove_cache", "RangeEntryCacheManagerImpl.removeEntryCache", ManagerOps::removeCache),
                new Operation<>(
                        "metrics",
                        "totals of ManagedLedgerFactoryMBeanImpl, RangeEntryCacheManagerImpl.getSize",
                        ManagerOps::metrics));
    }

    private static JsonObject cycle(Pip430Run run, Args step) {
        return run.leaving(run.manager::doCacheEviction);
    }

    private static JsonObject runScheduled(Pip430Run run, Args step) {
        return run.leaving(run.evictions::runKept);
    }

    private static JsonObject configure(Pip430Run run, Args step) {
        boolean negative = Stream.of("max_size_bytes", "ttl_nanos", "max_requeues")
                .anyMatch(name -> step.number(name, 0) < 0);
        double watermark = step.fraction("watermark", 0);
        Refused.unless(!negative, "a setting is negative");
        Refused.unless(watermark >= 0 && watermark <= 1, "the watermark is not within 0..1");
        Refused.unless(
                !step.has("max_size_bytes") || run.caching && step.number("max_size_bytes") > 0,
                "caching cannot be switched off or on");
        if (step.has("max_size_bytes")) {
            run.manager.updateCacheSizeAndThreshold(step.number("max_size_bytes"));
        }
        if (step.has("watermark")) {
            run.manager.updateCacheEvictionWatermark(watermark);
        }
        if (step.has("ttl_nanos")) {
            run.factory.updateCacheEvictionTimeThreshold(step.number("ttl_nanos"));
        }
        if (step.has("max_requeues")) {
            run.manager.updateCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes(
                    Math.toIntExact(step.number("max_requeues")));
        }
        if (step.has("extend_recently_accessed")) {
            run.manager.updateCacheEvictionExtendTTLOfRecentlyAccessed(step.flag("extend_recently_accessed"));
        }
        return done();
    }

    private static JsonObject invalidateBefore(Pip430Run run, Args step) {
        Position position = position(step, "pos");
        EntryCache cache = run.named(step).cache();
        return run.leaving(() -> cache.invalidateEntries(position));
    }

    private static JsonObject invalidateLedger(Pip430Run run, Args step) {
        long ledger = step.number("ledger");
        EntryCache cache = run.named(step).cache();
        return run.leaving(() -> cache.invalidateAllEntries(ledger));
    }

    /** Removes the cache from the manager, so that the next use of its name asks the manager for a new cache. */
    private static JsonObject removeCache(Pip430Run run, Args step) {
        run.named(step);
        run.manager.removeEntryCache(step.text("cache"));
        run.caches.remove(step.text("cache"));
        return done();
    }

    private static JsonObject metrics(Pip430Run run, Args step) {
        ManagedLedgerFactoryMBeanImpl totals = run.factory.getMbean();
        JsonObject outcome = new JsonObject();
        outcome.addProperty("inserted_entries", totals.getCacheInsertedEntriesCount());
        outcome.addProperty("evicted_entries", totals.getCacheEvictedEntriesCount());
        outcome.addProperty("eviction_cycles", totals.getNumberOfCacheEvictionsTotal());
        outcome.addProperty("hit_entries", totals.getCacheHitsTotal());
        outcome.addProperty("hit_bytes", totals.getCacheHitsBytesTotal());
        outcome.addProperty("miss_entries", totals.getCacheMissesTotal());
        outcome.addProperty("miss_bytes", totals.getCacheMissesBytesTotal());
        outcome.addProperty("bytes", run.manager.getSize());
        return outcome;
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;

import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.lang3.tuple.Pair;

/**
 * The operations that advance time and evict entries by age or by size.
 *
 * <p>The released code accepts a negative age, which the protocol refuses. The released code throws for a size pass
 * without any cache; for the protocol that pass frees nothing.
 */
final class EvictionOps {
    private EvictionOps() {}

    static List<Operation<LegacyRun>> operations() {
        return List.of(
                new Operation<>("advance", "none: the virtual clock", EvictionOps::advance),
                new Operation<>("expire", "EntryCache.invalidateEntriesBeforeTimestamp", EvictionOps::expire),
                new Operation<>("evict", "EntryCacheDefaultEvictionPolicy.doEviction", EvictionOps::evict),
                new Operation<>("evict_cache", "EntryCache.evictEntries", EvictionOps::evictCache),
                new Operation<>(
                        "run_scheduled",
                        "Runnable.run of what RangeEntryCacheManagerImpl.hasSpaceInCache gave its scheduler",
                        EvictionOps::runScheduled));
    }

    private static JsonObject advance(LegacyRun run, Args step) {
        long nanos = step.number("nanos");
        Refused.unless(nanos >= 0, "time does not go back");
        Clock.advance(nanos);
        return done();
    }

    private static JsonObject expire(LegacyRun run, Args step) {
        long olderThan = step.number("older_than_nanos", run.factory.getCacheEvictionTimeThreshold());
        Refused.unless(olderThan >= 0, "the age is negative");
        EntryCache cache = run.named(step).cache();
        return run.leaving(() -> cache.invalidateEntriesBeforeTimestamp(Clock.nanoTime() - olderThan));
    }

    private static JsonObject evict(LegacyRun run, Args step) {
        long bytes = step.number("bytes");
        Refused.unless(bytes > 0, "nothing to free");
        List<EntryCache> caches = new ArrayList<>(run.registered().values());
        return caches.isEmpty() ? amount(0, 0) : run.leaving(() -> run.policy().doEviction(caches, bytes));
    }

    private static JsonObject evictCache(LegacyRun run, Args step) {
        long bytes = step.number("bytes");
        Refused.unless(bytes > 0, "nothing to free");
        Pair<Integer, Long> removed = run.named(step).cache().evictEntries(bytes);
        return amount(removed.getLeft(), removed.getRight());
    }

    private static JsonObject runScheduled(LegacyRun run, Args step) {
        return run.leaving(run.passes::runKept);
    }
}

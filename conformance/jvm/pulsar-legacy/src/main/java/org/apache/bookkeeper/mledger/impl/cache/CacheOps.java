package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.flag;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.json;
import static org.apache.bookkeeper.mledger.impl.cache.LegacyRun.position;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.netty.buffer.ByteBuf;
import java.util.Collection;
import java.util.List;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.commons.lang3.tuple.Pair;

/**
 * The operations that look up and remove positions in one cache.
 *
 * <p>The released code accepts a negative size but the protocol refuses it, so this class checks that argument. The
 * released code throws for a range whose first position is after its last; for the protocol that range is empty.
 */
final class CacheOps {
    private CacheOps() {}

    static List<Operation<LegacyRun>> operations() {
        return List.of(
                new Operation<>("insert", "EntryCache.insert", CacheOps::insert),
                new Operation<>("get", "RangeCache.get", CacheOps::get),
                new Operation<>("get_range", "RangeCache.getRange", CacheOps::getRange),
                new Operation<>("exists", "RangeCache.exists", CacheOps::exists),
                new Operation<>(
                        "remove_range",
                        "RangeCache.removeRange, RangeEntryCacheManagerImpl.entriesRemoved",
                        CacheOps::removeRange),
                new Operation<>("clear", "EntryCache.clear", CacheOps::clear),
                new Operation<>("invalidate_before", "EntryCache.invalidateEntries", CacheOps::invalidateBefore),
                new Operation<>("invalidate_ledger", "EntryCache.invalidateAllEntries", CacheOps::invalidateLedger),
                new Operation<>("remove_cache", "RangeEntryCacheManagerImpl.removeEntryCache", CacheOps::removeCache),
                new Operation<>(
                        "usage",
                        "size of the map in RangeCache, EntryCache.getSize or RangeEntryCacheManagerImpl.getSize",
                        CacheOps::usage),
                new Operation<>("observe", "none: fields of RangeCache", CacheOps::observe));
    }

    private static JsonObject insert(LegacyRun run, Args step) {
        Position position = position(step, "pos");
        int size = Math.toIntExact(step.number("size"));
        Refused.unless(size >= 0, "the size is negative");
        ByteBuf payload = run.payloads.of(size, step.number("token", 0));
        EntryImpl entry = EntryImpl.create(position.getLedgerId(), position.getEntryId(), payload);
        payload.release();
        JsonObject outcome = flag("inserted", run.named(step).cache().insert(entry));
        entry.release();
        return outcome;
    }

    private static JsonObject get(LegacyRun run, Args step) {
        EntryImpl found = run.named(step).range().get(position(step, "pos"));
        JsonObject outcome = flag("hit", found != null);
        outcome.add("tokens", new JsonArray());
        if (found != null) {
            outcome.getAsJsonArray("tokens").add(Payloads.token(found.getDataBuffer()));
            found.release();
        }
        return outcome;
    }

    private static JsonObject getRange(LegacyRun run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        Range range = run.named(step).range();
        JsonArray hits = new JsonArray();
        JsonArray tokens = new JsonArray();
        Collection<EntryImpl> found = Range.reversed(first, last) ? List.of() : range.between(first, last);
        for (EntryImpl entry : found) {
            hits.add(json(entry.getPosition()));
            tokens.add(Payloads.token(entry.getDataBuffer()));
            entry.release();
        }
        JsonObject outcome = new JsonObject();
        outcome.add("hits", hits);
        outcome.add("tokens", tokens);
        return outcome;
    }

    private static JsonObject exists(LegacyRun run, Args step) {
        return flag("exists", run.named(step).range().exists(position(step, "pos")));
    }

    private static JsonObject removeRange(LegacyRun run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        boolean inclusive = step.flag("last_inclusive");
        Range range = run.named(step).range();
        Pair<Integer, Long> removed =
                Range.reversed(first, last) ? Pair.of(0, 0L) : range.remove(first, last, inclusive);
        run.manager.entriesRemoved(removed.getRight(), removed.getLeft());
        return amount(removed.getLeft(), removed.getRight());
    }

    private static JsonObject clear(LegacyRun run, Args step) {
        return run.leaving(run.named(step).cache()::clear);
    }

    private static JsonObject invalidateBefore(LegacyRun run, Args step) {
        Position position = position(step, "pos");
        EntryCache cache = run.named(step).cache();
        return run.leaving(() -> Era.invalidateBefore(cache, position));
    }

    private static JsonObject invalidateLedger(LegacyRun run, Args step) {
        long ledger = step.number("ledger");
        EntryCache cache = run.named(step).cache();
        return run.leaving(() -> cache.invalidateAllEntries(ledger));
    }

    /** Removes the cache from the manager, so that the next use of its name asks the manager for a new cache. */
    private static JsonObject removeCache(LegacyRun run, Args step) {
        run.named(step);
        run.manager.removeEntryCache(step.text("cache"));
        run.caches.remove(step.text("cache"));
        return done();
    }

    private static JsonObject usage(LegacyRun run, Args step) {
        if (step.has("cache")) {
            LegacyRun.Named named = run.named(step);
            return amount(named.range().positions().size(), named.cache().getSize());
        }
        long entries = run.caches.values().stream()
                .mapToLong(each -> each.range().positions().size())
                .sum();
        return amount(entries, run.manager.getSize());
    }

    private static JsonObject observe(LegacyRun run, Args step) {
        JsonObject all = new JsonObject();
        run.caches.forEach((name, named) -> {
            JsonArray positions = new JsonArray();
            named.range().positions().forEach(position -> positions.add(json(position)));
            if (!positions.isEmpty() || named.cache().getSize() != 0) {
                JsonObject one = new JsonObject();
                one.add("entries", positions);
                one.addProperty("bytes", named.cache().getSize());
                all.add(name, one);
            }
        });
        JsonObject outcome = new JsonObject();
        outcome.addProperty("now", Clock.nanoTime());
        outcome.addProperty("bytes", run.manager.getSize());
        outcome.add("caches", all);
        return outcome;
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.flag;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.json;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.reversed;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.netty.buffer.ByteBuf;
import java.util.Collection;
import java.util.List;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pulsar.common.api.proto.MessageMetadata;

/**
 * The operations of level {@code range}: lookups and removals by position in one cache.
 *
 * <p>The released code accepts a negative size but the protocol refuses it, so this class checks that argument. The
 * released code throws for a range whose first position is after its last; for the protocol that range is empty.
 */
final class RangeOps {
    /**
     * The metadata of every entry. Because it is set, the first read does not parse the payload, which is not a
     * message.
     */
    private static final MessageMetadata NO_METADATA = new MessageMetadata();

    private RangeOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("insert", "EntryCache.insert", RangeOps::insert),
                new Operation<>("get", "RangeCache.get", RangeOps::get),
                new Operation<>("get_range", "RangeCache.getRange", RangeOps::getRange),
                new Operation<>("exists", "RangeCache.exists", RangeOps::exists),
                new Operation<>(
                        "remove_range",
                        "RangeCache.removeRange, RangeEntryCacheManagerImpl.entriesRemoved",
                        RangeOps::removeRange),
                new Operation<>("clear", "EntryCache.clear", RangeOps::clear),
                new Operation<>(
                        "usage",
                        "RangeCache.getNumberOfEntries, EntryCache.getSize or RangeEntryCacheManagerImpl.getSize",
                        RangeOps::usage));
    }

    private static JsonObject insert(Pip430Run run, Args step) {
        Position position = position(step, "pos");
        int size = Math.toIntExact(step.number("size"));
        Refused.unless(size >= 0, "the size is negative");
        int reads = Math.toIntExact(step.number("expected_reads", Era.NO_COUNT));
        ByteBuf payload = run.payloads.of(size, step.number("token", 0));
        EntryImpl entry = EntryImpl.create(position.getLedgerId(), position.getEntryId(), payload, reads);
        payload.release();
        entry.setMessageMetadata(NO_METADATA);
        entry.setDecreaseReadCountOnRelease(false);
        JsonObject outcome = flag("inserted", run.named(step).cache().insert(entry));
        entry.release();
        return outcome;
    }

    private static JsonObject get(Pip430Run run, Args step) {
        ReferenceCountedEntry found = run.named(step).range().get(position(step, "pos"));
        JsonObject outcome = flag("hit", found != null);
        outcome.add("tokens", new JsonArray());
        if (found != null) {
            outcome.getAsJsonArray("tokens").add(Payloads.token(found.getDataBuffer()));
            found.release();
        }
        return outcome;
    }

    private static JsonObject getRange(Pip430Run run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        JsonArray hits = new JsonArray();
        JsonArray tokens = new JsonArray();
        RangeCache range = run.named(step).range();
        Collection<ReferenceCountedEntry> found = reversed(first, last) ? List.of() : range.getRange(first, last);
        for (ReferenceCountedEntry entry : found) {
            hits.add(json(entry.getPosition()));
            tokens.add(Payloads.token(entry.getDataBuffer()));
            entry.release();
        }
        JsonObject outcome = new JsonObject();
        outcome.add("hits", hits);
        outcome.add("tokens", tokens);
        return outcome;
    }

    private static JsonObject exists(Pip430Run run, Args step) {
        return flag("exists", run.named(step).range().exists(position(step, "pos")));
    }

    private static JsonObject removeRange(Pip430Run run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        RangeCache range = run.named(step).range();
        boolean inclusive = step.flag("last_inclusive");
        Pair<Integer, Long> removed =
                reversed(first, last) ? Pair.of(0, 0L) : range.removeRange(first, last, inclusive);
        run.manager.entriesRemoved(removed.getRight(), removed.getLeft());
        return amount(removed.getLeft(), removed.getRight());
    }

    private static JsonObject clear(Pip430Run run, Args step) {
        return run.leaving(run.named(step).cache()::clear);
    }

    private static JsonObject usage(Pip430Run run, Args step) {
        if (step.has("cache")) {
            Pip430Run.Named named = run.named(step);
            return amount(named.range().getNumberOfEntries(), named.cache().getSize());
        }
        long entries = run.caches.values().stream()
                .mapToLong(each -> each.range().getNumberOfEntries())
                .sum();
        return amount(entries, run.manager.getSize());
    }
}

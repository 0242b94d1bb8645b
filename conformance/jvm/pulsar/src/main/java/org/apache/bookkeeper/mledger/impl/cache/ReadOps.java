package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.number;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.reversed;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.Position;

/**
 * The operations of level {@code reads}: reads through a cache, with fills from storage and deliveries in flight.
 *
 * <p>A hit is an entry that was delivered but not read from storage. A hold keeps the delivered entries themselves.
 */
final class ReadOps {
    private ReadOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("read", "EntryCache.asyncReadEntry of a range", ReadOps::read),
                new Operation<>("read_one", "EntryCache.asyncReadEntry of a position", ReadOps::readOne),
                new Operation<>("release", "Entry.release of each entry that was held", ReadOps::release));
    }

    private static JsonObject read(Pip430Run run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        int reads = Math.toIntExact(step.number("expected_reads"));
        Refused.unless(first.getLedgerId() == last.getLedgerId(), "a read over two ledgers");
        Refused.unless(!reversed(first, last), "the range is reversed");
        refuseOpenHold(run, step);
        Storage storage = run.storage(first.getLedgerId());
        EntryCache cache = run.named(step).cache();
        return served(
                run,
                step,
                run.limiter.unlimited(() ->
                        Reading.range(cache, storage.handle(), first.getEntryId(), last.getEntryId(), reads)),
                storage.served);
    }

    private static JsonObject readOne(Pip430Run run, Args step) {
        Position position = position(step, "pos");
        refuseOpenHold(run, step);
        Storage storage = run.storage(position.getLedgerId());
        EntryCache cache = run.named(step).cache();
        List<Entry> one = run.limiter.unlimited(() -> Reading.one(cache, storage.handle(), position));
        return served(run, step, one, storage.served);
    }

    private static JsonObject release(Pip430Run run, Args step) {
        List<Entry> held = run.holds.remove(step.text("hold"));
        Refused.unless(held != null, "no such hold");
        held.forEach(Entry::release);
        return number("released", held.size());
    }

    static void refuseOpenHold(Pip430Run run, Args step) {
        Refused.unless(
                !step.has("hold") || !run.holds.containsKey(step.text("hold")) && !run.inflight.isOpen(step.text("hold")),
                "the hold is open");
    }

    private static JsonObject served(Pip430Run run, Args step, List<Entry> delivered, Set<Long> fromStorage) {
        JsonObject outcome = Answers.served(delivered, entry -> fromStorage.contains(entry.getEntryId()));
        keep(run, step, delivered);
        return outcome;
    }

    /** Holds the delivered entries, if there are any, under the name that the step gives, or releases them. */
    static void keep(Pip430Run run, Args step, List<Entry> delivered) {
        if (step.has("hold") && !delivered.isEmpty()) {
            run.holds.put(step.text("hold"), new ArrayList<>(delivered));
        } else {
            delivered.forEach(Entry::release);
        }
    }
}

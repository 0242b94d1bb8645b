package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.LegacyRun.position;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.List;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.Position;

/** The operations that read through a cache. A hit is an entry that was delivered but not read from storage. */
final class LegacyReadOps {
    private LegacyReadOps() {}

    static List<Operation<LegacyRun>> operations() {
        return List.of(
                new Operation<>(
                        "read", "EntryCache.asyncReadEntry of a range whose entries may be cached", LegacyReadOps::read),
                new Operation<>("read_one", "EntryCache.asyncReadEntry of a position", LegacyReadOps::readOne));
    }

    private static JsonObject read(LegacyRun run, Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        Refused.unless(first.getLedgerId() == last.getLedgerId(), "a read over two ledgers");
        Refused.unless(!Range.reversed(first, last), "the range is reversed");
        Storage storage = run.storage(first.getLedgerId());
        EntryCache cache = run.named(step).cache();
        Delivery delivery = new Delivery();
        cache.asyncReadEntry(storage.handle(), first.getEntryId(), last.getEntryId(), true, delivery, null);
        return served(delivery, storage);
    }

    private static JsonObject readOne(LegacyRun run, Args step) {
        Position position = position(step, "pos");
        Storage storage = run.storage(position.getLedgerId());
        EntryCache cache = run.named(step).cache();
        Delivery delivery = new Delivery();
        Era.readOne(cache, storage.handle(), position, delivery);
        return served(delivery, storage);
    }

    private static JsonObject served(Delivery delivery, Storage storage) {
        JsonObject outcome = Answers.served(
                delivery.entries(), entry -> storage.served.contains(entry.getEntryId()));
        delivery.entries().forEach(Entry::release);
        return outcome;
    }
}

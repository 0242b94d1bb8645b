package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.json;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.TreeSet;
import java.util.List;
import java.util.Set;
import org.apache.bookkeeper.mledger.AsyncCallbacks;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.EntryReadCountHandler;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgers;
import org.apache.pulsar.common.api.proto.CommandSubscribe.InitialPosition;

/**
 * The operations of level {@code ledger}: a managed ledger with its cursors.
 *
 * <p>The protocol refuses arguments that the released code would not be given, so this class checks them.
 */
final class LedgerOps {
    private LedgerOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("append", "ManagedLedgerImpl.asyncAddEntry, .rollCurrentLedgerIfFull", LedgerOps::append),
                new Operation<>(
                        "cursor_open",
                        "ManagedLedgerImpl.asyncOpenCursor and ManagedCursor.seek, or .newNonDurableCursor",
                        LedgerOps::open),
                new Operation<>("cursor_read", "ManagedCursor.asyncReadEntries", LedgerOps::read),
                new Operation<>("cursor_seek", "ManagedCursor.seek", LedgerOps::seek),
                new Operation<>("cursor_reset", "ManagedCursor.asyncResetCursor", LedgerOps::reset),
                new Operation<>("mark_delete", "ManagedCursor.asyncMarkDelete", LedgerOps::markDelete),
                new Operation<>("ack", "ManagedCursor.asyncDelete", LedgerOps::ack),
                new Operation<>("activate", "ManagedCursor.setActive", LedgerOps::activate),
                new Operation<>("deactivate", "ManagedCursor.setInactive", LedgerOps::deactivate),
                new Operation<>("cursor_close", "ManagedLedgerImpl.asyncDeleteCursor", LedgerOps::close),
                new Operation<>(
                        "replay_add", "EntryReadCountHandler.incrementExpectedReadCount, Entry.release", LedgerOps::replayAdd),
                new Operation<>("replay_read", "ManagedCursor.asyncReplayEntries", LedgerOps::replayRead),
                new Operation<>("delete_ledger", "ManagedLedgerImpl.doDeleteLedgers", LedgerOps::deleteLedger),
                new Operation<>("check_backlogs", "ManagedLedgerImpl.checkCursorsToCacheEntries", LedgerOps::checkBacklogs),
                new Operation<>("cursor_state", "ManagedCursor.getReadPosition and the like", LedgerOps::state));
    }

    private static JsonObject append(Pip430Run run, Args step) {
        String name = step.text("cache");
        Position position = position(step, "pos");
        int size = Math.toIntExact(step.number("size"));
        Refused.unless(size >= 0, "the size is negative");
        if (run.managed.has(name)) {
            ManagedLedgerImpl ledger = run.managed.ledger(step);
            if (!position.equals(nextAppend(ledger))) {
                Refused.unless(position.getEntryId() == 0, "not the next entry");
                Refused.unless(position.getLedgerId() > currentId(ledger), "not a new ledger");
                run.managed.claim(name, position.getLedgerId());
                run.managed.rollOver(ledger, position.getLedgerId());
            }
        } else {
            Refused.unless(!run.wasNamed(name), "the cache is not managed");
            Refused.unless(position.getEntryId() == 0, "not the first entry");
            run.managed.claim(name, position.getLedgerId());
            run.managed.open(name, position.getLedgerId());
        }
        Added added = new Added(run, name, position);
        ByteBuf payload = run.payloads.message(size, position.getEntryId());
        run.evictions.pause();
        run.managed.ledger(step).asyncAddEntry(payload, added, null);
        run.managed.tasks.runDry();
        run.evictions.goOn();
        payload.release();
        return added.answer();
    }

    private static JsonObject open(Pip430Run run, Args step) {
        ManagedLedgerImpl ledger = run.managed.ledger(step);
        String name = step.text("cursor");
        Refused.unless(run.managed.find(step).isEmpty(), "the name of the cursor is in use");
        Position position = valid(ledger, step);
        try {
            if (!step.flag("durable", true)) {
                ledger.newNonDurableCursor(before(ledger, position), name);
            } else {
                Opened opened = new Opened();
                ledger.asyncOpenCursor(name, InitialPosition.Earliest, opened, null);
                run.managed.tasks.runDry();
                opened.cursor.seek(position);
            }
        } catch (ManagedLedgerException failure) {
            throw new IllegalStateException("the cursor does not open", failure);
        }
        return done();
    }

    private static JsonObject read(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        int most = Math.toIntExact(step.number("max_entries"));
        Refused.unless(most >= 1, "nothing to read");
        Refused.unless(!run.managed.holdsReads, "storage does not answer at once");
        ReadOps.refuseOpenHold(run, step);
        Delivery delivery = new Delivery();
        cursor.asyncReadEntries(most, delivery, null, PositionFactory.LATEST);
        return served(run, step, delivery);
    }

    private static JsonObject replayRead(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        Set<Position> positions = replayed(run, step);
        Refused.unless(!run.managed.holdsReads, "storage does not answer at once");
        ReadOps.refuseOpenHold(run, step);
        Delivery delivery = new Delivery();
        Set<? extends Position> acknowledged = cursor.asyncReplayEntries(positions, delivery, null);
        if (acknowledged.size() == positions.size()) {
            delivery.readEntriesComplete(List.of(), null);
        }
        return served(run, step, delivery);
    }

    /** Returns the positions that a replay names. */
    static Set<Position> replayed(Pip430Run run, Args step) {
        Set<Position> positions = new TreeSet<>();
        step.list("positions").forEach(each -> positions.add(PositionFactory.create(
                each.getAsJsonArray().get(0).getAsLong(), each.getAsJsonArray().get(1).getAsLong())));
        Refused.unless(!positions.isEmpty(), "nothing to replay");
        for (Position position : positions) {
            Refused.unless(isThere(run.managed.ledger(step), position), "the position is not there");
        }
        return positions;
    }

    private static JsonObject served(Pip430Run run, Args step, Delivery delivery) {
        run.managed.tasks.runDry();
        List<Entry> entries = new ArrayList<>(delivery.entries());
        entries.sort(Comparator.comparing(Entry::getPosition));
        JsonObject outcome = Answers.served(entries, entry -> run.managed.stored.contains(entry.getPosition()));
        ReadOps.keep(run, step, entries);
        return outcome;
    }

    private static JsonObject seek(Pip430Run run, Args step) {
        run.managed.cursor(step).seek(valid(run.managed.ledger(step), step));
        return done();
    }

    private static JsonObject reset(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        run.inflight.refuseOpenRead(step);
        cursor.asyncResetCursor(valid(run.managed.ledger(step), step), false, new Reset());
        return done();
    }

    private static JsonObject markDelete(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        Position position = there(run.managed.ledger(step), step);
        Refused.unless(position.compareTo(cursor.getMarkDeletedPosition()) >= 0, "the position is mark-deleted");
        cursor.asyncMarkDelete(position, new Marked(), null);
        return done();
    }

    private static JsonObject ack(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        cursor.asyncDelete(there(run.managed.ledger(step), step), new Marked(), null);
        return done();
    }

    private static JsonObject activate(Pip430Run run, Args step) {
        run.managed.cursor(step).setActive();
        return done();
    }

    private static JsonObject deactivate(Pip430Run run, Args step) {
        run.managed.cursor(step).setInactive();
        return done();
    }

    private static JsonObject close(Pip430Run run, Args step) {
        run.managed.cursor(step);
        run.inflight.refuseOpenRead(step);
        run.managed.ledger(step).asyncDeleteCursor(step.text("cursor"), new Marked(), null);
        return done();
    }

    private static JsonObject replayAdd(Pip430Run run, Args step) {
        String hold = step.text("hold");
        Position position = position(step, "pos");
        List<Entry> held = run.holds.get(hold);
        Refused.unless(held != null, "no such hold");
        Entry entry = held.stream()
                .filter(each -> each.getPosition().equals(position))
                .findFirst()
                .orElseThrow(() -> new Refused("the position is not held"));
        EntryReadCountHandler counted = entry.getReadCountHandler();
        if (step.text("dispatcher").equals("key_shared") && counted != null) {
            counted.incrementExpectedReadCount();
        }
        held.remove(entry);
        entry.release();
        if (held.isEmpty()) {
            run.holds.remove(hold);
        }
        return done();
    }

    private static JsonObject deleteLedger(Pip430Run run, Args step) {
        ManagedLedgerImpl ledger = run.managed.ledger(step);
        long id = step.number("ledger");
        Refused.unless(id != currentId(ledger), "the ledger is the current one");
        Refused.unless(ledger.getLedgersInfo().containsKey(id), "no such ledger");
        run.inflight.refuseOpenReadOfCache(step);
        return run.leaving(() -> {
            ManagedLedgers.delete(ledger, id);
            run.managed.tasks.runDry();
        });
    }

    private static JsonObject checkBacklogs(Pip430Run run, Args step) {
        run.managed.ledger(step).checkCursorsToCacheEntries();
        return done();
    }

    private static JsonObject state(Pip430Run run, Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        JsonObject outcome = new JsonObject();
        outcome.add("read", json(cursor.getReadPosition()));
        outcome.add("mark_delete", json(cursor.getMarkDeletedPosition()));
        outcome.addProperty("active", cursor.isActive());
        return outcome;
    }

    // Positions.

    private static long currentId(ManagedLedgerImpl ledger) {
        return ledger.getLedgersInfo().lastKey();
    }

    private static Position nextAppend(ManagedLedgerImpl ledger) {
        return PositionFactory.create(
                ledger.getLastConfirmedEntry().getLedgerId(), ledger.getLastConfirmedEntry().getEntryId() + 1);
    }

    private static boolean isThere(ManagedLedgerImpl ledger, Position position) {
        return ledger.getLedgersInfo().containsKey(position.getLedgerId())
                && position.getEntryId() >= 0
                && (position.getLedgerId() == currentId(ledger)
                        ? position.compareTo(ledger.getLastConfirmedEntry()) <= 0
                        : position.getEntryId()
                                < ledger.getLedgersInfo().get(position.getLedgerId()).getEntries());
    }

    private static Position there(ManagedLedgerImpl ledger, Args step) {
        Position position = position(step, "pos");
        Refused.unless(isThere(ledger, position), "the position is not there");
        return position;
    }

    private static Position valid(ManagedLedgerImpl ledger, Args step) {
        Position position = position(step, "pos");
        Refused.unless(
                isThere(ledger, position) || position.equals(nextAppend(ledger)), "the position is not valid");
        return position;
    }

    private static Position before(ManagedLedgerImpl ledger, Position position) {
        return ledger.getPreviousPosition(position);
    }

    // Callbacks.

    /** Answers an append: looks at the cached entry before the size pass, which may take it. */
    private static final class Added implements AsyncCallbacks.AddEntryCallback {
        private final Pip430Run run;
        private final String cache;
        private final Position position;
        private JsonObject answer;

        Added(Pip430Run run, String cache, Position position) {
            this.run = run;
            this.cache = cache;
            this.position = position;
        }

        @Override
        public void addComplete(Position added, ByteBuf data, Object context) {
            if (!added.equals(position)) {
                throw new IllegalStateException("added at " + added + " instead of " + position);
            }
            RangeCacheEntryWrapper wrapper = Era.wrapper(run.caches.get(cache).range(), position);
            EntryReadCountHandler reads = wrapper == null ? null : wrapper.value.getReadCountHandler();
            answer = new JsonObject();
            answer.addProperty("cached", wrapper != null);
            answer.add("expected_reads", JsonNull.INSTANCE);
            if (reads != null) {
                answer.addProperty("expected_reads", reads.getExpectedReadCount());
            }
        }

        @Override
        public void addFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the append failed", failure);
        }

        JsonObject answer() {
            return answer;
        }
    }

    private static final class Opened implements AsyncCallbacks.OpenCursorCallback {
        private ManagedCursor cursor;

        @Override
        public void openCursorComplete(ManagedCursor opened, Object context) {
            cursor = opened;
        }

        @Override
        public void openCursorFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the cursor does not open", failure);
        }
    }

    private static final class Reset implements AsyncCallbacks.ResetCursorCallback {
        @Override
        public void resetComplete(Object context) {}

        @Override
        public void resetFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the reset failed", failure);
        }
    }

    private static final class Marked
            implements AsyncCallbacks.MarkDeleteCallback,
                    AsyncCallbacks.DeleteCallback,
                    AsyncCallbacks.DeleteCursorCallback {
        @Override
        public void markDeleteComplete(Object context) {}

        @Override
        public void markDeleteFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the mark-delete failed", failure);
        }

        @Override
        public void deleteComplete(Object context) {}

        @Override
        public void deleteFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the acknowledgement failed", failure);
        }

        @Override
        public void deleteCursorComplete(Object context) {}

        @Override
        public void deleteCursorFailed(ManagedLedgerException failure, Object context) {
            throw new IllegalStateException("the cursor does not close", failure);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.bookkeeper.mledger.AsyncCallbacks;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;

/** The operations of level {@code inflight}: reads of cursors that end in a later step than the one that begins them. */
final class InflightOps {
    /** A read that has not ended. */
    private record OpenRead(String cache, String cursor, String kind) {}

    private final Pip430Run run;
    private final Map<String, OpenRead> open = new HashMap<>();

    InflightOps(Pip430Run run) {
        this.run = run;
    }

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>(
                        "read_begin", "ManagedCursor.asyncReadEntries", (run, step) -> run.inflight.read(step)),
                new Operation<>(
                        "replay_begin", "ManagedCursor.asyncReplayEntries", (run, step) -> run.inflight.replay(step)),
                new Operation<>(
                        "run_invalidations",
                        "Runnable.run of what ManagedLedgerImpl.invalidateEntriesUpToSlowestReaderPosition gave its executor",
                        InflightOps::runInvalidations));
    }

    private JsonObject read(Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        int most = Math.toIntExact(step.number("max_entries"));
        Refused.unless(most >= 1, "nothing to read");
        cursor.asyncReadEntries(most, begin(step, "read"), null, PositionFactory.LATEST);
        return done();
    }

    private JsonObject replay(Args step) {
        ManagedCursor cursor = run.managed.cursor(step);
        Set<Position> positions = LedgerOps.replayed(run, step);
        Begun begun = begin(step, "replay");
        if (cursor.asyncReplayEntries(positions, begun, null).size() == positions.size()) {
            begun.readEntriesComplete(List.of(), null);
        }
        return done();
    }

    private Begun begin(Args step, String kind) {
        String name = step.text("read");
        OpenRead read = new OpenRead(step.text("cache"), step.text("cursor"), kind);
        Refused.unless(run.managed.holdsReads, "storage answers at once");
        Refused.unless(!open.containsKey(name) && !run.holds.containsKey(name), "the name is in use");
        Refused.unless(!open.containsValue(read), "the cursor has such a read");
        open.put(name, read);
        return new Begun(name);
    }

    private static JsonObject runInvalidations(Pip430Run run, Args step) {
        run.managed.ledger(step);
        Runnable due = run.managed.invalidations.remove(step.text("cache"));
        return due == null ? amount(0, 0) : run.leaving(due);
    }

    boolean isOpen(String read) {
        return open.containsKey(read);
    }

    /** Refuses the step if a read of its cursor is open. */
    void refuseOpenRead(Args step) {
        boolean reads = open.values().stream()
                .anyMatch(read -> read.cache.equals(step.text("cache")) && read.cursor.equals(step.text("cursor")));
        Refused.unless(!reads, "the cursor has an open read");
    }

    /** Refuses the step if a read of its cache is open. */
    void refuseOpenReadOfCache(Args step) {
        boolean reads = open.values().stream().anyMatch(read -> read.cache.equals(step.text("cache")));
        Refused.unless(!reads, "the cache has an open read");
    }

    /** Ends a read: its entries are held under its name. */
    private final class Begun implements AsyncCallbacks.ReadEntriesCallback {
        private final String name;

        Begun(String name) {
            this.name = name;
        }

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            List<Entry> entries = new ArrayList<>(delivered);
            entries.sort(Comparator.comparing(Entry::getPosition));
            open.remove(name);
            if (!entries.isEmpty()) {
                run.holds.put(name, entries);
            }
            run.asks.delivered(name, entries);
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException failure, Object context) {
            open.remove(name);
            run.asks.failed(name);
        }
    }
}

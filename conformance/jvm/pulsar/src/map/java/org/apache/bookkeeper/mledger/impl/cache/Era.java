package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;

/** The adapter's code for classes that differ between 4.2 or 5.0.0-M1 and release 5.0.1: one map, keyed by position. */
final class Era {
    /** The count of an entry without a count. */
    static final int NO_COUNT = 0;

    /** The dependencies that are stand-ins for the release's own. */
    static final String STAND_INS = "";

    /** The variants of the rules that differ from the default behaviour in this release. */
    static final Map<String, String> VARIANTS = new TreeMap<>(Map.of(
            "deleted_acks", "subtracted",
            "disabled_limit", "ignored",
            "failed_read", "counted",
            "due_everything", "replaced",
            "inner_ask", "longest",
            "limiter_order", "overtaking",
            "limiter_timeout", "leaves",
            "short_answer", "as-it-comes"));

    /** The inputs that the release cannot handle; each stands for the findings that {@link #FINDINGS} names. */
    static final Map<String, Object> LIMITS = new TreeMap<>(
            Map.of("null_positions", false, "readd_members", false, "heap_members", 5, "short_answers", false, "tail_ties", false));

    /** The findings that a limit or a variant stands for. */
    static final Map<String, String> FINDINGS = new TreeMap<>(Map.ofEntries(
            Map.entry("limits.null_positions", "cursor-untracked-keeps-rank, heap-null-position"),
            Map.entry("limits.readd_members", "heap-readded-leaves-ghost"),
            Map.entry("limits.heap_members", "heap-removal-breaks-order"),
            Map.entry("limits.short_answers", "short-answer-delivers-null"),
            Map.entry("limits.tail_ties", "cursor-rank-tail-tie"),
            Map.entry("variants.disabled_limit", "disabled-cache-ignores-read-limit"),
            Map.entry("variants.failed_read", "failed-read-uses-up-expected-reads"),
            Map.entry("variants.limiter_order", "limiter-overtakes"),
            Map.entry("variants.limiter_timeout", "limiter-timeout-serves-nobody"),
            Map.entry("variants.short_answer", "short-answer-leaves-hole, short-answer-delivers-null")));

    private static final Field ENTRIES = Released.field(RangeCache.class, "entries");

    private Era() {}

    static RangeCache emptyRange(RangeCacheRemovalQueue queue, String name) {
        return new RangeCache(queue, name);
    }

    /** Reads a range. */
    static void readRange(
            EntryCache cache, ReadHandle handle, long first, long last, IntSupplier count, ReadEntriesCallback callback) {
        cache.asyncReadEntry(handle, first, last, count, callback, null);
    }

    /** A ledger that is made without its constructor needs nothing more in this release. */
    static void complete(ManagedLedgerImpl ledger) {}

    /** Reads a range through a table of pending reads. */
    static void readPending(
            PendingReadsManager table,
            ReadHandle handle,
            long first,
            long last,
            IntSupplier count,
            ReadEntriesCallback callback) {
        table.readEntries(handle, first, last, count, callback, null);
    }

    /** This release has nothing to switch off. */
    static void switchOff(ManagedLedgerConfig settings) {}

    /** Returns the wrappers in ascending order. Reads fields only. */
    @SuppressWarnings("unchecked")
    static NavigableMap<Position, RangeCacheEntryWrapper> wrappers(RangeCache range) {
        return (NavigableMap<Position, RangeCacheEntryWrapper>) Released.get(ENTRIES, range);
    }

    /** Returns the wrapper at a position, or null if nothing is cached there. Reads fields only. */
    static RangeCacheEntryWrapper wrapper(RangeCache range, Position position) {
        return wrappers(range).get(position);
    }
}

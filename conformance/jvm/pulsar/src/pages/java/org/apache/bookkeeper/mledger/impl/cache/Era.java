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
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;

/** The adapter's code for classes that differ between 5.0.1 and the releases before it: pages of 64 slots. */
final class Era {
    /** The count of an entry without a count. */
    static final int NO_COUNT = EntryImpl.NO_EXPECTED_READ_COUNT;

    /** The dependencies that are stand-ins for the release's own. */
    static final String STAND_INS =
            "; bookkeeper-stats-api 4.18.0 and fastutil-core 8.5.18 stand in for what is not published";

    /** The variants of the rules that differ from the default behaviour in this release. */
    static final Map<String, String> VARIANTS = new TreeMap<>(Map.ofEntries(
            Map.entry("acked_window", "run-passed"),
            Map.entry("count_floor", "zero"),
            Map.entry("deleted_acks", "subtracted"),
            Map.entry("duplicate_count", "replaced"),
            Map.entry("failed_read", "counted"),
            Map.entry("due_everything", "replaced"),
            Map.entry("inner_ask", "longest"),
            Map.entry("limiter_order", "overtaking"),
            Map.entry("limiter_timeout", "leaves"),
            Map.entry("read_end", "last-confirmed"),
            Map.entry("replay", "grouped"),
            Map.entry("short_answer", "as-it-comes"),
            Map.entry("size_pass_rounds", "one"),
            Map.entry("zero_reads", "counted")));

    /** The inputs that the release cannot handle; each stands for the findings that {@link #FINDINGS} names. */
    static final Map<String, Object> LIMITS =
            new TreeMap<>(Map.of("null_positions", false, "readd_members", false, "heap_members", 5, "short_answers", false));

    /** The findings that a limit or a variant stands for. */
    static final Map<String, String> FINDINGS = new TreeMap<>(Map.ofEntries(
            Map.entry("limits.null_positions", "heap-null-position"),
            Map.entry("limits.readd_members", "heap-readded-leaves-ghost"),
            Map.entry("limits.heap_members", "heap-removal-breaks-order"),
            Map.entry("limits.short_answers", "short-answer-delivers-null"),
            Map.entry("variants.count_floor", "count-falls-below-zero"),
            Map.entry("variants.duplicate_count", "duplicate-erases-expected-reads"),
            Map.entry("variants.failed_read", "failed-read-uses-up-expected-reads"),
            Map.entry("variants.limiter_order", "limiter-overtakes"),
            Map.entry("variants.limiter_timeout", "limiter-timeout-serves-nobody"),
            Map.entry("variants.short_answer", "short-answer-leaves-hole, short-answer-delivers-null"),
            Map.entry("variants.size_pass_rounds", "size-pass-walks-on"),
            Map.entry("variants.zero_reads", "zero-expected-reads-cached")));

    private static final long NO_MAX_BYTES = -1;
    private static final Field LOG = Released.field(ManagedLedgerImpl.class, "log");
    private static final Field CLASS_LOG = Released.field(ManagedLedgerImpl.class, "slog");
    private static final Field PAGES = Released.field(RangeCache.class, "pages");

    private Era() {}

    static RangeCache emptyRange(RangeCacheRemovalQueue queue, String name) {
        return new RangeCache(queue);
    }

    /** Reads a range. This release has no limit in bytes. */
    static void readRange(
            EntryCache cache, ReadHandle handle, long first, long last, IntSupplier count, ReadEntriesCallback callback) {
        cache.asyncReadEntry(handle, first, last, NO_MAX_BYTES, count, callback, null);
    }

    /** Gives a ledger that is made without its constructor the log to which it tells read errors. */
    static void complete(ManagedLedgerImpl ledger) {
        Released.set(LOG, ledger, Released.get(CLASS_LOG, null));
    }

    /** Reads a range through a table of pending reads, without a limit in bytes. */
    static void readPending(
            PendingReadsManager table,
            ReadHandle handle,
            long first,
            long last,
            IntSupplier count,
            ReadEntriesCallback callback) {
        table.readEntries(handle, first, last, NO_MAX_BYTES, count, callback, null);
    }

    /** Switches read-ahead and reads of several entries at once off. */
    static void switchOff(ManagedLedgerConfig settings) {
        settings.setReadAheadEnabled(false);
        settings.setBatchReadEnabled(false);
    }

    /** Returns the wrappers in ascending order. Reads fields only. */
    static NavigableMap<Position, RangeCacheEntryWrapper> wrappers(RangeCache range) {
        NavigableMap<Position, RangeCacheEntryWrapper> all = new TreeMap<>();
        for (RangeCache.Page page : pages(range).values()) {
            for (int slot = 0; slot < RangeCache.PAGE_SIZE; slot++) {
                RangeCacheEntryWrapper wrapper = page.slots.get(slot);
                if (wrapper != null) {
                    long entry = (page.key.pageIndex() << RangeCache.PAGE_SHIFT) + slot;
                    all.put(PositionFactory.create(page.key.ledgerId(), entry), wrapper);
                }
            }
        }
        return all;
    }

    /** Returns the wrapper at a position, or null if nothing is cached there. Reads fields only. */
    static RangeCacheEntryWrapper wrapper(RangeCache range, Position position) {
        long entry = position.getEntryId();
        RangeCache.Page page =
                pages(range).get(new RangeCache.PageKey(position.getLedgerId(), entry >> RangeCache.PAGE_SHIFT));
        return page == null ? null : page.slots.get((int) (entry & (RangeCache.PAGE_SIZE - 1)));
    }

    @SuppressWarnings("unchecked")
    private static NavigableMap<RangeCache.PageKey, RangeCache.Page> pages(RangeCache range) {
        return (NavigableMap<RangeCache.PageKey, RangeCache.Page>) Released.get(PAGES, range);
    }
}

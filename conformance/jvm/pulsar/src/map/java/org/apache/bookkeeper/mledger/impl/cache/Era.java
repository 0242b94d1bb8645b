package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Position;

/** The classes of 4.2 and 5.0.0-M1, where they are shaped otherwise than those of 5.0.1: one map, by position. */
final class Era {
    /** The count of an entry that carries none. */
    static final int NO_COUNT = 0;

    /** What the release runs with that is not its own. */
    static final String STAND_INS = "";

    /** The readings of the rules that the release has, where they are not the norm. */
    static final Map<String, String> VARIANTS = Map.of();

    /** What the release cannot take; each stands for the findings that {@link #FINDINGS} names. */
    static final Map<String, Object> LIMITS = new TreeMap<>(
            Map.of("null_positions", false, "readd_members", false, "heap_members", 5, "tail_ties", false));

    /** The findings that a limit or a variant stands for. */
    static final Map<String, String> FINDINGS = new TreeMap<>(Map.of(
            "limits.null_positions",
            "cursor-untracked-keeps-rank, heap-null-position",
            "limits.readd_members", "heap-readded-leaves-ghost",
            "limits.heap_members", "heap-removal-breaks-order",
            "limits.tail_ties", "cursor-rank-tail-tie"));

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

    /** Ascending. Reads fields only. */
    @SuppressWarnings("unchecked")
    static NavigableMap<Position, RangeCacheEntryWrapper> wrappers(RangeCache range) {
        return (NavigableMap<Position, RangeCacheEntryWrapper>) Released.get(ENTRIES, range);
    }

    /** Null where nothing is cached. Reads fields only. */
    static RangeCacheEntryWrapper wrapper(RangeCache range, Position position) {
        return wrappers(range).get(position);
    }
}

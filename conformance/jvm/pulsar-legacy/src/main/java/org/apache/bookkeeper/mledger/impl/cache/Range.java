package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Map;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.util.RangeCache;
import org.apache.commons.lang3.tuple.Pair;

/**
 * The released {@code RangeCache} of one cache. It is called without type parameters, because its keys are {@code
 * PositionImpl} in 3.3 and {@code Position} since 4.0.
 */
@SuppressWarnings({"rawtypes", "unchecked"})
record Range(RangeCache released) {
    private static final Field ENTRIES_OF_CACHE = Released.field(RangeEntryCacheImpl.class, "entries");
    private static final Field ENTRIES = Released.field(RangeCache.class, "entries");

    /** Returns the range of a cache. A disabled cache has none, so it gets an empty one that no entry enters. */
    static Range of(EntryCache cache) {
        return new Range(
                cache instanceof RangeEntryCacheImpl
                        ? (RangeCache) Released.get(ENTRIES_OF_CACHE, cache)
                        : new RangeCache<>());
    }

    EntryImpl get(Position position) {
        return (EntryImpl) released.get((Comparable) position);
    }

    Collection<EntryImpl> between(Position first, Position last) {
        return released.getRange((Comparable) first, (Comparable) last);
    }

    boolean exists(Position position) {
        return released.exists((Comparable) position);
    }

    Pair<Integer, Long> remove(Position first, Position last, boolean lastInclusive) {
        return released.removeRange((Comparable) first, (Comparable) last, lastInclusive);
    }

    /** Returns the positions in ascending order. Reads a field only. */
    Collection<Position> positions() {
        return ((Map<Position, ?>) Released.get(ENTRIES, released)).keySet();
    }

    static boolean reversed(Position first, Position last) {
        return ((Comparable) first).compareTo(last) > 0;
    }
}

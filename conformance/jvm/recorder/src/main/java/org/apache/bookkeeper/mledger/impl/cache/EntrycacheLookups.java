package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.ConcurrentNavigableMap;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntrycacheCounts;

/** Hooks of lookups: hits, and misses of one position. */
public final class EntrycacheLookups {
    private static final Trace TRACE = Recorder.trace();
    private static final MethodHandle RETAIN = Handles.method(RangeCache.class, "getRetainedValueMatchingKey",
            ReferenceCountedEntry.class, Position.class, ReferenceCountedEntry.class);

    private EntrycacheLookups() { }

    /** Looks up a position for {@code RangeCache.get} and writes MISS if it is not in the map. */
    public static Object lookUp(ConcurrentNavigableMap<?, ?> entries, Object key, RangeCache cache) {
        TRACE.lock();
        try {
            Object found = entries.get(key);
            Context here = Context.here();
            here.looksUpOne = found != null;
            if (found == null && TRACE.on()) {
                missed(here, cache, (Position) key);
            }
            return found;
        } finally {
            TRACE.unlock();
        }
    }

    /** Defers the access mark until the entry is retained for the reader, so that both are one event. */
    public static void touch(RangeCacheEntryWrapper wrapper, boolean accessed) {
        if (!TRACE.on()) {
            wrapper.accessed = accessed;
            return;
        }
        Context here = Context.here();
        here.touched = wrapper;
        here.touchedStay = (Stay) (Object) EntrycacheQueue.STAY.get(wrapper);
    }

    /** Retains the entry for the reader and writes HIT, or MISS if the entry has left in the meantime. */
    public static ReferenceCountedEntry retain(RangeCache cache, Position key, ReferenceCountedEntry value) {
        Context here = Context.here();
        RangeCacheEntryWrapper wrapper = (RangeCacheEntryWrapper) here.touched;
        boolean one = here.looksUpOne;
        here.touched = null;
        here.looksUpOne = false;
        TRACE.lock();
        try {
            Stay stay = wrapper == null ? null : (Stay) (Object) EntrycacheQueue.STAY.get(wrapper);
            boolean there = stay != null && !stay.removed && stay.isAt(key.getLedgerId(), key.getEntryId());
            boolean accessed = there && wrapper.accessed;
            if (there || wrapper != null && !TRACE.on()) {
                wrapper.accessed = true;
            }
            ReferenceCountedEntry hit = retained(cache, key, value);
            if (TRACE.on()) {
                writeResult(here, cache, key, hit, there ? stay : here.touchedStay, there, wrapper, accessed, one);
            }
            return hit;
        } finally {
            here.touchedStay = null;
            TRACE.unlock();
        }
    }

    private static void writeResult(Context here, RangeCache cache, Position key, ReferenceCountedEntry hit, Stay stay,
            boolean there, RangeCacheEntryWrapper wrapper, boolean accessed, boolean one) {
        if (hit == null) {
            if (one) {
                missed(here, cache, key);
            }
            return;
        }
        Trace row = TRACE.row(Op.HIT).cause(cause(here)).cache(EntrycacheQueue.name(cache)).cursor(here.cursor)
                .set(Column.READ_ID, here.read)
                .position(key.getLedgerId(), key.getEntryId()).set(Column.EXPECTED_READS, EntrycacheCounts.of(hit));
        if (stay != null && stay.isAt(key.getLedgerId(), key.getEntryId())) {
            row.stay(stay);
        }
        if (there) {
            row.accessed(accessed).set(Column.STAMP_NS, wrapper.timestampNanos).set(Column.REQUEUES, wrapper.requeueCount);
        }
    }

    private static void missed(Context here, RangeCache cache, Position key) {
        TRACE.row(Op.MISS).cause(cause(here)).cache(EntrycacheQueue.name(cache)).cursor(here.cursor)
                .position(key.getLedgerId(), key.getEntryId());
    }

    private static Cause cause(Context here) {
        return here.replays ? Cause.REPLAY : Cause.READ;
    }

    private static ReferenceCountedEntry retained(RangeCache cache, Position key, ReferenceCountedEntry value) {
        try {
            return (ReferenceCountedEntry) RETAIN.invokeExact(cache, key, value);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Inserts an entry for {@code readFromStorage} and marks it as a fill. */
    public static boolean fill(RangeEntryCacheImpl cache, Entry entry) {
        Context here = Context.here();
        here.fills = true;
        try {
            return cache.insert(entry);
        } finally {
            here.fills = false;
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.commons.lang3.tuple.Pair;

/** Hooks of RangeEntryCacheManagerImpl, its handler, and of caches that are opened, emptied and closed. */
public final class EntrycacheManager {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle TRIGGER =
            Handles.field(RangeEntryCacheManagerImpl.class, "evictionTriggerThreshold", long.class);
    private static final VarHandle ENTRIES = Handles.field(RangeEntryCacheImpl.class, "entries", RangeCache.class);

    private EntrycacheManager() { }

    /** A manager was made; a trace is of one. */
    public static void made(RangeEntryCacheManagerImpl manager) {
        TRACE.lock();
        try {
            if (TRACE.on() && EntrycacheRest.manager != null) {
                Recorder.giveUp(TRACE, "a second cache manager began in this process");
            } else {
                EntrycacheRest.manager = manager;
                TRACE.managerBytes = 0;
                Recorder.atEnd(TRACE, EntrycacheRest::end);
            }
        } finally {
            TRACE.unlock();
        }
    }

    /** getEntryCache answers: a cache that is new is opened. */
    public static void opened(EntryCache cache) {
        if (!(cache instanceof RangeEntryCacheImpl known)) {
            return;
        }
        TRACE.lock();
        try {
            RangeCache entries = (RangeCache) ENTRIES.get(known);
            if (EntrycacheQueue.name(entries) == null) {
                EntrycacheQueue.NAME.set(entries, (Object) known.getName());
                if (TRACE.on()) {
                    EntrycacheRest.configured(known.getManagedLedgerConfig());
                    TRACE.row(Op.CACHE_OPEN).cache(known.getName());
                }
            }
        } finally {
            TRACE.unlock();
        }
    }

    /** removeEntryCache empties the cache that it takes away. */
    public static void close(EntryCache cache) {
        Context here = Context.here();
        here.closes = true;
        try {
            cache.clear();
        } finally {
            here.closes = false;
            TRACE.lock();
            try {
                if (TRACE.on()) {
                    Trace row = TRACE.row(Op.CACHE_CLOSE).cache(cache.getName());
                    row.set(Column.CALL_ID, here.removalCall(row.seq()));
                }
            } finally {
                TRACE.unlock();
            }
        }
    }

    /** What follows in invalidateEntries removes what a cursor has left behind. */
    public static void removesForCursor() {
        Context.here().removes(Cause.CURSOR);
    }

    /** What follows in invalidateAllEntries removes a ledger. */
    public static void removesLedger() {
        Context.here().removes(Cause.LEDGER);
    }

    /** What follows in clear removes all. */
    public static void clears() {
        Context.here().removes(Cause.CLEAR);
    }

    /** The manager's own counter changes. */
    public static long addAndGet(AtomicLong counter, long change) {
        TRACE.lock();
        try {
            TRACE.managerBytes = counter.addAndGet(change);
            return TRACE.managerBytes;
        } finally {
            TRACE.unlock();
        }
    }

    /** The manager reads its counter to see whether a size pass is needed; the pass begins with what was read. */
    public static long read(AtomicLong counter, RangeEntryCacheManagerImpl manager) {
        Context here = Context.here();
        TRACE.lock();
        try {
            long bytes = counter.get();
            long trigger = (long) TRIGGER.get(manager);
            long target = (long) (manager.getMaxSize() * manager.getCacheEvictionWatermark());
            Cause origin = here.cycle ? Cause.CYCLE : Cause.TRIGGER;
            here.cycle = false;
            if (TRACE.on() && bytes > trigger && bytes - target > 0) {
                EntrycachePass pass = EntrycachePass.ofSize(origin, bytes - target, trigger, target);
                pass.over(manager.getRangeCacheRemovalQueue()).begin();
                here.pass = pass;
            }
            return bytes;
        } finally {
            TRACE.unlock();
        }
    }

    /** The handler runs a size pass. */
    public static Pair<Integer, Long> evict(RangeCacheRemovalQueue queue, long bytes) {
        Context here = Context.here();
        EntrycachePass begun = (EntrycachePass) here.pass;
        if (begun == null || begun.bound != bytes) {
            end(here);
            here.pass = EntrycachePass.ofSize(Cause.CALL, bytes, Column.NULL, Column.NULL).over(queue);
        }
        try {
            return queue.evictLeastAccessedEntries(bytes);
        } finally {
            end(here);
        }
    }

    /** The handler runs a time pass; only a cycle does. */
    public static Pair<Integer, Long> expire(RangeCacheRemovalQueue queue, long cutoff) {
        Context here = Context.here();
        end(here);
        here.pass = EntrycachePass.ofTime(queue, cutoff);
        try {
            return queue.evictLEntriesBeforeTimestamp(cutoff);
        } finally {
            end(here);
            here.cycle = true;
        }
    }

    private static void end(Context here) {
        EntrycachePass pass = (EntrycachePass) here.pass;
        if (pass != null) {
            TRACE.lock();
            try {
                here.pass = null;
                if (TRACE.on()) {
                    pass.end(Column.NULL);
                }
            } finally {
                TRACE.unlock();
            }
        }
    }

    /** A setting was changed while the broker ran. */
    public static void changed() {
        TRACE.lock();
        try {
            if (TRACE.on()) {
                EntrycacheRest.configured(null);
            }
        } finally {
            TRACE.unlock();
        }
    }
}

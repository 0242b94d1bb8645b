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

    /** Registers a new manager. A second one ends the trace, because a trace has one manager. */
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

    /** Records a cache as opened when {@code getEntryCache} returns it for the first time. */
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

    /** Empties the cache that {@code removeEntryCache} removes, and writes CACHE_CLOSE. */
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

    /** Marks the removals that follow in {@code invalidateEntries} as caused by a cursor that moved on. */
    public static void removesForCursor() {
        Context.here().removes(Cause.CURSOR);
    }

    /** Marks the removals that follow in {@code invalidateAllEntries} as caused by a ledger. */
    public static void removesLedger() {
        Context.here().removes(Cause.LEDGER);
    }

    /** Marks the removals that follow as caused by {@code clear}. */
    public static void clears() {
        Context.here().removes(Cause.CLEAR);
    }

    /** Changes the manager's own counter and records its value. */
    public static long addAndGet(AtomicLong counter, long change) {
        TRACE.lock();
        try {
            TRACE.managerBytes = counter.addAndGet(change);
            return TRACE.managerBytes;
        } finally {
            TRACE.unlock();
        }
    }

    /** Reads the manager's counter and begins a size pass if the value requires one. */
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

    /** Runs a size pass for the handler. */
    public static Pair<Integer, Long> evict(RangeCacheRemovalQueue queue, long bytes) {
        Context here = Context.here();
        EntrycachePass started = (EntrycachePass) here.pass;
        if (started == null || started.bound != bytes) {
            end(here);
            here.pass = EntrycachePass.ofSize(Cause.CALL, bytes, Column.NULL, Column.NULL).over(queue);
        }
        try {
            return queue.evictLeastAccessedEntries(bytes);
        } finally {
            end(here);
        }
    }

    /** Runs a time pass for the handler; only a cycle runs one. */
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

    /** Writes the configuration after a setting changed while the broker runs. */
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

package org.apache.bookkeeper.mledger.impl;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.EntryReadCountHandler;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;

/** Hooks of the counts of expected reads. */
public final class EntrycacheCounts {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle STAY = Handles.field(EntryReadCountHandlerImpl.class, "entrycacheStay", Object.class);

    private static final VarHandle READ = Handles.field(EntryImpl.class, "entrycacheRead", Object.class);

    private EntrycacheCounts() { }

    /** Links a delivered entry to its read, until its release. */
    static void delivers(Entry entry, Long read) {
        if (entry instanceof EntryImpl delivered && delivered.getReadCountHandler() != null) {
            READ.set(delivered, (Object) read);
        }
    }

    /** Returns the count of an entry, or {@link Column#NULL} if it has none. */
    public static long of(ReferenceCountedEntry entry) {
        EntryReadCountHandler count = entry == null ? null : entry.getReadCountHandler();
        return count == null ? Column.NULL : count.getExpectedReadCount();
    }

    /** Links the count to a cached entry. */
    public static void begins(ReferenceCountedEntry entry, Stay stay) {
        if (entry.getReadCountHandler() instanceof EntryReadCountHandlerImpl count) {
            STAY.set(count, (Object) stay);
        }
    }

    /** Marks an entry as read when its last holder releases it. */
    public static void release(EntryReadCountHandler count, EntryImpl entry) {
        Context here = Context.here();
        Object outer = here.releases;
        here.releases = entry;
        try {
            count.markRead();
        } finally {
            here.releases = outer;
            READ.set(entry, (Object) null);
        }
    }

    /** Decrements a count and writes its row. */
    public static int down(AtomicIntegerFieldUpdater<?> updater, Object handler) {
        TRACE.lock();
        try {
            int count = decremented(updater, handler);
            if (TRACE.on()) {
                fell((EntryReadCountHandlerImpl) handler, count);
            }
            return count;
        } finally {
            TRACE.unlock();
        }
    }

    @SuppressWarnings("unchecked")
    private static int decremented(AtomicIntegerFieldUpdater<?> updater, Object handler) {
        return ((AtomicIntegerFieldUpdater<Object>) updater).decrementAndGet(handler);
    }

    private static void fell(EntryReadCountHandlerImpl handler, int count) {
        Context here = Context.here();
        Stay stay = (Stay) (Object) STAY.get(handler);
        if (here.releases != null && here.releases == here.rejected) {
            EntryImpl copy = (EntryImpl) here.rejected;
            here.rejected = null;
            TRACE.row(Op.READ_DONE).cause(Cause.REJECTED).position(copy.getLedgerId(), copy.getEntryId())
                    .set(Column.EXPECTED_READS, count);
        } else if (stay != null) {
            boolean own = here.releases != null && here.releases == stay.copy;
            if (own) {
                stay.copy = null;
            }
            if (own && here.leaving == stay) {
                here.leftCount = count;
            } else {
                Trace row = row(stay, own ? Cause.REMOVED : Cause.DELIVERED, count);
                if (!own) {
                    row.set(Column.ASK_ID, stay.ask).set(Column.READ_ID, readOf(here.releases));
                }
            }
        }
    }

    private static long readOf(Object entry) {
        Long read = entry == null ? null : (Long) (Object) READ.get((EntryImpl) entry);
        return read == null ? Column.NULL : read;
    }

    /**
     * Writes the row for the count that the copy released during a removal, after the row of the removal. `call` is
     * null if no call removed it.
     */
    public static void left(Context here, Stay stay, long call) {
        if (here.leftCount != Column.NULL) {
            row(stay, Cause.REMOVED, here.leftCount).set(Column.CALL_ID, call);
            here.leftCount = Column.NULL;
        }
    }

    private static Trace row(Stay stay, Cause cause, long count) {
        return TRACE.row(Op.READ_DONE).cause(cause).stay(stay).set(Column.EXPECTED_READS, count);
    }

    /** Increments a count and writes its row. */
    @SuppressWarnings("unchecked")
    public static int up(AtomicIntegerFieldUpdater<?> updater, Object handler) {
        TRACE.lock();
        try {
            int count = ((AtomicIntegerFieldUpdater<Object>) updater).incrementAndGet(handler);
            Stay stay = (Stay) (Object) STAY.get((EntryReadCountHandlerImpl) handler);
            if (stay != null && TRACE.on()) {
                TRACE.row(Op.EXPECT).stay(stay).set(Column.EXPECTED_READS, count);
            }
            return count;
        } finally {
            TRACE.unlock();
        }
    }
}

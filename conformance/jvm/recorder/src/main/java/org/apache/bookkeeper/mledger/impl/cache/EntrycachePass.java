package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import org.jctools.queues.MpscUnboundedArrayQueue;

/** One pass over the removal queue, and its rows. Guarded by the lock of the trace. */
final class EntrycachePass {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle MAX_REQUEUES =
            Handles.field(RangeCacheRemovalQueue.class, "maxRequeueCountWhenHasExpectedReads", int.class);
    private static final VarHandle EXTEND =
            Handles.field(RangeCacheRemovalQueue.class, "extendTTLOfRecentlyAccessed", boolean.class);

    private final Cause kind;
    private final Cause origin;
    private final long trigger;
    private final long target;
    private RangeCacheRemovalQueue settings;

    /** The bound at the beginning of the pass: the cutoff, or the bytes to free. */
    final long bound;

    /** The bytes removed so far; they count for size passes. */
    private long freed;
    private long id = Column.NULL;
    private boolean over;

    /** The queue of the broker, once the pass has read it. */
    MpscUnboundedArrayQueue<Object> queue;
    /** The slot that was already taken from the queue, and the slot that was already put back to its tail. */
    Object taken;
    Object putBack;

    private EntrycachePass(Cause kind, Cause origin, long bound, long trigger, long target) {
        this.kind = kind;
        this.origin = origin;
        this.bound = bound;
        this.trigger = trigger;
        this.target = target;
    }

    /** Returns a time pass. Its first row is written together with the second one, because most passes do nothing. */
    static EntrycachePass ofTime(RangeCacheRemovalQueue queue, long cutoff) {
        return new EntrycachePass(Cause.TIME, Cause.CYCLE, cutoff, Column.NULL, Column.NULL).over(queue);
    }

    /** Returns a size pass. */
    static EntrycachePass ofSize(Cause origin, long bytes, long trigger, long target) {
        return new EntrycachePass(Cause.SIZE, origin, bytes, trigger, target);
    }

    /** Sets the queue of the pass, whose settings are the effective ones. */
    EntrycachePass over(RangeCacheRemovalQueue removalQueue) {
        settings = removalQueue;
        return this;
    }

    boolean extendsAccessed() {
        return (boolean) EXTEND.get(settings);
    }

    /** Writes the first row unless it has been written. */
    void begin() {
        if (id == Column.NULL) {
            Trace row = aboutPass(TRACE.row(Op.PASS_BEGIN));
            id = row.seq();
            row.set(Column.PASS_ID, id);
        }
    }

    /** Begins a row about the slot that was just taken from the queue. */
    Trace row(Op op, Cause cause) {
        begin();
        return common(TRACE.row(op)).cause(cause).set(Column.HEAD_NO, TRACE.headNo - 1);
    }

    /** Adds the freed bytes, after the row of their removal. */
    void freed(long bytes) {
        freed += bytes;
    }

    Cause kind() {
        return kind;
    }

    /** Writes the last row if there is a first one; the stamp is that of the entry at the head. */
    void end(long stamp) {
        if (id != Column.NULL && !over) {
            over = true;
            aboutPass(TRACE.row(Op.PASS_END))
                    .set(Column.STAMP_NS, stamp)
                    .set(Column.TAIL_NO, TRACE.tailNo)
                    .set(Column.HEAD_NO, TRACE.headNo);
        }
    }

    private Trace aboutPass(Trace row) {
        return common(row).cause(kind).origin(origin).set(Column.TRIGGER_BYTES, trigger).set(Column.TARGET_BYTES, target);
    }

    private Trace common(Trace row) {
        row.set(Column.PASS_ID, id).set(Column.BOUND, kind == Cause.TIME ? bound : bound - freed);
        return row.set(Column.MAX_REQUEUES, (int) MAX_REQUEUES.get(settings)).extendAccessed((boolean) EXTEND.get(settings));
    }
}

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

    /** The bound at the beginning: the cutoff, or the bytes to free. */
    final long bound;

    /** Removed so far, in bytes; counts for size passes. */
    private long freed;
    private long id = Column.NULL;
    private boolean over;

    /** The queue of the broker, once it was looked at. */
    MpscUnboundedArrayQueue<Object> queue;
    /** A slot that was taken from the queue already, and that was put back to its tail. */
    Object taken;
    Object putBack;

    private EntrycachePass(Cause kind, Cause origin, long bound, long trigger, long target) {
        this.kind = kind;
        this.origin = origin;
        this.bound = bound;
        this.trigger = trigger;
        this.target = target;
    }

    /** A time pass; its first row is written with the second one: most passes do nothing. */
    static EntrycachePass ofTime(RangeCacheRemovalQueue queue, long cutoff) {
        return new EntrycachePass(Cause.TIME, Cause.CYCLE, cutoff, Column.NULL, Column.NULL).over(queue);
    }

    /** A size pass. */
    static EntrycachePass ofSize(Cause origin, long bytes, long trigger, long target) {
        return new EntrycachePass(Cause.SIZE, origin, bytes, trigger, target);
    }

    /** Says which queue it is over, whose settings are in force. */
    EntrycachePass over(RangeCacheRemovalQueue removalQueue) {
        settings = removalQueue;
        return this;
    }

    boolean extendsAccessed() {
        return (boolean) EXTEND.get(settings);
    }

    /** Writes the first row, if it is not there. */
    void begin() {
        if (id == Column.NULL) {
            Trace row = aboutPass(TRACE.row(Op.PASS_BEGIN));
            id = row.seq();
            row.set(Column.PASS_ID, id);
        }
    }

    /** Begins a row about the next slot, which has been taken from the queue. */
    Trace row(Op op, Cause cause) {
        begin();
        return common(TRACE.row(op)).cause(cause).set(Column.HEAD_NO, TRACE.headNo - 1);
    }

    /** What a removal frees counts after its row. */
    void freed(long bytes) {
        freed += bytes;
    }

    Cause kind() {
        return kind;
    }

    /** Writes the last row, if there was a first one; the stamp is that of the entry at the head. */
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

package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.function.Function;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntrycacheCounts;
import org.apache.bookkeeper.mledger.impl.cache.RangeCacheRemovalQueue.EvictionResult;
import org.jctools.queues.MpscUnboundedArrayQueue;

/** Hooks of RangeCache and RangeCacheRemovalQueue: entries that are inserted, requeued and removed. */
public final class EntrycacheQueue {
    static final VarHandle STAY = Handles.field(RangeCacheEntryWrapper.class, "entrycacheStay", Object.class);
    static final VarHandle NAME = Handles.field(RangeCache.class, "entrycacheName", Object.class);

    private static final Trace TRACE = Recorder.trace();

    /** The queue of this broker, once it has received a slot. */
    static MpscUnboundedArrayQueue<Object> queue;

    private EntrycacheQueue() { }

    /** Creates a slot for {@code RangeCache.put} and makes its insertion into the map and into the queue one event. */
    public static <R> R newInstance(RangeCache cache, Position key, ReferenceCountedEntry value, long size,
            Function<RangeCacheEntryWrapper, R> put) {
        return RangeCacheEntryWrapper.withNewInstance(cache, key, value, size, wrapper -> {
            TRACE.lock();
            try {
                R added = put.apply(wrapper);
                if (Boolean.FALSE.equals(added) && TRACE.on()) {
                    Context.here().rejected = value;
                    TRACE.row(Op.REJECT).cause(Cause.DUPLICATE).cache(name(cache))
                            .position(key.getLedgerId(), key.getEntryId()).set(Column.SIZE_BYTES, size);
                }
                return added;
            } finally {
                TRACE.unlock();
            }
        });
    }

    /** Adds the slot of a new entry to the queue and writes INSERT. */
    @SuppressWarnings("unchecked")
    public static boolean offer(MpscUnboundedArrayQueue<?> removalQueue, Object slot) {
        MpscUnboundedArrayQueue<Object> slots = (MpscUnboundedArrayQueue<Object>) removalQueue;
        TRACE.lock();
        try {
            boolean offered = slots.offer(slot);
            if (offered && TRACE.on()) {
                queue = slots;
                inserted((RangeCacheEntryWrapper) slot);
                if (TRACE.partIsFull()) {
                    EntrycacheRest.rotate();
                }
            }
            return offered;
        } finally {
            TRACE.unlock();
        }
    }

    private static void inserted(RangeCacheEntryWrapper wrapper) {
        Position key = wrapper.key;
        long size = wrapper.size;
        TRACE.bytes += size;
        TRACE.entries++;
        long ticket = TRACE.tailNo++;
        String cache = name(wrapper.rangeCache);
        Trace row = TRACE.row(Op.INSERT);
        Stay stay = new Stay(cache, key.getLedgerId(), key.getEntryId(), size, row.seq(), ticket, wrapper.value);
        STAY.set(wrapper, (Object) stay);
        EntrycacheCounts.begins(wrapper.value, stay);
        Context here = Context.here();
        if (here.fills) {
            stay.ask = here.fillAsk;
            row.cursor(here.fillCursor).set(Column.CALL_ID, here.fillCall(row.seq())).set(Column.ASK_ID, here.fillAsk);
        }
        row.stay(stay).cause(here.fills ? Cause.FILL : Cause.ADD)
                .set(Column.EXPECTED_READS, EntrycacheCounts.of(wrapper.value))
                .set(Column.REQUEUES, wrapper.requeueCount)
                .accessed(wrapper.accessed)
                .set(Column.NEW_STAMP_NS, wrapper.timestampNanos)
                .set(Column.TAIL_NO, ticket);
    }

    /** Reads the head of the queue, and ends the current pass if the queue is empty. */
    @SuppressWarnings("unchecked")
    public static Object peek(MpscUnboundedArrayQueue<?> removalQueue) {
        Object head = removalQueue.peek();
        EntrycachePass pass = (EntrycachePass) Context.here().pass;
        if (pass == null) {
            return head;
        }
        pass.queue = (MpscUnboundedArrayQueue<Object>) removalQueue;
        if (head == null) {
            TRACE.lock();
            try {
                head = removalQueue.peek();
                if (head == null && TRACE.on()) {
                    pass.end(Column.NULL);
                }
            } finally {
                TRACE.unlock();
            }
        }
        return head;
    }

    /** Decides about the slot at the head, and takes it from the queue under the same lock. */
    public static <R> R decide(RangeCacheEntryWrapper slot, Function<RangeCacheEntryWrapper, R> decision) {
        return slot.withWriteLock(wrapper -> {
            Context here = Context.here();
            TRACE.lock();
            try {
                boolean isRecorded = TRACE.on() && here.pass != null && STAY.get(wrapper) != null;
                return isRecorded ? decided(here, wrapper, decision) : decision.apply(wrapper);
            } finally {
                TRACE.unlock();
            }
        });
    }

    private static <R> R decided(Context here, RangeCacheEntryWrapper wrapper,
            Function<RangeCacheEntryWrapper, R> decision) {
        EntrycachePass pass = (EntrycachePass) here.pass;
        Stay stay = (Stay) (Object) STAY.get(wrapper);
        Before before = new Before(wrapper);
        here.leaving = stay;
        here.leftCount = Column.NULL;
        R result = decision.apply(wrapper);
        here.leaving = null;
        switch ((EvictionResult) (Object) result) {
            case STOP -> pass.end(before.stamp);
            case MISSING -> tombstone(pass, stay);
            case REMOVE -> evicted(here, pass, stay, before);
            case REQUEUE -> requeued(pass, stay, before, wrapper);
        }
        return result;
    }

    private static void tombstone(EntrycachePass pass, Stay stay) {
        pass.begin();
        take(pass);
        pass.row(Op.TOMBSTONE, pass.kind()).set(Column.LIFE, stay.life).set(Column.TICKET, stay.ticket);
    }

    private static void evicted(Context here, EntrycachePass pass, Stay stay, Before before) {
        pass.begin();
        take(pass);
        TRACE.bytes -= stay.size;
        TRACE.entries--;
        stay.removed = true;
        before.fill(pass.row(Op.EVICT, pass.kind()).stay(stay).set(Column.TICKET, stay.ticket));
        pass.freed(stay.size);
        EntrycacheCounts.left(here, stay, Column.NULL);
    }

    private static void requeued(EntrycachePass pass, Stay stay, Before before, RangeCacheEntryWrapper wrapper) {
        pass.begin();
        long ticket = stay.ticket;
        take(pass);
        stay.ticket = TRACE.tailNo++;
        pass.queue.offer(pass.taken);
        pass.putBack = pass.taken;
        Cause cause = before.accessed && pass.extendsAccessed() ? Cause.ACCESSED : Cause.EXPECTED_READS;
        before.fill(pass.row(Op.REQUEUE, cause).stay(stay).set(Column.TICKET, ticket).set(Column.TAIL_NO, stay.ticket))
                .set(Column.REQUEUES, wrapper.requeueCount)
                .set(Column.NEW_STAMP_NS, wrapper.timestampNanos);
    }

    private static void take(EntrycachePass pass) {
        pass.taken = pass.queue.poll();
        TRACE.headNo++;
    }

    /** Polls the queue for {@code handleQueue}, or returns the slot that the pass has already taken. */
    public static Object poll(MpscUnboundedArrayQueue<?> removalQueue) {
        EntrycachePass pass = (EntrycachePass) Context.here().pass;
        if (pass == null || pass.taken == null) {
            return removalQueue.poll();
        }
        Object taken = pass.taken;
        pass.taken = null;
        return taken;
    }

    /** Puts a slot back for {@code handleQueue}, unless the pass has already done so. */
    @SuppressWarnings("unchecked")
    public static boolean add(MpscUnboundedArrayQueue<?> removalQueue, Object slot) {
        EntrycachePass pass = (EntrycachePass) Context.here().pass;
        if (pass == null || pass.putBack != slot) {
            return ((MpscUnboundedArrayQueue<Object>) removalQueue).add(slot);
        }
        pass.putBack = null;
        return true;
    }

    /** Removes an entry for a call and writes REMOVE; its slot stays in the queue. */
    public static <R> R remove(RangeCacheEntryWrapper slot, Function<RangeCacheEntryWrapper, R> removal) {
        return slot.withWriteLock(wrapper -> {
            Context here = Context.here();
            TRACE.lock();
            try {
                Stay stay = (Stay) (Object) STAY.get(wrapper);
                Before before = new Before(wrapper);
                here.leaving = stay;
                here.leftCount = Column.NULL;
                R removed = removal.apply(wrapper);
                here.leaving = null;
                if (Boolean.TRUE.equals(removed) && stay != null && TRACE.on()) {
                    TRACE.bytes -= stay.size;
                    TRACE.entries--;
                    stay.removed = true;
                    Trace row = TRACE.row(Op.REMOVE).cause(here.closes ? Cause.CLOSE : here.removal).stay(stay);
                    long call = here.removalCall(row.seq());
                    before.fill(row.set(Column.CALL_ID, call));
                    EntrycacheCounts.left(here, stay, call);
                }
                return removed;
            } finally {
                TRACE.unlock();
            }
        });
    }

    /** Ends the trace because a test rotated the queue, so that the recorder no longer knows its order. */
    public static void rotated() {
        TRACE.lock();
        try {
            if (TRACE.on()) {
                Recorder.giveUp(TRACE, "forEachEntry of the removal queue was called, which turns it round");
            }
        } finally {
            TRACE.unlock();
        }
    }

    static String name(RangeCache cache) {
        return cache == null ? null : (String) (Object) NAME.get(cache);
    }

    /** The state of an entry before an event. */
    private static final class Before {
        final boolean accessed;
        final long stamp;
        private final int requeues;
        private final long expected;

        Before(RangeCacheEntryWrapper wrapper) {
            accessed = wrapper.accessed;
            stamp = wrapper.timestampNanos;
            requeues = wrapper.requeueCount;
            expected = EntrycacheCounts.of(wrapper.value);
        }

        Trace fill(Trace row) {
            return row.accessed(accessed).set(Column.STAMP_NS, stamp).set(Column.REQUEUES, requeues)
                    .set(Column.EXPECTED_READS, expected);
        }
    }
}

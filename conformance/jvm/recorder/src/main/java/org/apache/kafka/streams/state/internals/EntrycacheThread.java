package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The recorder's state of one ThreadCache: its trace and the calls in progress.
 *
 * <p>Mostly one thread calls the cache, but a state updater flushes the namespaces of the tasks that it restores.
 */
final class EntrycacheThread {
    private static final VarHandle SIZE = Handles.field(ThreadCache.class, "sizeInBytes", AtomicLong.class);
    private static final VarHandle LIMIT = Handles.field(ThreadCache.class, "maxCacheSizeBytes", long.class);

    /** The outermost call of one thread. */
    private static final class Call {
        private int depth;
        private long id = Column.NULL;
    }

    final Trace trace;
    private final ThreadCache cache;
    private final ThreadLocal<Call> calls = ThreadLocal.withInitial(Call::new);
    private volatile Thread user;
    private volatile boolean many;

    EntrycacheThread(Trace trace, ThreadCache cache) {
        this.trace = trace;
        this.cache = cache;
    }

    /** Begins a call. A call nested in another one, made by a listener, belongs to the outer call. */
    void enter(boolean uses) {
        Call call = calls.get();
        if (call.depth++ == 0) {
            call.id = Column.NULL;
        }
        Thread now = Thread.currentThread();
        if (!uses || user == now || many) {
            return;
        }
        if (user == null) {
            user = now;
        } else {
            many = true;
            Recorder.manyThreads();
        }
    }

    /** Ends a call. */
    void exit() {
        Call call = calls.get();
        call.depth = Math.max(0, call.depth - 1);
    }

    /**
     * Begins a row; the caller holds the lock. The cache's own total is recorded only if no change of it can be in
     * progress.
     */
    Trace row(Op op, boolean isQuiescent) {
        Call call = calls.get();
        trace.managerBytes = isQuiescent && call.depth <= 1 && !many ? total() : Column.NULL;
        Trace row = trace.row(op);
        if (call.id == Column.NULL || call.depth == 0) {
            call.id = row.seq();
        }
        return row.set(Column.CALL_ID, call.id);
    }

    private long total() {
        return ((AtomicLong) SIZE.get(cache)).get();
    }

    /** Writes the limit. */
    void configured() {
        trace.lock();
        try {
            if (trace.on()) {
                row(Op.CONFIG, false).value("{\"max_size_bytes\":" + (long) LIMIT.getVolatile(cache) + "}");
            }
        } finally {
            trace.unlock();
        }
    }

    /** Writes the last rows. */
    void end() {
        row(Op.METRICS, true).value("{\"puts\":" + cache.puts() + ",\"gets\":" + cache.gets() + ",\"evicts\":" + cache.evicts()
                + ",\"flushes\":" + cache.flushes() + "}");
        row(Op.END, true).value("{\"entries\":" + trace.entries + ",\"bytes\":" + trace.bytes + ",\"slots\":0}");
    }
}

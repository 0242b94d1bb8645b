package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.impl.EntrycacheCursors;

/** Hooks of reads that overlap in time: asks of storage, what they bring, and permits. */
public final class EntrycacheReads {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle CACHE =
            Handles.field(PendingReadsManager.class, "rangeEntryCache", RangeEntryCacheImpl.class);
    private static final VarHandle FIRST = Handles.field(key(), "startEntry", long.class);
    private static final VarHandle LAST = Handles.field(key(), "endEntry", long.class);
    private static final VarHandle LIMIT = Handles.field(InflightReadsLimiter.class, "maxReadsInFlightSize", long.class);
    private static final VarHandle PLACES =
            Handles.field(InflightReadsLimiter.class, "maxReadsInFlightAcquireQueueSize", int.class);
    private static final VarHandle TIMEOUT = Handles.field(InflightReadsLimiter.class, "acquireTimeoutMillis", long.class);

    /** The numbers of requests that had to wait, and of those that wait no longer; guarded by the lock of the trace. */
    private static long queued;
    private static long decided;

    private EntrycacheReads() { }

    /** One read of storage: the seq of its row, and its range. */
    private record Ask(long seq, String cache, long ledger, long first, long last) { }

    /** A supplier that belongs to an ask; the thread that fills calls it before the first fill. */
    private record Asking(IntSupplier expected, Ask ask) implements IntSupplier {
        @Override
        public int getAsInt() {
            return expected.getAsInt();
        }
    }

    private static Class<?> key() {
        try {
            return Class.forName(PendingReadsManager.class.getName() + "$PendingReadKey", false,
                    PendingReadsManager.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Notes the ledger and the cursor of a range that is read from storage. */
    public static void reading(ReadHandle ledger, IntSupplier expected) {
        Context here = Context.here();
        here.askedLedger = ledger.getId();
        here.askedCursor = expected instanceof EntrycacheCursors.Filling filling ? filling.cursor() : null;
    }

    /** Puts an ask into the table of its ledger, whose lock the caller holds, and writes ASK. */
    @SuppressWarnings("unchecked")
    public static Object ask(ConcurrentMap<?, ?> asks, Object range, Object read, PendingReadsManager manager) {
        Context here = Context.here();
        TRACE.lock();
        try {
            if (TRACE.on()) {
                String cache = ((RangeEntryCacheImpl) CACHE.get(manager)).getName();
                long first = (long) FIRST.get(range);
                long last = (long) LAST.get(range);
                Trace row = TRACE.row(Op.ASK).cache(cache).cursor(here.askedCursor).position(here.askedLedger, first)
                        .set(Column.LAST_ENTRY_ID, last);
                row.set(Column.ASK_ID, row.seq());
                here.newAsk = new Ask(row.seq(), cache, here.askedLedger, first, last);
            }
            return ((ConcurrentMap<Object, Object>) asks).put(range, read);
        } finally {
            TRACE.unlock();
        }
    }

    /** Reads from storage for the ask that this thread has just made. */
    public static CompletableFuture<List<Entry>> fromStorage(RangeEntryCacheImpl cache, ReadHandle ledger, long first,
            long last, IntSupplier expected) {
        Context here = Context.here();
        Ask ask = (Ask) here.newAsk;
        here.newAsk = null;
        if (ask == null) {
            return cache.readFromStorage(ledger, first, last, expected);
        }
        return cache.readFromStorage(ledger, first, last, new Asking(expected, ask)).whenComplete((entries, error) -> {
            if (error != null) {
                write(ask, isBusy(error) ? Cause.BUSY : Cause.FAIL, ask.last());
            }
        });
    }

    /** Asks for the count of the fills after writing the ANSWER that brings them. */
    public static int answered(IntSupplier expected, LedgerEntries entries) {
        Context here = Context.here();
        here.fillAsk = Column.NULL;
        if (expected instanceof Asking asking) {
            Ask ask = asking.ask();
            long last = ask.first() - 1;
            for (LedgerEntry entry : entries) {
                last = Math.max(last, entry.getEntryId());
            }
            write(ask, last < ask.last() ? Cause.SHORT : Cause.ALL, last);
            here.fillAsk = ask.seq();
        }
        return expected.getAsInt();
    }

    private static void write(Ask ask, Cause cause, long last) {
        TRACE.lock();
        try {
            if (TRACE.on()) {
                TRACE.row(Op.ANSWER).cause(cause).cache(ask.cache()).position(ask.ledger(), ask.first())
                        .set(Column.LAST_ENTRY_ID, last).set(Column.ASK_ID, ask.seq());
            }
        } finally {
            TRACE.unlock();
        }
    }

    private static boolean isBusy(Throwable error) {
        Throwable cause = error;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof BKException failure && failure.getCode() == BKException.Code.TooManyRequestsException;
    }

    /** Writes the decision of the limiter, whose lock the caller holds, about a new request. */
    public static void acquired(Optional<InflightReadsLimiter.Handle> decision, InflightReadsLimiter limiter, long permits) {
        TRACE.lock();
        try {
            if (decision.isEmpty()) {
                permit(Cause.QUEUED, permits, permits, Column.TAIL_NO, queued++);
            } else if (decision.get().success()) {
                permit(Cause.TAKEN, decision.get().permits(), permits, Column.TICKET, Column.NULL);
            } else {
                permit(Cause.REFUSED, permits, permits, Column.TICKET, Column.NULL);
            }
        } finally {
            TRACE.unlock();
        }
    }

    /** Writes the permits that come back. */
    public static void released(InflightReadsLimiter.Handle handle) {
        TRACE.lock();
        try {
            permit(Cause.GIVEN, handle.permits(), Column.NULL, Column.TICKET, Column.NULL);
        } finally {
            TRACE.unlock();
        }
    }

    /** Writes what the request at the head, which has left the queue, is granted. */
    public static void served(InflightReadsLimiter limiter, InflightReadsLimiter.QueuedHandle head) {
        long permits = head.handle().permits();
        TRACE.lock();
        try {
            permit(Cause.TAKEN, Math.min(permits, (long) LIMIT.get(limiter)), permits, Column.TICKET, decided++);
        } finally {
            TRACE.unlock();
        }
    }

    /** Writes that the request at the head, which has left the queue, has waited for too long. */
    public static void timedOut(InflightReadsLimiter.QueuedHandle head) {
        long permits = head.handle().permits();
        TRACE.lock();
        try {
            permit(Cause.REFUSED, permits, permits, Column.TICKET, decided++);
        } finally {
            TRACE.unlock();
        }
    }

    private static void permit(Cause cause, long permits, long requested, Column numbered, long place) {
        if (TRACE.on()) {
            TRACE.row(Op.PERMIT).cause(cause).set(Column.PERMITS, permits).set(Column.BOUND, requested).set(numbered, place);
        }
    }

    /** Returns the settings of the limiter as members of a JSON object. */
    static String configuration(InflightReadsLimiter limiter) {
        return ",\"max_reads_in_flight_bytes\":" + Math.max(0, (long) LIMIT.get(limiter))
                + ",\"acquire_queue\":" + (int) PLACES.get(limiter)
                + ",\"acquire_timeout_millis\":" + Math.max(0, (long) TIMEOUT.get(limiter));
    }
}

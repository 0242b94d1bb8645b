package org.apache.bookkeeper.mledger.impl;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.cache.EntryCache;

/** Hooks of the container of active cursors, of added entries that are not cached, and of the readers. */
public final class EntrycacheCursors {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle NAME =
            Handles.field(ActiveManagedCursorContainerImpl.class, "entrycacheName", Object.class);
    private static final VarHandle READ = Handles.field(OpReadEntry.class, "entrycacheRead", Object.class);
    private static final VarHandle LENGTH = Handles.field(OpAddEntry.class, "dataLength", int.class);

    private EntrycacheCursors() { }

    /** Looks up the cursor for {@code add}, which holds its lock, and writes CURSOR_ADD. */
    public static Object add(ConcurrentMap<?, ?> cursors, Object name, ActiveManagedCursorContainerImpl container,
            ManagedCursor cursor, Position position) {
        String cache = cursor.getManagedLedger().getName();
        NAME.set(container, (Object) cache);
        row(Op.CURSOR_ADD, cache, (String) name, position);
        return cursors.get(name);
    }

    /**
     * Looks up the cursor for {@code updateCursor}, which holds its lock, and writes CURSOR_MOVE if the cursor is
     * present.
     */
    public static Object move(ConcurrentMap<?, ?> cursors, Object name, ActiveManagedCursorContainerImpl container,
            Position position) {
        Object known = cursors.get(name);
        if (known != null) {
            row(Op.CURSOR_MOVE, (String) (Object) NAME.get(container), (String) name, position);
        }
        return known;
    }

    /**
     * Removes the cursor for {@code removeCursor}, which holds its lock, and writes CURSOR_REMOVE if it was present.
     */
    public static Object remove(ConcurrentMap<?, ?> cursors, Object name, ActiveManagedCursorContainerImpl container) {
        Object known = cursors.remove(name);
        if (known != null) {
            row(Op.CURSOR_REMOVE, (String) (Object) NAME.get(container), (String) name, null);
        }
        return known;
    }

    private static void row(Op op, String cache, String cursor, Position position) {
        TRACE.lock();
        try {
            if (TRACE.on()) {
                Trace row = TRACE.row(op).cache(cache).cursor(cursor);
                if (position != null) {
                    row.position(position.getLedgerId(), position.getEntryId());
                }
            }
        } finally {
            TRACE.unlock();
        }
    }

    /** Returns whether any cursor would read the entry that OpAddEntry adds; writes SKIP if none would. */
    public static boolean wanted(ManagedLedgerImpl ledger, OpAddEntry add) {
        boolean wanted = ledger.shouldCacheAddedEntry();
        if (!wanted && add.ledger != null) {
            TRACE.lock();
            try {
                if (TRACE.on()) {
                    TRACE.row(Op.SKIP).cause(Cause.NOT_WANTED).cache(ledger.getName())
                            .position(add.ledger.getId(), add.entryId)
                            .set(Column.SIZE_BYTES, (int) LENGTH.get(add));
                }
            } finally {
                TRACE.unlock();
            }
        }
        return wanted;
    }

    /** Replays a position for a cursor. */
    public static void replay(ManagedLedgerImpl ledger, Position position, ReadEntryCallback callback, Object context,
            ManagedCursorImpl cursor) {
        Context here = Context.here();
        here.replays = true;
        here.cursor = cursor.getName();
        try {
            ledger.asyncReadEntry(position, callback, context);
        } finally {
            here.replays = false;
            here.cursor = null;
        }
    }

    /** Continues a read once its ledger is open, with the context of the calling thread. */
    public static <T> CompletableFuture<Void> opened(CompletableFuture<T> ledger, Consumer<T> read) {
        String cursor = Context.here().cursor;
        if (!Context.here().replays) {
            return ledger.thenAccept(read);
        }
        return ledger.thenAccept(handle -> {
            Context here = Context.here();
            boolean outerReplays = here.replays;
            String outerCursor = here.cursor;
            here.replays = true;
            here.cursor = cursor;
            try {
                read.accept(handle);
            } finally {
                here.replays = outerReplays;
                here.cursor = outerCursor;
            }
        });
    }

    /** A supplier that also sets the cursor of the fills; a read from storage calls it on the thread that fills. */
    public record Filling(IntSupplier expected, String cursor) implements IntSupplier {
        @Override
        public int getAsInt() {
            Context here = Context.here();
            here.fillCursor = cursor;
            here.fillCall = Column.NULL;
            return expected.getAsInt();
        }
    }

    /** Reads entries for a cursor. */
    public static void read(EntryCache cache, ReadHandle handle, long first, long last, IntSupplier expected,
            ReadEntriesCallback callback, Object context, OpReadEntry by) {
        Context here = Context.here();
        Long read = (Long) (Object) READ.getVolatile(by);
        here.cursor = by.cursor == null ? null : by.cursor.getName();
        here.read = read == null ? Column.NULL : read;
        try {
            cache.asyncReadEntry(handle, first, last, new Filling(expected, here.cursor), callback, context);
        } finally {
            here.cursor = null;
            here.read = Column.NULL;
        }
    }

    /** Writes READ_BEGIN when a read asks for entries for the first time; a read that waits for entries has not begun. */
    public static void begins(OpReadEntry read) {
        if (READ.getVolatile(read) != null || read.cursor == null) {
            return;
        }
        TRACE.lock();
        try {
            if (TRACE.on()) {
                Trace row = row(Op.READ_BEGIN, read);
                row.set(Column.READ_ID, row.seq());
                READ.setVolatile(read, (Object) Long.valueOf(row.seq()));
            }
        } finally {
            TRACE.unlock();
        }
    }

    /** Writes READ_END and hands the entries over. */
    public static void done(ReadEntriesCallback callback, List<Entry> entries, Object context, OpReadEntry read) {
        Long id = ends(read, Cause.DONE);
        if (id != null) {
            entries.forEach(entry -> EntrycacheCounts.delivers(entry, id));
        }
        callback.readEntriesComplete(entries, context);
    }

    /** Writes READ_END of a read that fails, and reports the failure. */
    public static void failed(ReadEntriesCallback callback, ManagedLedgerException error, Object context, OpReadEntry read) {
        ends(read, Cause.FAILED);
        callback.readEntriesFailed(error, context);
    }

    private static Long ends(OpReadEntry read, Cause cause) {
        Long id = (Long) (Object) READ.getVolatile(read);
        READ.setVolatile(read, (Object) null);
        if (id != null) {
            TRACE.lock();
            try {
                if (TRACE.on()) {
                    row(Op.READ_END, read).cause(cause).set(Column.READ_ID, id);
                }
            } finally {
                TRACE.unlock();
            }
        }
        return id;
    }

    private static Trace row(Op op, OpReadEntry read) {
        return TRACE.row(op).cache(read.cursor.getManagedLedger().getName()).cursor(read.cursor.getName());
    }

    /** Writes LEDGER_DELETE and removes the entries of the ledger. */
    public static void deletes(EntryCache cache, long ledger) {
        TRACE.lock();
        try {
            if (TRACE.on()) {
                TRACE.row(Op.LEDGER_DELETE).cache(cache.getName()).set(Column.LEDGER_ID, ledger);
            }
        } finally {
            TRACE.unlock();
        }
        cache.invalidateAllEntries(ledger);
    }
}

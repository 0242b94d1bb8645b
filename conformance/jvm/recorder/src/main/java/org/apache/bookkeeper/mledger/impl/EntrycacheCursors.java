package org.apache.bookkeeper.mledger.impl;

import entrycache.recorder.Column;
import entrycache.recorder.Context;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.cache.EntryCache;

/** Hooks of the container of active cursors, of added entries that are not cached, and of the readers. */
public final class EntrycacheCursors {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle NAME =
            Handles.field(ActiveManagedCursorContainerImpl.class, "entrycacheName", Object.class);
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
                    TRACE.row(Op.SKIP).cause(entrycache.recorder.Cause.NOT_WANTED).cache(ledger.getName())
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
        here.cursor = by.cursor == null ? null : by.cursor.getName();
        try {
            cache.asyncReadEntry(handle, first, last, new Filling(expected, here.cursor), callback, context);
        } finally {
            here.cursor = null;
        }
    }
}

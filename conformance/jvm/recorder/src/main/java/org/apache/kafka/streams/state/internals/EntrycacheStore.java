package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import entrycache.recorder.XxHash64;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.apache.kafka.common.utils.Bytes;

/**
 * The recorder's state of one caching store. Guarded by the lock of the trace.
 *
 * <p>STORE_OPEN is written before the first write or view, because the processors that listen to a store are initialized
 * after it.
 */
final class EntrycacheStore {
    private static final VarHandle INTERVAL = Handles.field(SegmentedCacheFunction.class, "segmentInterval", long.class);
    private static final VarHandle[] LISTENERS = handles("flushListener", CacheFlushListener.class);
    private static final VarHandle[] OLD_VALUES = handles("sendOldValues", boolean.class);
    private static final VarHandle WINDOWS = Handles.field(CachingWindowStore.class, "cacheFunction", SegmentedCacheFunction.class);
    private static final VarHandle SESSIONS = Handles.field(CachingSessionStore.class, "cacheFunction", SegmentedCacheFunction.class);

    /** The bytes of a cache key before its store key, and those of a time and of a window's number behind the key. */
    private static final int SEGMENT_BYTES = Long.BYTES;
    private static final int WINDOW_BYTES = Long.BYTES + Integer.BYTES;
    private static final int SESSION_BYTES = 2 * Long.BYTES;

    /** The life and the new value of an entry that was handed over. */
    record Handed(Stay stay, byte[] value) { }

    final ThreadCache cache;
    final String name;
    private final WrappedStateStore<?, ?, ?> store;
    private final String kind;
    private boolean open;

    EntrycacheStore(ThreadCache cache, String name, WrappedStateStore<?, ?, ?> store, String kind) {
        this.cache = cache;
        this.name = name;
        this.store = store;
        this.kind = kind;
    }

    private static VarHandle[] handles(String field, Class<?> type) {
        return new VarHandle[] {
            Handles.field(CachingKeyValueStore.class, field, type),
            Handles.field(CachingWindowStore.class, field, type),
            Handles.field(CachingSessionStore.class, field, type),
        };
    }

    /** Returns the recorder's state of the cache, or null if it is not recorded. */
    EntrycacheThread thread() {
        return EntrycacheKafka.of(cache);
    }

    /** Writes rows of the store under the lock if it is recorded. */
    void write(Runnable rows) {
        EntrycacheThread thread = thread();
        if (thread != null) {
            thread.trace.lock();
            try {
                if (thread.trace.on()) {
                    rows.run();
                }
            } finally {
                thread.trace.unlock();
            }
        }
    }

    /** Begins a row of the store. */
    Trace row(Op op) {
        opens();
        return thread().row(op, false).cache(name);
    }

    /** Begins a row about a handed entry. */
    Trace row(Op op, Bytes key, Handed handed) {
        Trace row = times(row(op).set(Column.KEY_HASH, XxHash64.of(key.get())), key);
        if (handed.stay() != null) {
            row.set(Column.LIFE, handed.stay().life);
        }
        return handed.value() == null ? row : row.set(Column.VALUE_HASH, XxHash64.of(handed.value()));
    }

    /** Fills the times of the window or session that a cache key names. */
    Trace times(Trace row, Bytes key) {
        ByteBuffer bytes = ByteBuffer.wrap(key.get());
        if (kind.equals("window")) {
            row.set(Column.WINDOW_START, bytes.getLong(bytes.limit() - WINDOW_BYTES));
        } else if (kind.equals("session")) {
            row.set(Column.WINDOW_START, bytes.getLong(bytes.limit() - Long.BYTES));
            row.set(Column.WINDOW_END, bytes.getLong(bytes.limit() - SESSION_BYTES));
        }
        return row;
    }

    /** Returns the cache key of a window, or of a session if it has an end. */
    Bytes cacheKey(Bytes key, long start, long end) {
        boolean session = kind.equals("session");
        byte[] own = key.get();
        ByteBuffer bytes = ByteBuffer.allocate(SEGMENT_BYTES + own.length + (session ? SESSION_BYTES : WINDOW_BYTES));
        bytes.putLong((session ? end : start) / interval()).put(own);
        if (session) {
            bytes.putLong(end).putLong(start);
        } else {
            bytes.putLong(start).putInt(0);
        }
        return Bytes.wrap(bytes.array());
    }

    /** Returns whether the keys of the store have times. */
    boolean hasTimes() {
        return !kind.equals("kv");
    }

    private long interval() {
        return (long) INTERVAL.get((SegmentedCacheFunction) (kind.equals("window") ? WINDOWS : SESSIONS).get(store));
    }

    /** Writes the row of the opening store, unless it is written. */
    void opens() {
        if (open) {
            return;
        }
        open = true;
        int at = kind.equals("kv") ? 0 : kind.equals("window") ? 1 : 2;
        StringBuilder value = new StringBuilder("{\"listens\":").append(LISTENERS[at].get(store) == null ? 0 : 1)
                .append(",\"old_values\":").append((boolean) OLD_VALUES[at].get(store) ? 1 : 0);
        long retention = hasTimes() ? EntrycacheStores.retention(store) : Column.NULL;
        if (retention != Column.NULL) {
            value.append(",\"retention\":").append(retention);
        }
        if (hasTimes()) {
            value.append(",\"segment_interval\":").append(interval());
        }
        thread().row(Op.STORE_OPEN, false).cache(name).kind(kind).value(value.append('}').toString());
    }

    /** Writes the row of the store that has closed. */
    void closed() {
        if (open) {
            open = false;
            thread().row(Op.STORE_CLOSE, false).cache(name);
        }
    }
}

package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import entrycache.recorder.XxHash64;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;

/** The recorder's state of one NamedCache: the lives of its entries. Guarded by the lock of the trace. */
final class EntrycacheNamespace {
    private static final VarHandle SIZE = Handles.field(NamedCache.class, "currentSizeBytes", long.class);

    final EntrycacheThread thread;
    final String name;
    private final NamedCache cache;
    private final Map<Bytes, Stay> stays = new HashMap<>();
    /** The caching store in front of the namespace, or null. */
    private final EntrycacheStore store;
    private Stay evicted;
    private long before;

    EntrycacheNamespace(EntrycacheThread thread, String name, NamedCache cache, EntrycacheStore store) {
        this.thread = thread;
        this.name = name;
        this.cache = cache;
        this.store = store;
    }

    /** Writes the row of the new namespace. */
    void opens() {
        thread.row(Op.CACHE_OPEN, false).cache(name);
    }

    private Trace row(Op op, Bytes key, Stay stay) {
        Trace row = thread.row(op, false).cache(name).set(Column.KEY_HASH, XxHash64.of(key.get()));
        if (store != null) {
            store.times(row, key);
        }
        return stay == null ? row : row.set(Column.LIFE, stay.life).set(Column.SIZE_BYTES, stay.size);
    }

    /** Writes the row of a lookup. */
    void looked(Bytes key, LRUCacheEntry found) {
        Stay stay = stays.get(key);
        Trace row = thread.row(found == null ? Op.MISS : Op.HIT, true).cause(Cause.GET).cache(name)
                .set(Column.KEY_HASH, XxHash64.of(key.get()));
        if (found != null) {
            row.dirty(found.isDirty());
            if (stay != null) {
                row.set(Column.LIFE, stay.life).set(Column.SIZE_BYTES, stay.size);
            }
        }
    }

    /** Begins a write. */
    void puts() {
        if (store != null) {
            store.opens();
        }
        before = (long) SIZE.get(cache);
    }

    /**
     * Writes the row of a finished write. The entry's size is the growth in bytes plus the size of the former entry.
     */
    void put(Bytes key, LRUCacheEntry entry) {
        Stay former = stays.get(key);
        long size = (long) SIZE.get(cache) - before + (former == null ? 0 : former.size);
        thread.trace.bytes += size - (former == null ? 0 : former.size);
        thread.trace.entries += former == null ? 1 : 0;
        Trace row = row(Op.PUT, key, null);
        Stay stay = new Stay(name, 0, 0, size, row.seq(), 0, entry);
        stays.put(key, stay);
        row.set(Column.LIFE, stay.life).set(Column.SIZE_BYTES, size).dirty(entry.isDirty());
        if (store != null) {
            row.cause(entry.value() == null ? Cause.DELETE : Cause.VALUE);
        }
    }

    /** Writes the row of the eviction of the eldest entry; if it is dirty, it is handed over next. */
    void evicts(NamedCache.LRUNode eldest) {
        evicted = leaves(eldest.key());
        if (evicted != null) {
            row(Op.EVICT, eldest.key(), evicted).dirty(eldest.entry().isDirty());
        }
    }

    /** Writes the rows of entries that are handed over. */
    void flushes(List<ThreadCache.DirtyEntry> entries, boolean evicting) {
        boolean first = evicting;
        for (ThreadCache.DirtyEntry entry : entries) {
            Stay stay = first ? evicted : stays.get(entry.key());
            EntrycacheStores.handed(entry, stay);
            row(Op.FLUSH, entry.key(), stay).cause(first ? Cause.EVICT : Cause.CALL).dirty(true);
            first = false;
        }
    }

    /** Writes the row of a deleted entry. */
    void deleted(Bytes key, LRUCacheEntry entry, Cause cause) {
        Stay stay = leaves(key);
        if (stay != null) {
            row(Op.DELETE, key, stay).cause(cause).dirty(entry.isDirty());
        }
    }

    /** Writes the rows of all entries as they are removed. */
    void empties(Cause cause) {
        for (Bytes key : List.copyOf(stays.keySet())) {
            Stay stay = leaves(key);
            row(Op.REMOVE, key, stay).cause(cause).dirty(((LRUCacheEntry) stay.copy).isDirty());
        }
    }

    private Stay leaves(Bytes key) {
        Stay stay = stays.remove(key);
        if (stay != null) {
            thread.trace.bytes -= stay.size;
            thread.trace.entries--;
        }
        return stay;
    }
}

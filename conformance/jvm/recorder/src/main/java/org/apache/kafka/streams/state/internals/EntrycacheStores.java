package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Trace;
import entrycache.recorder.XxHash64;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.BiConsumer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.Change;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/**
 * Hooks of caching stores: when they open and close, what they write to the underlying store and forward, and what their
 * views answer.
 */
public final class EntrycacheStores {
    private static final VarHandle STORE = Handles.field(WrappedStateStore.class, "entrycacheStore", Object.class);
    private static final VarHandle STAY = Handles.field(ThreadCache.DirtyEntry.class, "entrycacheStay", Object.class);

    /** The stores of each cache by their namespace. */
    private static final Map<ThreadCache, Map<String, EntrycacheStore>> STORES = new WeakHashMap<>();

    private EntrycacheStores() { }

    /** Returns the store that listens to a namespace, or null. */
    static EntrycacheStore of(ThreadCache cache, String name) {
        synchronized (STORES) {
            return STORES.getOrDefault(cache, Map.of()).get(name);
        }
    }

    /** Registers the listener of a key-value store. */
    public static void registers(InternalProcessorContext<?, ?> context, String name,
            ThreadCache.DirtyEntryFlushListener listener, CachingKeyValueStore store) {
        register(context, name, listener, store, "kv");
    }

    /** Registers the listener of a window store. */
    public static void registers(InternalProcessorContext<?, ?> context, String name,
            ThreadCache.DirtyEntryFlushListener listener, CachingWindowStore store) {
        register(context, name, listener, store, "window");
    }

    /** Registers the listener of a session store. */
    public static void registers(InternalProcessorContext<?, ?> context, String name,
            ThreadCache.DirtyEntryFlushListener listener, CachingSessionStore store) {
        register(context, name, listener, store, "session");
    }

    private static void register(InternalProcessorContext<?, ?> context, String name,
            ThreadCache.DirtyEntryFlushListener listener, WrappedStateStore<?, ?, ?> store, String kind) {
        ThreadCache cache = context.cache();
        if (cache != null) {
            EntrycacheStore opened = new EntrycacheStore(cache, name, store, kind);
            STORE.setVolatile(store, (Object) opened);
            synchronized (STORES) {
                STORES.computeIfAbsent(cache, of -> new HashMap<>()).put(name, opened);
            }
        }
        context.registerCacheFlushListener(name, listener);
    }

    /** Begins to close a store. */
    public static void closes(CachingKeyValueStore store) {
        enter(store);
    }

    /** Begins to close a store. */
    public static void closes(CachingWindowStore store) {
        enter(store);
    }

    /** Begins to close a store. */
    public static void closes(CachingSessionStore store) {
        enter(store);
    }

    private static void enter(StateStore store) {
        EntrycacheStore opened = opened(store);
        EntrycacheThread thread = opened == null ? null : opened.thread();
        if (thread != null) {
            thread.enter(false);
        }
    }

    /** Records that a store has closed. */
    public static void closed(CachingKeyValueStore store) {
        exit(store);
    }

    /** Records that a store has closed. */
    public static void closed(CachingWindowStore store) {
        exit(store);
    }

    /** Records that a store has closed. */
    public static void closed(CachingSessionStore store) {
        exit(store);
    }

    private static void exit(StateStore store) {
        EntrycacheStore opened = opened(store);
        EntrycacheThread thread = opened == null ? null : opened.thread();
        if (thread != null) {
            opened.write(opened::closed);
            thread.exit();
        }
        if (opened != null) {
            synchronized (STORES) {
                STORES.getOrDefault(opened.cache, new HashMap<>()).remove(opened.name, opened);
            }
            STORE.setVolatile((WrappedStateStore<?, ?, ?>) store, (Object) null);
        }
    }

    private static EntrycacheStore opened(Object store) {
        return (EntrycacheStore) (Object) STORE.getVolatile((WrappedStateStore<?, ?, ?>) store);
    }

    /** Notes the life of an entry that is handed over. */
    static void handed(ThreadCache.DirtyEntry entry, Object stay) {
        STAY.set(entry, stay);
    }

    /** Writes an entry to the underlying key-value store and records it. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    public static void below(KeyValueStore inner, Object key, Object value, CachingKeyValueStore store,
            ThreadCache.DirtyEntry entry) {
        inner.put(key, value);
        below(store, entry);
    }

    /** Writes an entry to the underlying window store and records it. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    public static void below(WindowStore inner, Object key, Object value, long start, CachingWindowStore store,
            ThreadCache.DirtyEntry entry) {
        inner.put(key, value, start);
        below(store, entry);
    }

    /** Writes an entry to the underlying session store and records it. */
    @SuppressWarnings({"rawtypes", "unchecked"})
    public static void below(SessionStore inner, Windowed key, Object value, CachingSessionStore store,
            ThreadCache.DirtyEntry entry) {
        inner.put(key, value);
        below(store, entry);
    }

    private static void below(Object store, ThreadCache.DirtyEntry entry) {
        Cause cause = entry.newValue() == null ? Cause.DELETE : Cause.PUT;
        row(store, entry, (opened, row) -> opened.row(Op.BELOW, entry.key(), row).cause(cause));
    }

    /** Records a key-value entry that is forwarded, and forwards it. */
    public static void forwards(CacheFlushListener<byte[], byte[]> listener, Record<byte[], Change<byte[]>> record,
            CachingKeyValueStore store, ThreadCache.DirtyEntry entry) {
        forward(listener, record, store, entry);
    }

    /** Records a window that is forwarded, and forwards it. */
    public static void forwards(CacheFlushListener<byte[], byte[]> listener, Record<byte[], Change<byte[]>> record,
            CachingWindowStore store, ThreadCache.DirtyEntry entry) {
        forward(listener, record, store, entry);
    }

    /** Records a session that is forwarded, and forwards it. */
    public static void forwards(CacheFlushListener<byte[], byte[]> listener, Record<byte[], Change<byte[]>> record,
            CachingSessionStore store, ThreadCache.DirtyEntry entry) {
        forward(listener, record, store, entry);
    }

    private static void forward(CacheFlushListener<byte[], byte[]> listener, Record<byte[], Change<byte[]>> record,
            Object store, ThreadCache.DirtyEntry entry) {
        Cause cause = entry.newValue() == null ? Cause.DELETE : Cause.VALUE;
        byte[] old = record.value().oldValue;
        row(store, entry, (opened, row) -> {
            Trace forward = opened.row(Op.FORWARD, entry.key(), row).cause(cause);
            if (old != null) {
                forward.set(Column.OLD_HASH, XxHash64.of(old));
            }
        });
        listener.apply(record);
    }

    private static void row(Object store, ThreadCache.DirtyEntry entry, BiConsumer<EntrycacheStore, EntrycacheStore.Handed> rows) {
        EntrycacheStore opened = opened(store);
        if (opened != null) {
            var handed = new EntrycacheStore.Handed((entrycache.recorder.Stay) (Object) STAY.get(entry), entry.newValue());
            opened.write(() -> rows.accept(opened, handed));
        }
    }

    /** Records a view in ascending order, and its entries as they are read. */
    public static <K> KeyValueIterator<K, byte[]> forward(KeyValueIterator<K, byte[]> view, Object store, Object[] arguments) {
        return viewed(view, store, arguments, Cause.FORWARD);
    }

    /** Records a view in descending order, and its entries as they are read. */
    public static <K> KeyValueIterator<K, byte[]> backward(KeyValueIterator<K, byte[]> view, Object store, Object[] arguments) {
        return viewed(view, store, arguments, Cause.BACKWARD);
    }

    /** Records a view of one key in ascending order, and its entries as they are read. */
    public static WindowStoreIterator<byte[]> forward(WindowStoreIterator<byte[]> view, Object store, Object[] arguments) {
        return ofOneKey(view, store, arguments, Cause.FORWARD);
    }

    /** Records a view of one key in descending order, and its entries as they are read. */
    public static WindowStoreIterator<byte[]> backward(WindowStoreIterator<byte[]> view, Object store, Object[] arguments) {
        return ofOneKey(view, store, arguments, Cause.BACKWARD);
    }

    private static <K> KeyValueIterator<K, byte[]> viewed(KeyValueIterator<K, byte[]> view, Object store, Object[] arguments,
            Cause direction) {
        EntrycacheStore opened = opened(store);
        boolean unrecorded = opened == null || view instanceof EntrycacheView;
        return unrecorded ? view : new EntrycacheView<>(view, opened, null, direction).begin(arguments);
    }

    private static WindowStoreIterator<byte[]> ofOneKey(WindowStoreIterator<byte[]> view, Object store, Object[] arguments,
            Cause direction) {
        EntrycacheStore opened = opened(store);
        if (opened == null || view instanceof EntrycacheView) {
            return view;
        }
        EntrycacheView.OfOneKey seen = new EntrycacheView.OfOneKey(view, opened, (Bytes) arguments[0], direction);
        seen.begin(arguments);
        return seen;
    }

    /** Returns the retention of the store at the end of a chain of stores, or {@link Column#NULL} if it has none. */
    static long retention(StateStore store) {
        StateStore inner = store;
        while (inner instanceof WrappedStateStore) {
            inner = ((WrappedStateStore<?, ?, ?>) inner).wrapped();
        }
        for (Class<?> at = inner.getClass(); at != null; at = at.getSuperclass()) {
            try {
                Field field = at.getDeclaredField("retentionPeriod");
                field.setAccessible(true);
                return field.getLong(inner);
            } catch (ReflectiveOperationException e) {
                // The field may be that of a superclass.
            }
        }
        return Column.NULL;
    }
}

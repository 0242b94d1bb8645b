package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Cause;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;

/** Hooks of ThreadCache and NamedCache. */
public final class EntrycacheKafka {
    private static final VarHandle THREAD = Handles.field(ThreadCache.class, "entrycacheThread", Object.class);
    private static final VarHandle SPACE = Handles.field(NamedCache.class, "entrycacheNamespace", Object.class);

    private static final Object BEGINNING = new Object();

    private EntrycacheKafka() { }

    /**
     * Records the beginning of a call of a thread's cache. The first call begins its trace, because some caches are
     * never used.
     */
    public static void enter(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread == null) {
            thread = beginTrace(cache);
        }
        if (thread != null) {
            thread.enter(true);
        }
    }

    /**
     * Records the beginning of a resize. It does not count as a use, because the thread that starts the others calls
     * it.
     */
    public static void entersResize(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.enter(false);
        }
    }

    private static EntrycacheThread beginTrace(ThreadCache cache) {
        synchronized (BEGINNING) {
            EntrycacheThread there = of(cache);
            Trace trace = there == null ? Recorder.begin() : null;
            if (trace == null) {
                return there;
            }
            EntrycacheThread thread = new EntrycacheThread(trace, cache);
            Recorder.atEnd(trace, thread::end);
            thread.configured();
            THREAD.setVolatile(cache, (Object) thread);
            return thread;
        }
    }

    /** Returns the recorder's state of a cache, or null if it is not recorded. */
    static EntrycacheThread of(ThreadCache cache) {
        return (EntrycacheThread) (Object) THREAD.getVolatile(cache);
    }

    /** Records the end of a call, whether it returns or throws. */
    public static void exit(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.exit();
        }
    }

    /** Records a changed limit. */
    public static void resized(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.configured();
        }
    }

    /** Records a new namespace and adds it to the map. */
    @SuppressWarnings("unchecked")
    public static Object opened(Map<?, ?> caches, Object name, Object named, ThreadCache cache) {
        EntrycacheThread known = of(cache);
        EntrycacheThread thread = known == null ? beginTrace(cache) : known;
        if (thread != null) {
            EntrycacheStore store = EntrycacheStores.of(cache, (String) name);
            SPACE.set((NamedCache) named, (Object) new EntrycacheNamespace(thread, (String) name, (NamedCache) named, store));
            writeRows((NamedCache) named, space -> space.opens());
        }
        return ((Map<Object, Object>) caches).put(name, named);
    }

    /** Writes rows about a namespace if it is recorded. */
    private static void writeRows(NamedCache cache, Consumer<EntrycacheNamespace> rows) {
        EntrycacheNamespace space = (EntrycacheNamespace) (Object) SPACE.get(cache);
        if (space != null) {
            Trace trace = space.thread.trace;
            trace.lock();
            try {
                if (trace.on()) {
                    rows.accept(space);
                }
            } finally {
                trace.unlock();
            }
        }
    }

    /** Records the result of {@code NamedCache.get}. */
    public static void looked(LRUCacheEntry found, NamedCache cache, Bytes key) {
        if (key != null) {
            writeRows(cache, space -> space.looked(key, found));
        }
    }

    /** Records the beginning of {@code NamedCache.put}. */
    public static void puts(NamedCache cache) {
        writeRows(cache, EntrycacheNamespace::puts);
    }

    /** Records the end of {@code NamedCache.put}. */
    public static void put(NamedCache cache, Bytes key, LRUCacheEntry entry) {
        writeRows(cache, space -> space.put(key, entry));
    }

    /** Records the beginning of {@code NamedCache.evict}. */
    public static void evicts(NamedCache cache) {
        NamedCache.LRUNode eldest = cache.tail();
        if (eldest != null) {
            writeRows(cache, space -> space.evicts(eldest));
        }
    }

    /** Records the entries that {@code NamedCache.flush} hands over, and calls the listener. */
    public static void flushes(ThreadCache.DirtyEntryFlushListener listener, List<ThreadCache.DirtyEntry> entries,
            NamedCache cache, NamedCache.LRUNode evicted) {
        writeRows(cache, space -> space.flushes(entries, evicted != null));
        listener.apply(entries);
    }

    /** Deletes an entry for {@code ThreadCache.delete} and records it. */
    public static LRUCacheEntry deletes(NamedCache cache, Bytes key) {
        return delete(cache, key, Cause.CALL);
    }

    /** Deletes a tombstone that {@code NamedCache.flush} has handed over, and records it. */
    public static LRUCacheEntry drops(NamedCache cache, Bytes key) {
        return delete(cache, key, Cause.FLUSH);
    }

    private static LRUCacheEntry delete(NamedCache cache, Bytes key, Cause cause) {
        LRUCacheEntry entry = cache.delete(key);
        if (entry != null) {
            writeRows(cache, space -> space.deleted(key, entry, cause));
        }
        return entry;
    }

    /** Records the removal of all entries by {@code NamedCache.clear}. */
    public static void clears(NamedCache cache) {
        writeRows(cache, space -> space.empties(Cause.CLEAR));
    }

    /** Records the removal of all entries and the end of the namespace by {@code NamedCache.close}. */
    public static void closes(NamedCache cache) {
        writeRows(cache, space -> {
            space.empties(Cause.CLOSE);
            space.thread.row(Op.CACHE_CLOSE, false).cache(space.name);
        });
    }
}

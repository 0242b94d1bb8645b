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

    /** A call of a thread's cache begins; with the first one its trace does: some caches are never used. */
    public static void enter(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread == null) {
            thread = begun(cache);
        }
        if (thread != null) {
            thread.enter(true);
        }
    }

    /** A resize begins: the thread that starts others calls it, which is no use of the cache. */
    public static void entersResize(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.enter(false);
        }
    }

    private static EntrycacheThread begun(ThreadCache cache) {
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

    private static EntrycacheThread of(ThreadCache cache) {
        return (EntrycacheThread) (Object) THREAD.getVolatile(cache);
    }

    /** It ends, however. */
    public static void exit(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.exit();
        }
    }

    /** The limit was changed. */
    public static void resized(ThreadCache cache) {
        EntrycacheThread thread = of(cache);
        if (thread != null) {
            thread.configured();
        }
    }

    /** A namespace is new. */
    @SuppressWarnings("unchecked")
    public static Object opened(Map<?, ?> caches, Object name, Object named, ThreadCache cache) {
        EntrycacheThread known = of(cache);
        EntrycacheThread thread = known == null ? begun(cache) : known;
        if (thread != null) {
            SPACE.set((NamedCache) named, (Object) new EntrycacheNamespace(thread, (String) name, (NamedCache) named));
            tell((NamedCache) named, space -> thread.row(Op.CACHE_OPEN, false).cache(space.name));
        }
        return ((Map<Object, Object>) caches).put(name, named);
    }

    /** Writes rows about a namespace that is recorded. */
    private static void tell(NamedCache cache, Consumer<EntrycacheNamespace> rows) {
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

    /** NamedCache.get answers. */
    public static void looked(LRUCacheEntry found, NamedCache cache, Bytes key) {
        if (key != null) {
            tell(cache, space -> space.looked(key, found));
        }
    }

    /** NamedCache.put begins. */
    public static void puts(NamedCache cache) {
        tell(cache, EntrycacheNamespace::puts);
    }

    /** NamedCache.put is done. */
    public static void put(NamedCache cache, Bytes key, LRUCacheEntry entry) {
        tell(cache, space -> space.put(key, entry));
    }

    /** NamedCache.evict begins. */
    public static void evicts(NamedCache cache) {
        NamedCache.LRUNode eldest = cache.tail();
        if (eldest != null) {
            tell(cache, space -> space.evicts(eldest));
        }
    }

    /** NamedCache.flush hands over. */
    public static void flushes(ThreadCache.DirtyEntryFlushListener listener, List<ThreadCache.DirtyEntry> entries,
            NamedCache cache, NamedCache.LRUNode evicted) {
        tell(cache, space -> space.flushes(entries, evicted != null));
        listener.apply(entries);
    }

    /** ThreadCache.delete. */
    public static LRUCacheEntry deletes(NamedCache cache, Bytes key) {
        return delete(cache, key, Cause.CALL);
    }

    /** NamedCache.flush drops a tombstone that was handed over. */
    public static LRUCacheEntry drops(NamedCache cache, Bytes key) {
        return delete(cache, key, Cause.FLUSH);
    }

    private static LRUCacheEntry delete(NamedCache cache, Bytes key, Cause cause) {
        LRUCacheEntry entry = cache.delete(key);
        if (entry != null) {
            tell(cache, space -> space.deleted(key, entry, cause));
        }
        return entry;
    }

    /** NamedCache.clear. */
    public static void clears(NamedCache cache) {
        tell(cache, space -> space.empties(Cause.CLEAR));
    }

    /** NamedCache.close. */
    public static void closes(NamedCache cache) {
        tell(cache, space -> {
            space.empties(Cause.CLOSE);
            space.thread.row(Op.CACHE_CLOSE, false).cache(space.name);
        });
    }
}

package org.apache.kafka.streams.state.internals;

import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * A released thread cache, and a model that holds only the last write of each key. The model is enough to check every
 * promise of level `cache` after each step.
 */
final class CacheWorld {
    static final long CALLS = 8;

    private final Released released;
    private final Endless endless;
    private final boolean isTotalHeld;
    private final Map<String, Write> last = new HashMap<>();
    private final Map<LRUCacheEntry, Write> writes = new IdentityHashMap<>();
    private final Set<String> listening = new HashSet<>();
    private long maxSizeBytes;
    private long steps;
    private long calls;
    private int ordered;

    /** One write. `isHandedOver` is set once a listener has received it. */
    private static final class Write {
        final String namespace;
        final Bytes key;
        final LRUCacheEntry entry;
        final boolean isDirty;
        boolean isHandedOver;

        Write(String namespace, Bytes key, LRUCacheEntry entry) {
            this.namespace = namespace;
            this.key = key;
            this.entry = entry;
            isDirty = entry.isDirty();
        }
    }

    private static final class ListenerFailed extends RuntimeException {
        private static final long serialVersionUID = 1;

        ListenerFailed() {
            super("a listener that fails", null, false, false);
        }
    }

    /** Creates the cache. With `isTotalHeld`, a wrong running total ends the case. */
    CacheWorld(long maxSizeBytes, StreamsMetricsImpl metrics, Endless endless, boolean isTotalHeld) {
        this.isTotalHeld = isTotalHeld;
        this.maxSizeBytes = maxSizeBytes;
        this.endless = endless;
        released = new Released(maxSizeBytes, metrics);
        endless.begins(released.cache, released.total);
    }

    long steps() {
        return steps;
    }

    /** Performs one step, then checks every promise. */
    void step(Op op) {
        calls = 0;
        perform(op);
        released.settled(isTotalHeld);
        for (Write write : last.values()) {
            Broken.unless(!write.isDirty || write.isHandedOver || isHeldDirty(write), "nothing is lost");
        }
    }

    private boolean isHeldDirty(Write write) {
        return released.entry(write.namespace, write.key) == write.entry
                && write.entry.isDirty()
                && released.isDirty(write.namespace, write.key);
    }

    private void perform(Op op) {
        steps++;
        String namespace = "0_0-" + op.place();
        try {
            done(op, namespace);
        } catch (ListenerFailed expected) {
            return;
        } catch (IllegalArgumentException e) {
            boolean isAsked = op.name().equals("resize") || !listening.contains(namespace);
            Broken.unless(isAsked, "throws");
        } catch (IllegalStateException e) {
            Write before = op.key() == null ? null : last.get(namespace + op.key());
            boolean hides = before != null && before.isDirty && !before.isHandedOver;
            Broken.unless(hides && !op.isDirty() && op.name().startsWith("put"), "throws");
        } catch (java.util.ConcurrentModificationException e) {
            throw new Broken("throws");
        }
    }

    private void done(Op op, String namespace) {
        switch (op.name()) {
            case "put", "put_if_absent" -> put(op, namespace);
            case "get" -> get(namespace, key(op));
            case "range" -> range(released.cache.all(namespace));
            case "reverse_range" -> range(released.cache.reverseAll(namespace));
            case "delete" -> delete(namespace, key(op));
            case "flush" -> released.cache.flush(namespace);
            case "evict" -> evict(namespace);
            case "clear" -> {
                dropped(namespace);
                released.cache.clear(namespace);
            }
            case "close" -> {
                dropped(namespace);
                listening.remove(namespace);
                released.cache.close(namespace);
            }
            case "resize" -> resize(op.number());
            case "listen" -> listen(op, namespace);
            default -> throw new IllegalArgumentException(op.name());
        }
    }

    private void put(Op op, String namespace) {
        byte[] value = op.value() == null ? null : op.value().getBytes();
        LRUCacheEntry entry = Era.entry(value, new RecordHeaders(), op.isDirty(), -1, -1, -1, "");
        Bytes key = key(op);
        LRUCacheEntry before = released.entry(namespace, key);
        Write replaced = last.get(namespace + op.key());
        boolean hides = !op.isDirty() && replaced != null && replaced.isDirty && !replaced.isHandedOver;
        boolean isPut = op.name().equals("put");
        if (isPut ? !hides : before == null) {
            Write write = new Write(namespace, key, entry);
            last.put(namespace + op.key(), write);
            writes.put(entry, write);
        }
        if (isPut) {
            released.cache.put(namespace, key, entry);
            Broken.unless(!hides, "clean over dirty");
        } else {
            Broken.unless(released.cache.putIfAbsent(namespace, key, entry) == before, "read");
        }
        Broken.unless(released.sum() <= maxSizeBytes || released.isEmpty(namespace), "limit");
    }

    private void get(String namespace, Bytes key) {
        read(namespace, key, released.cache.get(namespace, key));
    }

    private void range(ThreadCache.MemoryLRUCacheBytesIterator found) {
        while (found.hasNext()) {
            LRUCacheEntry entry = found.next().value;
            Write write = writes.get(entry);
            Broken.unless(last.get(write.namespace + text(write.key)) == write, "read");
        }
    }

    private void delete(String namespace, Bytes key) {
        LRUCacheEntry was = released.cache.delete(namespace, key);
        read(namespace, key, was);
        last.remove(namespace + text(key));
    }

    /** Checks that a hit returns the last write, and that a write no listener has received is a hit. */
    private void read(String namespace, Bytes key, LRUCacheEntry found) {
        Write write = last.get(namespace + text(key));
        boolean mustHit = write != null && write.isDirty && !write.isHandedOver;
        Broken.unless(found == null ? !mustHit : write != null && found == write.entry, "read");
    }

    private void evict(String namespace) {
        NamedCache named = released.named(namespace);
        if (named == null) {
            return;
        }
        long before = named.sizeInBytes();
        ordered++;
        try {
            named.evict();
        } finally {
            ordered--;
            released.total.getAndAdd(named.sizeInBytes() - before);
        }
    }

    private void resize(long size) {
        maxSizeBytes = size;
        ordered++;
        try {
            released.cache.resize(size);
        } finally {
            ordered--;
            if (endless.ended()) {
                throw new Broken("every step ends");
            }
            endless.begins(released.cache, released.total);
        }
    }

    private void dropped(String namespace) {
        last.keySet().removeIf(each -> each.startsWith(namespace));
    }

    private void listen(Op op, String namespace) {
        listening.add(namespace);
        long[] fails = {op.number()};
        List<Op> inner = op.inner();
        released.cache.addDirtyEntryFlushListener(namespace, entries -> called(namespace, entries, fails, inner));
    }

    private void called(String namespace, List<ThreadCache.DirtyEntry> entries, long[] fails, List<Op> inner) {
        boolean performs = calls++ < CALLS;
        LRUCacheEntry first = entries.get(0).entry();
        boolean isEvicted = released.entry(namespace, entries.get(0).key()) != first;
        if (isEvicted && ordered == 0) {
            long size = entries.get(0).key().get().length + 24 + first.size();
            Broken.unless(released.sum() + size > maxSizeBytes, "evicted without need");
        }
        if (fails[0]-- > 0) {
            throw new ListenerFailed();
        }
        for (ThreadCache.DirtyEntry each : entries) {
            Write write = writes.get(each.entry());
            Broken.unless(last.get(namespace + text(each.key())) == write, "the last write is handed over");
            write.isHandedOver = true;
        }
        if (performs) {
            inner.forEach(this::perform);
        }
    }

    private static Bytes key(Op op) {
        return Bytes.wrap(op.key().getBytes());
    }

    private static String text(Bytes key) {
        return new String(key.get());
    }
}

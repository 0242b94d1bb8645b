package org.apache.kafka.streams.state.internals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.internals.Change;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueIterator;

/** Released caching stores over released in-memory stores, each compared with a plain map. */
final class StoreWorld {
    private final Released released;
    private final StreamsMetricsImpl metrics;
    private final Map<String, CheckedStore> stores = new HashMap<>();
    private final boolean isTotalHeld;
    private final boolean evicts;
    private boolean isFlushingAll;
    private long steps;
    private long calls;

    /** A store, the plain map that models it, and the last value that was forwarded for each key. */
    private final class CheckedStore {
        final InMemoryKeyValueStore inner;
        final CachingKeyValueStore caching;
        final TreeMap<String, String> plain = new TreeMap<>();
        final Map<String, String> forwarded = new HashMap<>();
        final Map<String, List<Op>> downstream = new HashMap<>();

        CheckedStore(String name) {
            inner = new InMemoryKeyValueStore(name);
            caching = Era.caching(inner);
            caching.setFlushListener(this::forward, false);
            caching.init((StateStoreContext) Task.of(released.cache, metrics), caching);
        }

        private void forward(Record<byte[], Change<byte[]>> record) {
            String key = new String(record.key());
            forwarded.put(key, text(record.value().newValue));
            if (calls++ < CacheWorld.CALLS && !isFlushingAll) {
                downstream.getOrDefault(key, List.of()).forEach(StoreWorld.this::perform);
            }
        }
    }

    StoreWorld(long maxSizeBytes, StreamsMetricsImpl metrics, Cell cell) {
        isTotalHeld = cell.worlds % 2 == 0;
        evicts = cell.evicts();
        this.metrics = metrics;
        released = new Released(maxSizeBytes, metrics);
    }

    long steps() {
        return steps;
    }

    /** Performs one step, then checks the promises that hold between steps. */
    void step(Op op) {
        calls = 0;
        perform(op);
        released.settled(isTotalHeld);
    }

    /**
     * Flushes all stores, then checks that each underlying store equals its plain map and that the last forwarded
     * values are the last values written.
     */
    void settle() {
        isFlushingAll = true;
        for (CheckedStore store : stores.values()) {
            Era.flush(store.caching);
        }
        for (CheckedStore store : stores.values()) {
            Broken.unless(entries(store.inner.all()).equals(new ArrayList<>(store.plain.entrySet())), "below");
            store.forwarded.forEach((key, value) ->
                    Broken.unless(java.util.Objects.equals(store.plain.get(key), value), "forwarded last"));
        }
    }

    private void perform(Op op) {
        steps++;
        CheckedStore store = stores.get(op.place());
        if (store == null) {
            store = new CheckedStore(op.place());
            stores.put(op.place(), store);
        }
        try {
            done(op, store);
        } catch (IllegalStateException | IllegalArgumentException e) {
            throw new Broken("throws");
        }
    }

    private void done(Op op, CheckedStore store) {
        Bytes key = op.key() == null ? null : Bytes.wrap(op.key().getBytes());
        switch (op.name()) {
            case "store_put" -> {
                String value = op.value();
                if (value == null) {
                    store.plain.remove(op.key());
                } else {
                    store.plain.put(op.key(), value);
                }
                store.caching.put(key, value == null ? null : value.getBytes());
            }
            case "store_get" -> {
                String expected = store.plain.get(op.key());
                String actual = text(store.caching.get(key));
                Broken.unless(java.util.Objects.equals(actual, expected), "read");
            }
            case "store_delete" -> {
                String expected = store.plain.get(op.key());
                if (evicts) {
                    // CachingKeyValueStore.delete in its two halves: a forward caused by the first half sees the old
                    // value
                    Broken.unless(java.util.Objects.equals(text(store.caching.get(key)), expected), "read");
                    store.plain.remove(op.key());
                    store.caching.put(key, null);
                } else {
                    store.plain.remove(op.key());
                    Broken.unless(java.util.Objects.equals(text(store.caching.delete(key)), expected), "read");
                }
            }
            case "store_range", "store_all" -> {
                List<Map.Entry<String, String>> expected = List.copyOf(store.plain.entrySet());
                Broken.unless(entries(store.caching.all()).equals(expected), "view");
            }
            case "store_reverse_all" -> {
                List<Map.Entry<String, String>> expected = List.copyOf(store.plain.descendingMap().entrySet());
                Broken.unless(entries(store.caching.reverseAll()).equals(expected), "reverse view");
            }
            case "store_flush" -> Era.flush(store.caching);
            case "on_forward" -> store.downstream.put(op.key(), op.inner());
            default -> throw new IllegalArgumentException(op.name());
        }
    }

    private static List<Map.Entry<String, String>> entries(KeyValueIterator<Bytes, byte[]> iterator) {
        List<Map.Entry<String, String>> entries = new ArrayList<>();
        try (iterator) {
            while (iterator.hasNext()) {
                KeyValue<Bytes, byte[]> next = iterator.next();
                entries.add(new java.util.AbstractMap.SimpleEntry<>(text(next.key.get()), text(next.value)));
            }
        }
        return entries;
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes);
    }
}

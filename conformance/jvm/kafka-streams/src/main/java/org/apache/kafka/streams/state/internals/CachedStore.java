package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.Values.json;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.internals.Change;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.Record;

/** One released caching store over a released in-memory store, with the steps to perform at each forwarded entry. */
final class CachedStore {
    final StoreKind kind;
    final StateStore inner;
    final StateStore caching;

    private final String name;
    private final KafkaRun run;
    private final boolean oldValues;
    private final Map<Bytes, JsonArray> onForward = new HashMap<>();
    private final Map<Bytes, Long> failures = new HashMap<>();

    /** Opens a store with the settings of a step. */
    CachedStore(String name, KafkaRun run, Args opening) {
        this.name = name;
        this.run = run;
        oldValues = opening.flag("old_values", false);
        kind = StoreKind.of(opening);
        inner = kind.inner(name, opening);
        caching = kind.caching(inner, opening);
        if (opening.flag("listens", true)) {
            cached().setFlushListener(this::forward, oldValues);
        }
        run.opened.add(this);
        caching.init((StateStoreContext) Context.of(run), caching);
    }

    boolean isOpen() {
        return caching.isOpen();
    }

    /** Returns the store by the methods that every caching store has. */
    @SuppressWarnings("unchecked")
    CachedStateStore<byte[], byte[]> cached() {
        return (CachedStateStore<byte[], byte[]>) caching;
    }

    CachingKeyValueStore keyValues() {
        return as(CachingKeyValueStore.class);
    }

    CachingWindowStore windows() {
        return as(CachingWindowStore.class);
    }

    CachingSessionStore sessions() {
        return as(CachingSessionStore.class);
    }

    private <S> S as(Class<S> type) {
        if (!type.isInstance(caching)) {
            throw new IllegalStateException("the store '" + name + "' is of another kind");
        }
        return type.cast(caching);
    }

    void onForward(Bytes key, JsonArray steps) {
        onForward.put(key, steps);
    }

    /** Lets the next forwards of a key throw. */
    void failForward(Bytes key, long forwards) {
        failures.put(key, forwards);
    }

    private void forward(Record<byte[], Change<byte[]>> forwarded) {
        JsonObject call = new JsonObject();
        call.addProperty("store", name);
        kind.describe(call, forwarded.key());
        call.add("value", json(forwarded.value().newValue));
        if (oldValues) {
            call.add("old", json(forwarded.value().oldValue));
        }
        Bytes key = kind.place(forwarded.key()).key();
        long left = failures.getOrDefault(key, 0L);
        failures.put(key, Math.max(0, left - 1));
        run.forwarded(call, onForward.getOrDefault(key, new JsonArray()), left > 0);
    }
}

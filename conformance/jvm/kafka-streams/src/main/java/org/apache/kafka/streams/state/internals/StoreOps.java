package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;
import static org.apache.kafka.streams.state.internals.Values.value;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/** The operations of level {@code store}: caching key-value stores over in-memory stores, in the same thread cache. */
final class StoreOps {
    private StoreOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(
                new Operation<>("store_put", "CachingKeyValueStore.put", StoreOps::put),
                new Operation<>("store_get", "CachingKeyValueStore.get", StoreOps::get),
                new Operation<>("store_delete", "CachingKeyValueStore.delete", StoreOps::delete),
                new Operation<>("store_range", "CachingKeyValueStore.range", StoreOps::range),
                new Operation<>("store_all", "CachingKeyValueStore.all", StoreOps::all),
                new Operation<>("store_flush", Era.FLUSH, StoreOps::flush),
                new Operation<>("store_inner", "InMemoryKeyValueStore.all", StoreOps::inner),
                new Operation<>("on_forward", "CachingKeyValueStore.setFlushListener", StoreOps::onForward));
    }

    /** Returns the store of the step, and creates it at the first step that names it. */
    static CachedStore store(KafkaRun run, Args step) {
        String name = step.text("store");
        CachedStore store = run.stores.get(name);
        if (store == null) {
            store = new CachedStore(name, run, new Args(new JsonObject()));
            run.stores.put(name, store);
        }
        return store;
    }

    /** Returns the store of the step if it is open, for the released methods that do not ask. */
    static CachedStore opened(KafkaRun run, Args step) {
        CachedStore store = store(run, step);
        if (!store.isOpen()) {
            throw new InvalidStateStoreException("the store '" + step.text("store") + "' is closed");
        }
        return store;
    }

    private static JsonObject put(KafkaRun run, Args step) {
        store(run, step).keyValues().put(key(step, "key"), value(step));
        return new JsonObject();
    }

    private static JsonObject get(KafkaRun run, Args step) {
        return with("value", json(store(run, step).keyValues().get(key(step, "key"))));
    }

    private static JsonObject delete(KafkaRun run, Args step) {
        return with("value", json(store(run, step).keyValues().delete(key(step, "key"))));
    }

    private static JsonObject range(KafkaRun run, Args step) {
        return entries(opened(run, step).keyValues().range(key(step, "from"), key(step, "to")));
    }

    private static JsonObject all(KafkaRun run, Args step) {
        return entries(store(run, step).keyValues().all());
    }

    private static JsonObject flush(KafkaRun run, Args step) {
        Era.flush(store(run, step).caching);
        return new JsonObject();
    }

    @SuppressWarnings("unchecked")
    private static JsonObject inner(KafkaRun run, Args step) {
        CachedStore store = opened(run, step);
        return store.kind == StoreKind.KEY_VALUE
                ? entries(((KeyValueStore<Bytes, byte[]>) store.inner).all())
                : entries(store.kind, WindowOps.inner(store));
    }

    private static JsonObject onForward(KafkaRun run, Args step) {
        opened(run, step).onForward(key(step, "key"), step.list("steps"));
        return new JsonObject();
    }

    static JsonObject entries(KeyValueIterator<Bytes, byte[]> found) {
        return entries(StoreKind.KEY_VALUE, found);
    }

    static JsonObject entries(StoreKind kind, KeyValueIterator<?, byte[]> found) {
        JsonArray entries = new JsonArray();
        try (found) {
            while (found.hasNext()) {
                entries.add(kind.entry(found.next()));
            }
        }
        return with("entries", entries);
    }

    static JsonObject with(String name, JsonElement value) {
        JsonObject outcome = new JsonObject();
        outcome.add(name, value);
        return outcome;
    }
}

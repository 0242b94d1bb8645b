package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;
import static org.apache.kafka.streams.state.internals.Values.pair;
import static org.apache.kafka.streams.state.internals.Values.value;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.List;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;

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
            store = new CachedStore(name, run, false);
            run.stores.put(name, store);
        }
        return store;
    }

    /** Returns the store of the step if it is open, for the released methods that do not ask. */
    static CachedStore opened(KafkaRun run, Args step) {
        CachedStore store = store(run, step);
        if (!store.caching.isOpen()) {
            throw new InvalidStateStoreException("the store '" + step.text("store") + "' is closed");
        }
        return store;
    }

    private static JsonObject put(KafkaRun run, Args step) {
        store(run, step).caching.put(key(step, "key"), value(step));
        return new JsonObject();
    }

    private static JsonObject get(KafkaRun run, Args step) {
        return with("value", json(store(run, step).caching.get(key(step, "key"))));
    }

    private static JsonObject delete(KafkaRun run, Args step) {
        return with("value", json(store(run, step).caching.delete(key(step, "key"))));
    }

    private static JsonObject range(KafkaRun run, Args step) {
        return entries(opened(run, step).caching.range(key(step, "from"), key(step, "to")));
    }

    private static JsonObject all(KafkaRun run, Args step) {
        return entries(store(run, step).caching.all());
    }

    private static JsonObject flush(KafkaRun run, Args step) {
        Era.flush(store(run, step).caching);
        return new JsonObject();
    }

    private static JsonObject inner(KafkaRun run, Args step) {
        return entries(opened(run, step).inner.all());
    }

    private static JsonObject onForward(KafkaRun run, Args step) {
        opened(run, step).onForward(key(step, "key"), step.list("steps"));
        return new JsonObject();
    }

    static JsonObject entries(KeyValueIterator<Bytes, byte[]> found) {
        JsonArray entries = new JsonArray();
        try (found) {
            while (found.hasNext()) {
                KeyValue<Bytes, byte[]> next = found.next();
                entries.add(pair(json(next.key), json(next.value)));
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

package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.Values.json;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.internals.Change;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.api.Record;

/** A caching store over an in-memory store, and the steps to run when its entries are forwarded downstream. */
final class CachedStore {
    final InMemoryKeyValueStore inner;
    final CachingKeyValueStore caching;

    private final String name;
    private final KafkaRun run;
    private final Map<Bytes, JsonArray> onForward = new HashMap<>();

    private final boolean oldValues;

    CachedStore(String name, KafkaRun run, boolean oldValues) {
        this.name = name;
        this.run = run;
        this.oldValues = oldValues;
        inner = new InMemoryKeyValueStore(name);
        caching = Era.caching(inner);
        caching.setFlushListener(this::forward, oldValues);
        caching.init((StateStoreContext) Context.of(run), caching);
    }

    void onForward(Bytes key, JsonArray steps) {
        onForward.put(key, steps);
    }

    private void forward(Record<byte[], Change<byte[]>> forwarded) {
        JsonObject call = new JsonObject();
        call.addProperty("store", name);
        call.add("key", json(forwarded.key()));
        call.add("value", json(forwarded.value().newValue));
        if (oldValues) {
            call.add("old", json(forwarded.value().oldValue));
        }
        run.forwarded(call, onForward.getOrDefault(Bytes.wrap(forwarded.key()), new JsonArray()));
    }
}

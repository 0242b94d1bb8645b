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

    CachedStore(String name, KafkaRun run) {
        this.name = name;
        this.run = run;
        inner = new InMemoryKeyValueStore(name);
        caching = Era.caching(inner);
        caching.setFlushListener(this::forward, false);
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
        run.forwarded(call, onForward.getOrDefault(Bytes.wrap(forwarded.key()), new JsonArray()));
    }
}

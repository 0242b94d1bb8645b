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
    private final boolean oldValues;
    private final Map<Bytes, JsonArray> onForward = new HashMap<>();
    private final Map<Bytes, Long> failures = new HashMap<>();

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

    /** Lets the next forwards of a key throw. */
    void failForward(Bytes key, long forwards) {
        failures.put(key, forwards);
    }

    private void forward(Record<byte[], Change<byte[]>> forwarded) {
        JsonObject call = new JsonObject();
        call.addProperty("store", name);
        call.add("key", json(forwarded.key()));
        call.add("value", json(forwarded.value().newValue));
        if (oldValues) {
            call.add("old", json(forwarded.value().oldValue));
        }
        Bytes key = Bytes.wrap(forwarded.key());
        long left = failures.getOrDefault(key, 0L);
        failures.put(key, Math.max(0, left - 1));
        run.forwarded(call, onForward.getOrDefault(key, new JsonArray()), left > 0);
    }
}

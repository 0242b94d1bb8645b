package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.StoreOps.entries;
import static org.apache.kafka.streams.state.internals.StoreOps.opened;
import static org.apache.kafka.streams.state.internals.StoreOps.store;
import static org.apache.kafka.streams.state.internals.StoreOps.with;
import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;
import static org.apache.kafka.streams.state.internals.Values.value;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/** The operations of level {@code views}: views, queries, and the emptying, closing and opening of stores. */
final class ViewOps {
    private ViewOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(
                new Operation<>("store_open", "CachingKeyValueStore.init", ViewOps::open),
                new Operation<>("store_view", "CachingKeyValueStore.reverseRange", ViewOps::view),
                new Operation<>("store_put_if_absent", "CachingKeyValueStore.putIfAbsent", ViewOps::putIfAbsent),
                new Operation<>("store_put_all", "CachingKeyValueStore.putAll", ViewOps::putAll),
                new Operation<>("store_count", "CachingKeyValueStore.approximateNumEntries", ViewOps::count),
                new Operation<>("store_query", "CachingKeyValueStore.query", ViewOps::query),
                new Operation<>("store_query_range", "CachingKeyValueStore.query", ViewOps::queryRange),
                new Operation<>("store_clear", "CachingKeyValueStore.clearCache", ViewOps::clear),
                new Operation<>("fail_forward", "CachingKeyValueStore.setFlushListener", ViewOps::failForward),
                new Operation<>("store_close", "CachingKeyValueStore.close", ViewOps::close),
                new Operation<>("view_open", "CachingKeyValueStore.all", ViewOps::viewOpen),
                new Operation<>("view_next", "KeyValueIterator.next", ViewOps::viewNext),
                new Operation<>("view_close", "KeyValueIterator.close", ViewOps::viewClose));
    }

    private static JsonObject open(KafkaRun run, Args step) {
        String name = step.text("store");
        CachedStore known = run.stores.get(name);
        if (known != null && known.isOpen()) {
            throw new IllegalStateException("the store '" + name + "' is open");
        }
        run.stores.put(name, new CachedStore(name, run, step));
        return new JsonObject();
    }

    private static JsonObject failForward(KafkaRun run, Args step) {
        opened(run, step).failForward(key(step, "key"), step.number("n", 0));
        return new JsonObject();
    }

    private static JsonObject view(KafkaRun run, Args step) {
        requireRange(step);
        CachingKeyValueStore caching = opened(run, step).keyValues();
        return entries(iterator(
                step.has("isolation") ? Era.readOnly(caching, step.text("isolation")) : caching, step));
    }

    /** Checks that the arguments of a view of keys fit together. */
    private static void requireRange(Args step) {
        boolean bounded = step.has("from") || step.has("to");
        if (step.has("prefix") && (bounded || step.flag("backward", false))) {
            throw new IllegalStateException("a prefix stands alone");
        }
        if (WindowOps.names(step, "key", "time_from", "time_to", "earliest_end", "latest_start")) {
            throw new IllegalStateException("a view of keys has no times and not one key");
        }
    }

    private static KeyValueIterator<Bytes, byte[]> iterator(ReadOnlyKeyValueStore<Bytes, byte[]> keys, Args step) {
        if (step.has("prefix")) {
            return keys.prefixScan(step.text("prefix"), new StringSerializer());
        }
        Bytes from = key(step, "from");
        Bytes to = key(step, "to");
        boolean all = from == null && to == null;
        if (step.flag("backward", false)) {
            return all ? keys.reverseAll() : keys.reverseRange(from, to);
        }
        return all ? keys.all() : keys.range(from, to);
    }

    /** A released iterator that is read step by step, with its store. */
    record OpenView(CachedStore store, KeyValueIterator<?, byte[]> iterator) {}

    private static JsonObject viewOpen(KafkaRun run, Args step) {
        String name = step.text("view");
        OpenView known = run.views.get(name);
        if (known != null && known.store.isOpen()) {
            throw new IllegalStateException("the view '" + name + "' is open");
        }
        CachedStore there = run.stores.get(step.text("store"));
        boolean ofKeys = there == null || there.kind == StoreKind.KEY_VALUE;
        if (ofKeys) {
            requireRange(step);
        }
        CachedStore store = opened(run, step);
        run.views.put(
                name,
                new OpenView(store, ofKeys ? iterator(store.keyValues(), step) : WindowOps.iterator(store, step)));
        return new JsonObject();
    }

    private static JsonObject viewNext(KafkaRun run, Args step) {
        OpenView view = openView(run, step);
        return with("entry", view.iterator.hasNext() ? view.store.kind.entry(view.iterator.next()) : JsonNull.INSTANCE);
    }

    private static JsonObject viewClose(KafkaRun run, Args step) {
        openView(run, step).iterator.close();
        run.views.remove(step.text("view"));
        return new JsonObject();
    }

    /** Returns the open view of the step; the view of a closed store is closed. */
    private static OpenView openView(KafkaRun run, Args step) {
        OpenView view = run.views.get(step.text("view"));
        if (view == null || !view.store.isOpen()) {
            throw new IllegalStateException("the view '" + step.text("view") + "' is not open");
        }
        return view;
    }

    private static JsonObject putIfAbsent(KafkaRun run, Args step) {
        return with("value", json(store(run, step).keyValues().putIfAbsent(key(step, "key"), value(step))));
    }

    private static JsonObject putAll(KafkaRun run, Args step) {
        List<KeyValue<Bytes, byte[]>> written = new ArrayList<>();
        for (JsonElement each : step.list("entries")) {
            JsonArray entry = each.getAsJsonArray();
            byte[] value = entry.get(1) instanceof JsonNull ? null : bytes(entry.get(1));
            written.add(KeyValue.pair(Bytes.wrap(bytes(entry.get(0))), value));
        }
        store(run, step).keyValues().putAll(written);
        return new JsonObject();
    }

    private static JsonObject count(KafkaRun run, Args step) {
        return with("entries", new JsonPrimitive(store(run, step).keyValues().approximateNumEntries()));
    }

    private static JsonObject query(KafkaRun run, Args step) {
        KeyQuery<Bytes, byte[]> query = KeyQuery.withKey(key(step, "key"));
        return with("value", json(ask(run, step, step.flag("skip_cache", false) ? query.skipCache() : query)));
    }

    private static JsonObject queryRange(KafkaRun run, Args step) {
        Bytes from = key(step, "from");
        Bytes to = key(step, "to");
        RangeQuery<Bytes, byte[]> query;
        if (from == null) {
            query = to == null ? RangeQuery.withNoBounds() : RangeQuery.withUpperBound(to);
        } else {
            query = to == null ? RangeQuery.withLowerBound(from) : RangeQuery.withRange(from, to);
        }
        KeyValueIterator<Bytes, byte[]> found = ask(run, step, query);
        return entries(found);
    }

    private static <R> R ask(KafkaRun run, Args step, Query<R> query) {
        return opened(run, step)
                .keyValues()
                .query(query, PositionBound.unbounded(), new QueryConfig(false))
                .getResult();
    }

    private static JsonObject clear(KafkaRun run, Args step) {
        opened(run, step).cached().clearCache();
        return new JsonObject();
    }

    private static JsonObject close(KafkaRun run, Args step) {
        store(run, step).caching.close();
        return new JsonObject();
    }

    private static byte[] bytes(JsonElement text) {
        return text.getAsString().getBytes(StandardCharsets.UTF_8);
    }
}

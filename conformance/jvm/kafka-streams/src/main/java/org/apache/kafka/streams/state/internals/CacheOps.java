package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.KafkaRun.namespace;
import static org.apache.kafka.streams.state.internals.Values.entry;
import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;

/** The operations of level {@code cache} that change a thread cache. */
final class CacheOps {
    private CacheOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(
                new Operation<>("put", "ThreadCache.put", CacheOps::put),
                new Operation<>("put_all", "ThreadCache.putAll", CacheOps::putAll),
                new Operation<>("put_if_absent", "ThreadCache.putIfAbsent", CacheOps::putIfAbsent),
                new Operation<>("delete", "ThreadCache.delete", CacheOps::delete),
                new Operation<>("listen", "ThreadCache.addDirtyEntryFlushListener", CacheOps::listen),
                new Operation<>("flush", "ThreadCache.flush", CacheOps::flush),
                new Operation<>("evict", "NamedCache.evict", CacheOps::evict),
                new Operation<>("clear", "ThreadCache.clear", CacheOps::clear),
                new Operation<>("close", "ThreadCache.close", CacheOps::close),
                new Operation<>("resize", "ThreadCache.resize", CacheOps::resize));
    }

    private static JsonObject put(KafkaRun run, Args step) {
        run.cache.put(namespace(step), key(step, "key"), entry(step));
        return new JsonObject();
    }

    private static JsonObject putAll(KafkaRun run, Args step) {
        List<KeyValue<Bytes, LRUCacheEntry>> entries = new ArrayList<>();
        for (JsonElement each : step.list("entries")) {
            Args one = new Args(each.getAsJsonObject());
            entries.add(KeyValue.pair(key(one, "key"), entry(one)));
        }
        run.cache.putAll(namespace(step), entries);
        return new JsonObject();
    }

    private static JsonObject putIfAbsent(KafkaRun run, Args step) {
        LRUCacheEntry existing = run.cache.putIfAbsent(namespace(step), key(step, "key"), entry(step));
        JsonObject outcome = new JsonObject();
        outcome.addProperty("present", existing != null);
        outcome.add("existing", json(existing));
        return outcome;
    }

    private static JsonObject delete(KafkaRun run, Args step) {
        LRUCacheEntry deleted = run.cache.delete(namespace(step), key(step, "key"));
        JsonObject outcome = new JsonObject();
        outcome.addProperty("present", deleted != null);
        outcome.add("value", json(deleted));
        return outcome;
    }

    private static JsonObject listen(KafkaRun run, Args step) {
        String name = step.text("ns");
        JsonArray steps = step.has("on_flush") ? step.list("on_flush") : new JsonArray();
        AtomicLong fails = new AtomicLong(step.number("fails", 0));
        run.cache.addDirtyEntryFlushListener(namespace(step), entries -> {
            JsonArray written = new JsonArray();
            entries.forEach(entry -> written.add(json(entry)));
            JsonObject call = new JsonObject();
            call.addProperty("ns", name);
            call.add("entries", written);
            run.flushed(call, steps, fails.getAndDecrement() > 0);
        });
        return new JsonObject();
    }

    private static JsonObject flush(KafkaRun run, Args step) {
        run.cache.flush(namespace(step));
        return new JsonObject();
    }

    /** Performs one iteration of maybeEvict, because the thread cache has no such method. */
    private static JsonObject evict(KafkaRun run, Args step) {
        NamedCache named = LookOps.named(run, step);
        if (named != null) {
            synchronized (named) {
                Total.evict(run.cache, named);
            }
        }
        return new JsonObject();
    }

    private static JsonObject clear(KafkaRun run, Args step) {
        run.cache.clear(namespace(step));
        return new JsonObject();
    }

    private static JsonObject close(KafkaRun run, Args step) {
        run.cache.close(namespace(step));
        return new JsonObject();
    }

    private static JsonObject resize(KafkaRun run, Args step) {
        run.cache.resize(step.number("max_size_bytes"));
        return new JsonObject();
    }
}

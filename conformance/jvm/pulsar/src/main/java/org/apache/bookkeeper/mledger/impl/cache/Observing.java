package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.json;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.lang.reflect.Field;
import org.apache.bookkeeper.mledger.EntryReadCountHandler;

/**
 * The operation {@code observe}.
 *
 * <p>Only reads fields, because the released traversal of the queue reverses it and drops its tombstones.
 */
final class Observing {
    private static final Field QUEUED = Released.field(RangeCacheRemovalQueue.class, "removalQueue");

    private Observing() {}

    static Operation<Pip430Run> operation() {
        return new Operation<>(
                "observe", "none: fields of RangeCache and RangeCacheRemovalQueue", Observing::observe);
    }

    private static JsonObject observe(Pip430Run run, Args step) {
        JsonObject all = new JsonObject();
        run.caches.forEach((name, named) -> {
            JsonArray positions = new JsonArray();
            Era.wrappers(named.range()).keySet().forEach(position -> positions.add(json(position)));
            if (!positions.isEmpty() || named.cache().getSize() != 0) {
                JsonObject one = new JsonObject();
                one.add("entries", positions);
                one.addProperty("bytes", named.cache().getSize());
                all.add(name, one);
            }
        });
        JsonArray queue = new JsonArray();
        long tombstones = 0;
        for (Object queued : (Iterable<?>) Released.get(QUEUED, run.manager.getRangeCacheRemovalQueue())) {
            RangeCacheEntryWrapper wrapper = (RangeCacheEntryWrapper) queued;
            if (wrapper.key == null) {
                tombstones++;
            } else {
                queue.add(slot(run.names.get(wrapper.rangeCache), wrapper));
            }
        }
        JsonObject outcome = new JsonObject();
        outcome.addProperty("now", Clock.nanoTime());
        outcome.addProperty("bytes", run.manager.getSize());
        outcome.add("caches", all);
        outcome.add("queue", queue);
        outcome.addProperty("tombstones", tombstones);
        return outcome;
    }

    private static JsonObject slot(String cache, RangeCacheEntryWrapper wrapper) {
        EntryReadCountHandler reads = wrapper.value.getReadCountHandler();
        JsonObject slot = new JsonObject();
        slot.addProperty("cache", cache);
        slot.add("pos", json(wrapper.key));
        slot.addProperty("size", wrapper.size);
        slot.addProperty("age_nanos", Clock.nanoTime() - wrapper.timestampNanos);
        slot.addProperty("requeues", wrapper.requeueCount);
        slot.addProperty("accessed", wrapper.accessed);
        slot.addProperty("expected_reads", reads == null ? null : reads.getExpectedReadCount());
        return slot;
    }
}

package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import entrycache.protocol.Args;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;

/** Conversions of keys, values and entries between the protocol and the released classes. */
final class Values {
    /** The value of an entry's field that its put does not set. */
    static final int ABSENT = -1;

    /**
     * The timestamp of an entry if its put sets none. A record downstream must not have a negative one, and the
     * protocol has no such number.
     */
    static final long NO_TIMESTAMP = Long.MAX_VALUE;

    private Values() {}

    static Bytes key(Args step, String name) {
        return step.has(name) ? Bytes.wrap(bytes(step.text(name))) : null;
    }

    static byte[] value(Args step) {
        return step.has("value") ? bytes(step.text("value")) : null;
    }

    static LRUCacheEntry entry(Args step) {
        return Era.entry(
                value(step),
                headers(step),
                step.flag("dirty", false),
                step.number("offset", ABSENT),
                step.number("timestamp", NO_TIMESTAMP),
                Math.toIntExact(step.number("partition", ABSENT)),
                step.has("topic") ? step.text("topic") : "");
    }

    static JsonElement json(Bytes key) {
        return json(key.get());
    }

    static JsonElement json(byte[] bytes) {
        return bytes == null ? JsonNull.INSTANCE : new JsonPrimitive(new String(bytes, StandardCharsets.UTF_8));
    }

    static JsonElement json(LRUCacheEntry entry) {
        return entry == null ? JsonNull.INSTANCE : json(entry.value());
    }

    static JsonArray json(ThreadCache.DirtyEntry entry) {
        JsonArray pair = pair(json(entry.key()), json(entry.newValue()));
        ProcessorRecordContext context = entry.entry().context();
        JsonObject carried = new JsonObject();
        carry(carried, "timestamp", context.timestamp(), NO_TIMESTAMP);
        carry(carried, "offset", context.offset(), ABSENT);
        carry(carried, "partition", context.partition(), ABSENT);
        if (!carried.isEmpty()) {
            pair.add(carried);
        }
        return pair;
    }

    static JsonArray pair(JsonElement key, JsonElement value) {
        JsonArray pair = new JsonArray(3);
        pair.add(key);
        pair.add(value);
        return pair;
    }

    private static void carry(JsonObject carried, String name, long value, long absent) {
        if (value != absent) {
            carried.addProperty(name, value);
        }
    }

    private static Headers headers(Args step) {
        RecordHeaders headers = new RecordHeaders();
        if (step.has("headers")) {
            for (JsonElement each : step.list("headers")) {
                JsonArray header = each.getAsJsonArray();
                headers.add(header.get(0).getAsString(), bytes(header.get(1).getAsString()));
            }
        }
        return headers;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

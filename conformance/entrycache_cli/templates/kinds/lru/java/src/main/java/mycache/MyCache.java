package mycache;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Server;
import java.io.IOException;
import java.util.List;

/** An adapter for a cache that evicts the least recently used entry, with a limit in entries. */
public final class MyCache implements Adapter<Lru> {
    /** The runner gives every entry this size, so that a limit in bytes is one in entries. */
    private static final long ENTRY_BYTES = 47;

    private static JsonObject outcome(String there, String named, String value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(there, value != null);
        outcome.add(named, value == null ? JsonNull.INSTANCE : new JsonPrimitive(value));
        return outcome;
    }

    private static JsonObject put(Lru cache, Args step) {
        cache.put(step.text("key"), step.text("value"));
        return new JsonObject();
    }

    private static JsonObject putIfAbsent(Lru cache, Args step) {
        String existing = cache.get(step.text("key"));
        if (existing == null) {
            cache.put(step.text("key"), step.text("value"));
        }
        return outcome("present", "existing", existing);
    }

    private static JsonObject usage(Lru cache, Args step) {
        JsonObject used = new JsonObject();
        used.addProperty("entries", cache.size());
        used.addProperty("bytes", cache.size() * ENTRY_BYTES);
        return used;
    }

    private static JsonObject clear(Lru cache, Args step) {
        cache.clear();
        return new JsonObject();
    }

    @Override
    public List<Operation<Lru>> operations() {
        return List.of(
                new Operation<>("put", "Lru.put", MyCache::put),
                new Operation<>("put_if_absent", "Lru.get, Lru.put", MyCache::putIfAbsent),
                new Operation<>("get", "Lru.get", (cache, step) -> outcome("hit", "value", cache.get(step.text("key")))),
                new Operation<>("delete", "Lru.delete",
                        (cache, step) -> outcome("present", "value", cache.delete(step.text("key")))),
                new Operation<>("usage", "Lru.size", MyCache::usage),
                new Operation<>("clear", "Lru.clear", MyCache::clear));
    }

    @Override
    public String system() {
        return "kafka-streams";
    }

    @Override
    public JsonObject implementation() {
        return JsonParser.parseString("{'name': 'my-cache', 'version': '1', 'language': 'Java'}").getAsJsonObject();
    }

    @Override
    public JsonObject declares() {
        return JsonParser.parseString("""
                {"config": ["max_size_bytes"],
                 "limits": {"dirty": false, "namespaces": 1, "entry_size": 47, "zero_limit": false},
                 "arguments": {
                   "put": {"topic": "never", "headers": "never", "timestamp": "never", "offset": "never", "partition": "never"},
                   "put_if_absent": {"topic": "never", "headers": "never", "timestamp": "never", "offset": "never", "partition": "never"},
                   "get": {"key": "always"}}}
                """).getAsJsonObject();
    }

    @Override
    public Lru open(Args config) {
        return new Lru(config.number("max_size_bytes", 10_485_760) / ENTRY_BYTES);
    }

    /** Ends a run: release here what your cache holds outside the heap. */
    @Override
    public void close(Lru cache) {
        cache.clear();
    }

    public static void main(String[] arguments) throws IOException {
        Server.main(arguments, MyCache::new);
    }
}

package mycache;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import entrycache.protocol.Server;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** An adapter for system pulsar-pip430, level range, with a naive cache: put calls of your own in its place. */
public final class MyCache implements Adapter<MyCache.Cache> {
    /** Where an entry stands. */
    record Position(long ledger, long entry) implements Comparable<Position> {
        static Position of(Args step, String name) {
            JsonArray pair = step.list(name);
            return new Position(pair.get(0).getAsLong(), pair.get(1).getAsLong());
        }

        @Override
        public int compareTo(Position other) {
            return Comparator.comparingLong(Position::ledger).thenComparingLong(Position::entry).compare(this, other);
        }
    }

    /** The cache: the size of every entry, by cache and position. */
    static final class Cache {
        private final boolean disabled;
        private final Map<String, TreeMap<Position, Long>> caches = new HashMap<>();

        Cache(boolean disabled) {
            this.disabled = disabled;
        }

        boolean insert(String name, Position pos, long size) {
            TreeMap<Position, Long> entries = caches.computeIfAbsent(name, absent -> new TreeMap<>());
            return !disabled && entries.putIfAbsent(pos, size) == null;
        }

        TreeMap<Position, Long> entries(String name) {
            return caches.getOrDefault(name, new TreeMap<>());
        }

        /** A range whose first position is above its last is empty. */
        Map<Position, Long> between(String name, Position first, Position last, boolean lastToo) {
            return first.compareTo(last) > 0 ? new TreeMap<>() : entries(name).subMap(first, true, last, lastToo);
        }
    }

    private static JsonObject insert(Cache cache, Args step) {
        Refused.unless(step.number("size") >= 0, "a negative size");
        return told("inserted", cache.insert(step.text("cache"), Position.of(step, "pos"), step.number("size")));
    }

    private static boolean has(Cache cache, Args step) {
        return cache.entries(step.text("cache")).containsKey(Position.of(step, "pos"));
    }

    private static Map<Position, Long> range(Cache cache, Args step, boolean lastToo) {
        return cache.between(step.text("cache"), Position.of(step, "first"), Position.of(step, "last"), lastToo);
    }

    private static JsonObject usage(Cache cache, Args step) {
        TreeMap<String, Long> sizes = new TreeMap<>();
        Set<String> names = step.has("cache") ? Set.of(step.text("cache")) : cache.caches.keySet();
        names.forEach(name -> cache.entries(name).forEach((pos, size) -> sizes.put(name + pos, size)));
        return count(sizes);
    }

    private static JsonObject observe(Cache cache, Args step) {
        JsonObject caches = new JsonObject();
        cache.caches.forEach((name, entries) -> {
            if (!entries.isEmpty()) {
                JsonObject shown = new JsonObject();
                shown.add("bytes", count(entries).get("bytes"));
                shown.add("entries", positions(entries.keySet()));
                caches.add(name, shown);
            }
        });
        JsonObject observed = new JsonObject();
        observed.add("bytes", usage(cache, step).get("bytes"));
        observed.add("caches", caches);
        return observed;
    }

    private static JsonObject told(String name, boolean value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(name, value);
        return outcome;
    }

    private static JsonObject count(Map<?, Long> entries) {
        JsonObject counted = new JsonObject();
        counted.addProperty("entries", entries.size());
        counted.addProperty("bytes", entries.values().stream().mapToLong(Long::longValue).sum());
        return counted;
    }

    private static JsonObject removed(Map<Position, Long> entries) {
        JsonObject counted = count(entries);
        entries.clear();
        return counted;
    }

    private static JsonArray positions(Iterable<Position> found) {
        JsonArray all = new JsonArray();
        for (Position pos : found) {
            JsonArray pair = new JsonArray();
            pair.add(pos.ledger);
            pair.add(pos.entry);
            all.add(pair);
        }
        return all;
    }

    private static JsonObject hits(Map<Position, Long> found) {
        JsonObject outcome = new JsonObject();
        outcome.add("hits", positions(found.keySet()));
        return outcome;
    }

    @Override
    public List<Operation<Cache>> operations() {
        return List.of(
                new Operation<>("insert", "Cache.insert", MyCache::insert),
                new Operation<>("get", "Map.containsKey", (cache, step) -> told("hit", has(cache, step))),
                new Operation<>("exists", "Map.containsKey", (cache, step) -> told("exists", has(cache, step))),
                new Operation<>("get_range", "Cache.between", (cache, step) -> hits(range(cache, step, true))),
                new Operation<>("remove_range", "Cache.between",
                        (cache, step) -> removed(range(cache, step, step.flag("last_inclusive")))),
                new Operation<>("clear", "Map.clear", (cache, step) -> removed(cache.entries(step.text("cache")))),
                new Operation<>("usage", "Cache.entries", MyCache::usage),
                new Operation<>("observe", "Cache.entries", MyCache::observe));
    }

    @Override
    public String system() {
        return "pulsar-pip430";
    }

    @Override
    public JsonObject implementation() {
        return parse("{'name': 'my-cache', 'version': '1', 'language': 'Java'}");
    }

    @Override
    public JsonObject declares() {
        return parse("{'config': ['max_size_bytes'], 'introspection': ['bytes', 'caches']}");
    }

    @Override
    public Cache open(Args config) {
        return new Cache(config.number("max_size_bytes", 1) == 0);
    }

    private static JsonObject parse(String text) {
        return com.google.gson.JsonParser.parseString(text).getAsJsonObject();
    }

    public static void main(String[] arguments) throws IOException {
        Server.main(arguments, MyCache::new);
    }
}

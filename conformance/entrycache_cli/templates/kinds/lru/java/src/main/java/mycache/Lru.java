package mycache;

import java.util.LinkedHashMap;
import java.util.Map;

/** A naive cache: put a cache of your own in its place. */
final class Lru {
    private final Map<String, String> entries;

    Lru(long most) {
        entries = new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
                return size() > most;
            }
        };
    }

    void put(String key, String value) {
        entries.put(key, value);
    }

    /** Returns the value, or null if the key is not cached. */
    String get(String key) {
        return entries.get(key);
    }

    /** Removes the key and returns its value, or null if it was not cached. */
    String delete(String key) {
        return entries.remove(key);
    }

    void clear() {
        entries.clear();
    }

    long size() {
        return entries.size();
    }
}

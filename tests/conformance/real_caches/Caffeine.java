package mycache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/** Caffeine. Its maintenance runs after each call, in the calling thread. */
final class Lru {
    private final Cache<String, String> entries;

    Lru(long most) {
        entries = Caffeine.newBuilder().maximumSize(most).executor(Runnable::run).build();
    }

    void put(String key, String value) {
        entries.put(key, value);
        entries.cleanUp();
    }

    String get(String key) {
        String value = entries.getIfPresent(key);
        entries.cleanUp();
        return value;
    }

    String delete(String key) {
        String value = entries.asMap().remove(key);
        entries.cleanUp();
        return value;
    }

    void clear() {
        entries.invalidateAll();
        entries.cleanUp();
    }

    long size() {
        return entries.estimatedSize();
    }
}

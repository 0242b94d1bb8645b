package org.apache.kafka.streams.state.internals;

import java.util.Map;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;

/** The classes of 4.3, where they are shaped otherwise than those before. */
final class Era {
    /** The call that writes a store's cache through. */
    static final String FLUSH = "CachingKeyValueStore.commit";

    private Era() {}

    static StreamsMetricsImpl metrics(Metrics registry, Time time) {
        return new StreamsMetricsImpl(registry, "entrycache", time);
    }

    static LRUCacheEntry entry(
            byte[] value, Headers headers, boolean dirty, long offset, long timestamp, int partition, String topic) {
        return new LRUCacheEntry(value, headers, dirty, offset, timestamp, partition, topic, null, null);
    }

    static CachingKeyValueStore caching(KeyValueStore<Bytes, byte[]> inner) {
        return new CachingKeyValueStore(inner, CachingKeyValueStore.CacheType.KEY_VALUE_STORE);
    }

    static void flush(CachingKeyValueStore store) {
        store.commit(Map.of());
    }
}

package org.apache.kafka.streams.state.internals;

import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;

/** The adapter's code for classes that differ between 3.9 or 4.0 and release 4.3. */
final class Era {
    /** The released method that flushes the cache of a store. */
    static final String FLUSH = "CachingKeyValueStore.flush";

    private Era() {}

    static StreamsMetricsImpl metrics(Metrics registry, Time time) {
        return new StreamsMetricsImpl(registry, "entrycache", "entrycache", time);
    }

    static LRUCacheEntry entry(
            byte[] value, Headers headers, boolean dirty, long offset, long timestamp, int partition, String topic) {
        return new LRUCacheEntry(value, headers, dirty, offset, timestamp, partition, topic);
    }

    static CachingKeyValueStore caching(KeyValueStore<Bytes, byte[]> inner) {
        return new CachingKeyValueStore(inner, false);
    }

    static void flush(CachingKeyValueStore store) {
        store.flush();
    }
}

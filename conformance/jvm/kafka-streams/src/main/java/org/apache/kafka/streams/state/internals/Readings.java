package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;

/** The named variants in which the releases differ from the protocol, each with the findings that it stands for. */
final class Readings {
    private static final Map<String, String> VARIANTS = Map.of(
            "undelivered_eviction", "lost",
            "failed_flush", "clean",
            "total", "running",
            "flushed_tombstone", "any-write",
            "delivery", "one-by-one",
            "delete_read", "cached");

    private static final Map<String, String> FINDINGS = Map.of(
            "variants.delete_read", "kafka-delete-overwrites-nested-write",
            "variants.undelivered_eviction", "kafka-undelivered-eviction-loses-entry",
            "variants.failed_flush", "kafka-failed-flush-leaves-clean",
            "variants.total", "kafka-nested-change-counts-twice, kafka-resize-never-ends",
            "variants.flushed_tombstone", "kafka-rewritten-tombstone-is-dropped",
            "variants.delivery", "kafka-stale-read-in-forward, kafka-older-value-written-last",
            "limits.concurrent_resize", "kafka-query-and-resize-deadlock",
            "limits.crossed_listeners", "kafka-crossed-listeners-deadlock",
            "limits.concurrent_clear", "kafka-close-drifts-total",
            "limits.exact_counts_under_threads", "kafka-thread-counters-lose-counts");

    /** The limits of the steps in histories. */
    private static final List<String> LIMITS = List.of(
            "concurrent_resize", "crossed_listeners", "concurrent_clear", "exact_counts_under_threads");

    private Readings() {}

    static JsonObject variants() {
        return json(VARIANTS);
    }

    static JsonObject limits() {
        JsonObject limits = new JsonObject();
        LIMITS.forEach(each -> limits.addProperty(each, false));
        return limits;
    }

    static JsonObject findings() {
        return json(FINDINGS);
    }

    private static JsonObject json(Map<String, String> named) {
        JsonObject object = new JsonObject();
        named.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(each ->
                object.addProperty(each.getKey(), each.getValue()));
        return object;
    }
}

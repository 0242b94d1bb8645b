package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.internals.metrics.ClientMetrics;

/** The named variants in which the releases differ from the protocol, each with the findings that it stands for. */
final class Readings {
    private static final Map<String, String> VARIANTS = Map.ofEntries(
            Map.entry("undelivered_eviction", "lost"),
            Map.entry("failed_flush", "clean"),
            Map.entry("total", "running"),
            Map.entry("flushed_tombstone", "any-write"),
            Map.entry("delivery", "one-by-one"),
            Map.entry("delete_read", "cached"),
            Map.entry("range_query", "below"),
            Map.entry("expired_windows", "cached"),
            Map.entry("close_check", "keyvalue"));

    private static final Map<String, String> FINDINGS = Map.ofEntries(
            Map.entry("variants.delete_read", "kafka-delete-overwrites-nested-write"),
            Map.entry("variants.undelivered_eviction", "kafka-undelivered-eviction-loses-entry"),
            Map.entry("variants.failed_flush", "kafka-failed-flush-leaves-clean"),
            Map.entry("variants.total", "kafka-nested-change-counts-twice, kafka-resize-never-ends"),
            Map.entry("variants.flushed_tombstone", "kafka-rewritten-tombstone-is-dropped"),
            Map.entry("variants.delivery", "kafka-stale-read-in-forward, kafka-older-value-written-last"),
            Map.entry("limits.concurrent_resize", "kafka-query-and-resize-deadlock"),
            Map.entry("limits.crossed_listeners", "kafka-crossed-listeners-deadlock"),
            Map.entry("limits.concurrent_clear", "kafka-close-drifts-total"),
            Map.entry("limits.exact_counts_under_threads", "kafka-thread-counters-lose-counts"),
            Map.entry("variants.range_query", "kafka-range-query-skips-cache"),
            Map.entry("variants.expired_windows", "kafka-expired-windows-readable"),
            Map.entry("limits.empty_prefix", "kafka-prefix-scan-throws"),
            Map.entry("limits.open_views_overflow", "kafka-iteration-misses-evicted"),
            Map.entry("limits.backward_sessions", "kafka-backward-sessions-missed"),
            Map.entry("limits.open_bounds", "kafka-null-bounds-repeat-windows"),
            Map.entry("limits.reversed_times", "kafka-session-before-gap-throws"),
            Map.entry("limits.far_fetch", "kafka-fetch-walks-empty-segments"),
            Map.entry("limits.views_in_put_forward", "kafka-put-window-not-in-range"),
            Map.entry("limits.equal_ends", "kafka-sessions-of-one-end-repeat"),
            Map.entry("limits.expiry_under_view", "kafka-expired-windows-readable"),
            Map.entry("limits.zero_bytes", "kafka-in-memory-windows-out-of-order"));

    /** The finding of the releases before 4.0. */
    private static final String DELETED_UNDER_VIEW = "kafka-iteration-meets-deleted";

    /** The limits of the steps in cases and histories. */
    private static final List<String> LIMITS = List.of(
            "empty_prefix",
            "open_views_overflow",
            "backward_sessions",
            "open_bounds",
            "reversed_times",
            "far_fetch",
            "views_in_put_forward",
            "equal_ends",
            "expiry_under_view",
            "zero_bytes",
            "concurrent_resize",
            "crossed_listeners",
            "concurrent_clear",
            "exact_counts_under_threads");

    private Readings() {}

    static JsonObject variants() {
        JsonObject variants = json(VARIANTS);
        if (isBefore391()) {
            variants.addProperty("view_tombstone", "dropped");
        } else {
            variants.addProperty("backward_tombstone", "shows");
        }
        return variants;
    }

    static JsonObject limits() {
        JsonObject limits = new JsonObject();
        LIMITS.forEach(each -> limits.addProperty(each, false));
        if (isBefore4() || RocksStores.CHOSEN) {
            limits.addProperty("delete_under_view", false);
        }
        limits.addProperty("isolation_reads", Era.readsIsolated());
        return limits;
    }

    static JsonObject findings() {
        JsonObject findings = json(FINDINGS);
        if (isBefore391()) {
            findings.addProperty("variants.view_tombstone", "kafka-view-shows-deleted");
        } else {
            findings.addProperty("variants.backward_tombstone", "kafka-reverse-view-shows-deleted");
        }
        if (RocksStores.CHOSEN) {
            findings.addProperty("limits.delete_under_view", "kafka-iteration-misses-evicted");
        } else if (isBefore4()) {
            findings.addProperty("limits.delete_under_view", DELETED_UNDER_VIEW);
        }
        return findings;
    }

    private static boolean isBefore4() {
        return ClientMetrics.version().startsWith("3.");
    }

    /** KAFKA-18326 is mended in 3.9.1; its change is what backward views still get wrong. */
    private static boolean isBefore391() {
        return ClientMetrics.version().matches("3\\.([0-8]\\..*|9\\.0\\b.*)");
    }

    private static JsonObject json(Map<String, String> named) {
        JsonObject object = new JsonObject();
        named.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(each ->
                object.addProperty(each.getKey(), each.getValue()));
        return object;
    }
}

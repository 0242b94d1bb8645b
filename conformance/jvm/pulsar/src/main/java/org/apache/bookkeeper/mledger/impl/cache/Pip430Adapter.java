package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The system {@code pulsar-pip430}, as released by Pulsar 4.2 and 5.0.
 *
 * <p>It lives in the package of the released cache, whose classes are not public.
 */
final class Pip430Adapter implements Adapter<Pip430Run> {
    private static final List<String> CONFIG = List.of(
            "max_size_bytes",
            "watermark",
            "ttl_nanos",
            "max_requeues",
            "extend_recently_accessed",
            "evict_by_expected_reads",
            "evict_by_mark_deleted",
            "grace_millis",
            "storage_entry_size",
            "eviction",
            "min_backlog_cursors",
            "min_backlog_entries",
            "max_backlog_between",
            "max_reads_in_flight_bytes",
            "acquire_timeout_millis",
            "acquire_queue",
            "invalidation",
            "storage");
    private static final Set<String> UNMANAGED = Set.of(
            "insert",
            "remove_range",
            "clear",
            "mark_read",
            "expect_read",
            "invalidate_before",
            "invalidate_ledger",
            "remove_cache",
            "read",
            "read_one",
            "cursor_add",
            "cursor_move",
            "cursor_remove");
    private static final Gson GSON = new Gson();
    private static final List<String> INTROSPECTION =
            List.of("now", "bytes", "caches", "queue", "tombstones", "requeues");

    @Override
    public String system() {
        return "pulsar-pip430";
    }

    @Override
    public JsonObject implementation() {
        return Answers.implementation(Era.STAND_INS);
    }

    @Override
    public JsonObject declares() {
        JsonObject limits = new JsonObject();
        limits.addProperty("max_size", Integer.MAX_VALUE);
        Era.LIMITS.forEach((name, limit) -> limits.add(name, GSON.toJsonTree(limit)));
        JsonObject findings = new JsonObject();
        Era.FINDINGS.forEach(findings::addProperty);
        JsonObject system = new JsonObject();
        JsonObject variants = new JsonObject();
        Era.VARIANTS.forEach(variants::addProperty);
        system.add("variants", variants);
        system.add("config", Answers.strings(CONFIG));
        system.add("introspection", Answers.strings(INTROSPECTION));
        system.addProperty("payload", true);
        system.addProperty("leaks", true);
        system.add("limits", limits);
        system.add("findings", findings);
        return system;
    }

    @Override
    public List<Operation<Pip430Run>> operations() {
        return Stream.of(
                        RangeOps.operations(),
                        QueueOps.operations(),
                        ManagerOps.operations(),
                        ReadOps.operations(),
                        CursorOps.operations(),
                        LimiterOps.operations(),
                        PendingOps.operations(),
                        LedgerOps.operations(),
                        InflightOps.operations(),
                        List.of(Asks.operation(), Observing.operation()))
                .flatMap(List::stream)
                .map(Pip430Adapter::guarded)
                .map(Pip430Adapter::finished)
                .toList();
    }

    /** Returns the operation; if it would change a cache past its managed ledger, it refuses managed caches. */
    private static Operation<Pip430Run> guarded(Operation<Pip430Run> operation) {
        if (!UNMANAGED.contains(operation.name())) {
            return operation;
        }
        return new Operation<>(operation.name(), operation.calls(), (run, step) -> {
            Refused.unless(!run.managed.has(step.text("cache")), "the cache is managed");
            return operation.perform().apply(run, step);
        });
    }

    /** Returns the operation; it ends when no task is left, and reports what was asked of storage and which reads ended. */
    private static Operation<Pip430Run> finished(Operation<Pip430Run> operation) {
        return new Operation<>(operation.name(), operation.calls(), (run, step) -> {
            JsonObject outcome = operation.perform().apply(run, step);
            run.managed.finish();
            run.asks.report(outcome);
            return outcome;
        });
    }

    @Override
    public Pip430Run open(Args config) {
        return new Pip430Run(config);
    }

    @Override
    public OptionalLong leaked(Pip430Run run) {
        return OptionalLong.of(run.leaked());
    }
}

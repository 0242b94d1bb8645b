package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.List;
import java.util.OptionalLong;
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
            "eviction");
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
                        List.of(Observing.operation()))
                .flatMap(List::stream)
                .toList();
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

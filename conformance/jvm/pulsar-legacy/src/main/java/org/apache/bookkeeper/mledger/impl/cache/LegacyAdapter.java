package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The system {@code pulsar-legacy}, as released by Pulsar 3.3 and 4.0.
 *
 * <p>It lives in the package of the released cache, whose classes are not public.
 */
final class LegacyAdapter implements Adapter<LegacyRun> {
    private static final List<String> CONFIG = List.of("max_size_bytes", "watermark", "ttl_nanos", "eviction");
    private static final List<String> INTROSPECTION = List.of("now", "bytes", "caches");

    @Override
    public String system() {
        return "pulsar-legacy";
    }

    @Override
    public JsonObject implementation() {
        return Answers.implementation("");
    }

    @Override
    public JsonObject declares() {
        JsonObject limits = new JsonObject();
        limits.addProperty("max_size", Integer.MAX_VALUE);
        JsonObject variants = new JsonObject();
        Era.VARIANTS.forEach(variants::addProperty);
        JsonObject findings = new JsonObject();
        Era.FINDINGS.forEach(findings::addProperty);
        JsonObject system = new JsonObject();
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
    public List<Operation<LegacyRun>> operations() {
        return Stream.of(CacheOps.operations(), EvictionOps.operations(), LegacyReadOps.operations())
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public LegacyRun open(Args config) {
        return new LegacyRun(config);
    }

    @Override
    public OptionalLong leaked(LegacyRun run) {
        return OptionalLong.of(run.leaked());
    }
}

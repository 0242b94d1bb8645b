package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Coordinates;
import entrycache.protocol.Operation;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.streams.internals.metrics.ClientMetrics;

/**
 * The system {@code kafka-streams}: the thread cache of Kafka Streams, and the caching stores above it.
 *
 * <p>It lives in the package of the released cache, whose classes are not all public.
 */
final class KafkaStreamsAdapter implements Adapter<KafkaRun> {
    private static final int THREADS = 8;

    @Override
    public String system() {
        return "kafka-streams";
    }

    @Override
    public JsonObject implementation() {
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", RocksStores.CHOSEN ? "Apache Kafka Streams over RocksDB" : "Apache Kafka Streams");
        implementation.addProperty("version", ClientMetrics.version());
        implementation.addProperty("language", "Java");
        implementation.addProperty("source", Coordinates.of(ThreadCache.class, "org.apache.kafka:kafka-streams"));
        return implementation;
    }

    @Override
    public JsonObject declares() {
        JsonObject system = new JsonObject();
        system.add("config", strings(List.of("max_size_bytes", "reentry_budget")));
        system.add("introspection", strings(List.of("dirty", "lru", "tracked")));
        system.add("variants", Readings.variants());
        system.add("limits", Readings.limits());
        system.add("findings", Readings.findings());
        system.addProperty("payload", false);
        system.addProperty("leaks", false);
        return system;
    }

    @Override
    public List<Operation<KafkaRun>> operations() {
        return KafkaRun.OPERATIONS.values().stream()
                .filter(each -> !(RocksStores.CHOSEN && each.name().equals("store_count")))
                .map(each -> new Operation<KafkaRun>(each.name(), each.calls(), KafkaRun::step))
                .toList();
    }

    @Override
    public KafkaRun open(Args config) {
        return new KafkaRun(config);
    }

    @Override
    public void close(KafkaRun run) {
        run.close();
    }

    @Override
    public int threads() {
        return THREADS;
    }

    static List<Operation<KafkaRun>> all() {
        return Stream.of(
                        CacheOps.operations(),
                        LookOps.operations(),
                        StoreOps.operations(),
                        ViewOps.operations(),
                        WindowOps.operations(),
                        ShareOps.operations())
                .flatMap(List::stream)
                .toList();
    }

    private static JsonArray strings(List<String> values) {
        JsonArray array = new JsonArray();
        values.forEach(array::add);
        return array;
    }
}

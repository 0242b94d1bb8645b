package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.MissingPart;
import entrycache.protocol.Operation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;
import org.apache.kafka.streams.processor.internals.TopologyMetadata;
import org.apache.kafka.streams.state.Stores;
import sun.reflect.ReflectionFactory;

/**
 * The operation that computes the share of one thread in the cache of a whole client.
 *
 * <p>The client is made without its constructor, which would connect to brokers. Its topology is a real one, with or
 * without a global table.
 */
final class ShareOps {
    private static final Field TOTAL = Reflection.field(KafkaStreams.class, "totalCacheSize");
    private static final Field TOPOLOGY = Reflection.field(KafkaStreams.class, "topologyMetadata");
    private static final Field BUILDER = Reflection.field(Topology.class, "internalTopologyBuilder");

    /** The method that computes the share; its name begins with get in older releases. */
    private static final Method SHARE = Stream.of(KafkaStreams.class.getDeclaredMethods())
            .filter(method -> method.getName().matches("(getC|c)acheSizePerThread"))
            .findFirst()
            .orElseThrow(() -> new MissingPart("KafkaStreams has no method cacheSizePerThread"));

    private static final StreamsConfig CONFIG = new StreamsConfig(Map.of(
            StreamsConfig.APPLICATION_ID_CONFIG, "entrycache", StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1"));

    private ShareOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(new Operation<>("share", "KafkaStreams." + SHARE.getName(), ShareOps::share));
    }

    private static JsonObject share(KafkaRun run, Args step) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(
                "bytes", share(step.number("total_bytes"), step.number("threads"), step.flag("global_thread")));
        return outcome;
    }

    private static long share(long total, long threads, boolean global) {
        StreamsBuilder builder = new StreamsBuilder();
        if (global) {
            builder.globalTable("topic", Materialized.as(Stores.inMemoryKeyValueStore("table")));
        }
        InternalTopologyBuilder topology = (InternalTopologyBuilder) Reflection.get(BUILDER, builder.build());
        TopologyMetadata metadata = new TopologyMetadata(topology, CONFIG);
        metadata.buildAndRewriteTopology();
        try {
            KafkaStreams client = (KafkaStreams) ReflectionFactory.getReflectionFactory()
                    .newConstructorForSerialization(KafkaStreams.class, Object.class.getDeclaredConstructor())
                    .newInstance();
            TOTAL.set(client, total);
            TOPOLOGY.set(client, metadata);
            SHARE.setAccessible(true);
            return (long) SHARE.invoke(client, Math.toIntExact(threads));
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException(e);
        }
    }
}

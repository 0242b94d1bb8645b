package entrycache.bookkeeper;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import entrycache.protocol.Adapter;
import entrycache.protocol.Args;
import entrycache.protocol.Coordinates;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import entrycache.protocol.Server;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.util.List;
import org.apache.bookkeeper.bookie.storage.ldb.ReadCache;

/** The process that serves the read cache of a bookie: a ring of segments, each with an index, as in PIP-174. */
public final class ReadCacheDriver implements Adapter<ReadCache> {
    /**
     * What the cache lacks: it has one name space and no limit of 0, {@code put} answers nothing, and {@code size}
     * counts each segment but the current one as full. It reserves its memory at once, so limits stay small.
     */
    private static final String DECLARED = """
            {"config": ["max_size_bytes"], "fixed": {"mode": "copy"},
             "variants": {"duplicate": "overwritten"},
             "uncompared": {"insert": ["inserted"], "usage": ["bytes"]},
             "limits": {%s"namespaces": 1, "zero_limit": false, "max_limit": 1000000, "max_size": 1000000,
                        "defaults": false},
             "findings": {%s}}
            """
            .formatted(Era.LIMITS, Era.FINDINGS);

    private static JsonObject insert(ReadCache cache, Args step) {
        long size = step.number("size");
        Refused.unless(size >= 0, "a negative size");
        ByteBuf entry = Unpooled.buffer((int) size).writeZero((int) size);
        try {
            cache.put(ledger(step), entry(step), entry);
        } finally {
            entry.release();
        }
        return new JsonObject();
    }

    private static JsonObject get(ReadCache cache, Args step) {
        ByteBuf found = cache.get(ledger(step), entry(step));
        JsonObject outcome = new JsonObject();
        outcome.addProperty("hit", found != null);
        if (found != null) {
            found.release();
        }
        return outcome;
    }

    private static JsonObject usage(ReadCache cache, Args step) {
        JsonObject used = new JsonObject();
        used.addProperty("entries", cache.count());
        return used;
    }

    private static long ledger(Args step) {
        return step.list("pos").get(0).getAsLong();
    }

    private static long entry(Args step) {
        return step.list("pos").get(1).getAsLong();
    }

    @Override
    public List<Operation<ReadCache>> operations() {
        return List.of(
                new Operation<>("insert", "ReadCache.put", ReadCacheDriver::insert),
                new Operation<>("get", "ReadCache.get", ReadCacheDriver::get),
                new Operation<>("usage", "ReadCache.count", ReadCacheDriver::usage));
    }

    @Override
    public String system() {
        return "pulsar-segmented";
    }

    @Override
    public JsonObject implementation() {
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", "Apache BookKeeper ReadCache");
        implementation.addProperty("language", "Java");
        implementation.addProperty(
                "source", Coordinates.of(ReadCache.class, "org.apache.bookkeeper:bookkeeper-server"));
        return implementation;
    }

    @Override
    public JsonObject declares() {
        return JsonParser.parseString(DECLARED).getAsJsonObject();
    }

    @Override
    public ReadCache open(Args config) {
        return new ReadCache(UnpooledByteBufAllocator.DEFAULT, config.number("max_size_bytes"));
    }

    @Override
    public void close(ReadCache cache) {
        cache.close();
    }

    /** Serves until the input ends. */
    public static void main(String[] arguments) throws IOException {
        Server.main(arguments, ReadCacheDriver::new);
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import entrycache.protocol.Refused;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.bookkeeper.mledger.EntryReadCountHandler;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pulsar.common.api.proto.MessageMetadata;

/**
 * One run: a released cache manager with its caches. Each op is a call of released code and the shape of its answer.
 *
 * <p>The released code does not refuse a negative size or a negative time; the protocol does, so those arguments are
 * checked here. It throws for a range whose first position is above its last; the protocol calls that range empty.
 */
final class Pip430Run {
    private static final Field ENTRIES_OF_CACHE = Released.field(RangeEntryCacheImpl.class, "entries");
    private static final Field WRAPPERS_OF_QUEUE = Released.field(RangeCacheRemovalQueue.class, "removalQueue");
    private static final Field EVICTION_HANDLER = Released.field(RangeEntryCacheManagerImpl.class, "evictionHandler");

    /** With its metadata known, no entry is parsed on its first read: the payload is not a message. */
    private static final MessageMetadata NO_METADATA = new MessageMetadata();

    private static final ByteBuf PAYLOAD = payload();

    /** A cache and the map below it, where a disabled cache has none: then an empty one that nothing ever enters. */
    private record Named(EntryCache cache, RangeCache range) {}

    private final ManagedLedgerFactoryImpl factory;
    private final RangeEntryCacheManagerImpl manager;
    private final RangeEntryCacheManagerEvictionHandler handler;
    private final Map<String, Named> caches = new TreeMap<>();
    private final Map<RangeCache, String> names = new IdentityHashMap<>();

    Pip430Run(Args config) {
        Clock.reset();
        ManagedLedgerFactoryConfig settings = new ManagedLedgerFactoryConfig();
        settings.setMaxCacheSize(config.number("max_size_bytes", 134_217_728));
        settings.setCacheEvictionWatermark(config.fraction("watermark", 0.9));
        settings.setCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes(
                Math.toIntExact(config.number("max_requeues", 5)));
        settings.setCacheEvictionExtendTTLOfRecentlyAccessed(config.flag("extend_recently_accessed", true));
        factory = Released.factory(settings, config.number("ttl_nanos", 1_000_000_000));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        handler = (RangeEntryCacheManagerEvictionHandler) Released.get(EVICTION_HANDLER, manager);
    }

    JsonObject insert(Args step) {
        Position position = position(step, "pos");
        int size = Math.toIntExact(step.number("size"));
        Refused.unless(size >= 0, "the size is negative");
        int reads = Math.toIntExact(step.number("expected_reads", Era.NO_COUNT));
        EntryImpl entry =
                EntryImpl.create(position.getLedgerId(), position.getEntryId(), PAYLOAD.slice(0, size), reads);
        entry.setMessageMetadata(NO_METADATA);
        entry.setDecreaseReadCountOnRelease(false);
        JsonObject outcome = flag("inserted", named(step).cache.insert(entry));
        entry.release();
        return outcome;
    }

    JsonObject get(Args step) {
        ReferenceCountedEntry found = named(step).range.get(position(step, "pos"));
        Optional.ofNullable(found).ifPresent(ReferenceCountedEntry::release);
        return flag("hit", found != null);
    }

    JsonObject getRange(Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        JsonArray hits = new JsonArray();
        RangeCache range = named(step).range;
        Collection<ReferenceCountedEntry> found =
                reversed(first, last) ? List.of() : range.getRange(first, last);
        for (ReferenceCountedEntry entry : found) {
            hits.add(json(entry.getPosition()));
            entry.release();
        }
        return with("hits", hits);
    }

    JsonObject exists(Args step) {
        return flag("exists", named(step).range.exists(position(step, "pos")));
    }

    JsonObject removeRange(Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        RangeCache range = named(step).range;
        boolean inclusive = step.flag("last_inclusive");
        Pair<Integer, Long> removed =
                reversed(first, last) ? Pair.of(0, 0L) : range.removeRange(first, last, inclusive);
        manager.entriesRemoved(removed.getRight(), removed.getLeft());
        return amount(removed.getLeft(), removed.getRight());
    }

    JsonObject clear(Args step) {
        return leaving(named(step).cache::clear);
    }

    JsonObject usage(Args step) {
        if (step.has("cache")) {
            Named named = named(step);
            return amount(named.range.getNumberOfEntries(), named.cache.getSize());
        }
        long entries = caches.values().stream().mapToLong(each -> each.range.getNumberOfEntries()).sum();
        return amount(entries, manager.getSize());
    }

    JsonObject advance(Args step) {
        long nanos = step.number("nanos");
        Refused.unless(nanos >= 0, "time does not go back");
        Clock.advance(nanos);
        return new JsonObject();
    }

    JsonObject expire(Args step) {
        long olderThan = step.number("older_than_nanos", factory.getCacheEvictionTimeThreshold());
        Refused.unless(olderThan >= 0, "the age is negative");
        return leaving(() -> handler.invalidateEntriesBeforeTimestampNanos(Clock.nanoTime() - olderThan));
    }

    JsonObject evict(Args step) {
        long bytes = step.number("bytes");
        Refused.unless(bytes > 0, "nothing to free");
        Pair<Integer, Long> removed = handler.evictEntries(bytes);
        return amount(removed.getLeft(), removed.getRight());
    }

    JsonObject markRead(Args step) {
        return count(step, EntryReadCountHandler::markRead);
    }

    JsonObject expectRead(Args step) {
        return count(step, EntryReadCountHandler::incrementExpectedReadCount);
    }

    /** Reads fields only: the released walk over the queue would turn it round and drop its tombstones. */
    JsonObject observe(Args step) {
        JsonObject all = new JsonObject();
        caches.forEach((name, named) -> {
            JsonArray positions = new JsonArray();
            Era.wrappers(named.range).keySet().forEach(position -> positions.add(json(position)));
            if (!positions.isEmpty() || named.cache.getSize() != 0) {
                JsonObject one = with("entries", positions);
                one.addProperty("bytes", named.cache.getSize());
                all.add(name, one);
            }
        });
        JsonArray queue = new JsonArray();
        long tombstones = 0;
        for (Object queued : (Iterable<?>) Released.get(WRAPPERS_OF_QUEUE, manager.getRangeCacheRemovalQueue())) {
            RangeCacheEntryWrapper wrapper = (RangeCacheEntryWrapper) queued;
            if (wrapper.key == null) {
                tombstones++;
            } else {
                queue.add(json(wrapper));
            }
        }
        JsonObject outcome = new JsonObject();
        outcome.addProperty("now", Clock.nanoTime());
        outcome.addProperty("bytes", manager.getSize());
        outcome.add("caches", all);
        outcome.add("queue", queue);
        outcome.addProperty("tombstones", tombstones);
        return outcome;
    }

    private Named named(Args step) {
        return caches.computeIfAbsent(step.text("cache"), name -> {
            EntryCache cache = manager.getEntryCache(Released.ledger(name));
            RangeCache range = cache instanceof RangeEntryCacheImpl
                    ? (RangeCache) Released.get(ENTRIES_OF_CACHE, cache)
                    : Era.emptyRange(manager.getRangeCacheRemovalQueue(), name);
            names.put(range, name);
            return new Named(cache, range);
        });
    }

    /** What a call takes out, by the manager's own accounts: the released method answers nothing. */
    private JsonObject leaving(Runnable call) {
        long entries = factory.getMbean().getCacheEvictedEntriesCount();
        long bytes = manager.getSize();
        call.run();
        return amount(factory.getMbean().getCacheEvictedEntriesCount() - entries, bytes - manager.getSize());
    }

    /** Changes the count of a cached entry without reading the entry, which would mark it accessed. */
    private JsonObject count(Args step, Consumer<EntryReadCountHandler> change) {
        JsonObject outcome = new JsonObject();
        outcome.add("expected_reads", JsonNull.INSTANCE);
        Optional.ofNullable(Era.wrapper(named(step).range, position(step, "pos")))
                .map(wrapper -> wrapper.value.getReadCountHandler())
                .ifPresent(reads -> {
                    change.accept(reads);
                    outcome.addProperty("expected_reads", reads.getExpectedReadCount());
                });
        return outcome;
    }

    private JsonObject json(RangeCacheEntryWrapper wrapper) {
        EntryReadCountHandler reads = wrapper.value.getReadCountHandler();
        JsonObject entry = new JsonObject();
        entry.addProperty("cache", names.get(wrapper.rangeCache));
        entry.add("pos", json(wrapper.key));
        entry.addProperty("size", wrapper.size);
        entry.addProperty("age_nanos", Clock.nanoTime() - wrapper.timestampNanos);
        entry.addProperty("requeues", wrapper.requeueCount);
        entry.addProperty("accessed", wrapper.accessed);
        entry.addProperty("expected_reads", reads == null ? null : reads.getExpectedReadCount());
        return entry;
    }

    private static Position position(Args step, String name) {
        JsonArray pair = step.list(name);
        return PositionFactory.create(pair.get(0).getAsLong(), pair.get(1).getAsLong());
    }

    private static boolean reversed(Position first, Position last) {
        return first.compareTo(last) > 0;
    }

    private static JsonArray json(Position position) {
        JsonArray pair = new JsonArray(2);
        pair.add(position.getLedgerId());
        pair.add(position.getEntryId());
        return pair;
    }

    private static JsonObject amount(long entries, long bytes) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty("entries", entries);
        outcome.addProperty("bytes", bytes);
        return outcome;
    }

    private static JsonObject flag(String name, boolean value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(name, value);
        return outcome;
    }

    private static JsonObject with(String name, JsonArray value) {
        JsonObject outcome = new JsonObject();
        outcome.add(name, value);
        return outcome;
    }

    /** As long as a buffer can be, and no memory: one block of zeroes, over and over. */
    private static ByteBuf payload() {
        byte[] block = new byte[1 << 20];
        ByteBuf[] blocks = new ByteBuf[1 << 11];
        Arrays.setAll(blocks, i -> Unpooled.wrappedBuffer(block));
        blocks[blocks.length - 1] = Unpooled.wrappedBuffer(block, 0, block.length - 1);
        return Unpooled.wrappedBuffer(blocks.length, blocks);
    }
}

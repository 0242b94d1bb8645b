package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;

/** One run: a released cache manager with its caches. */
final class LegacyRun {
    /** The size in bytes of an entry that a read fetches from storage. */
    static final int STORED_BYTES = 100;

    private static final Field CACHES = Released.field(RangeEntryCacheManagerImpl.class, "caches");
    private static final Field POLICY = Released.field(RangeEntryCacheManagerImpl.class, "evictionPolicy");
    private static final Field PASSES = Released.field(ManagedLedgerFactoryImpl.class, "scheduledExecutor");

    /** A cache and its underlying map. */
    record Named(EntryCache cache, Range range) {}

    final ManagedLedgerFactoryImpl factory;
    final RangeEntryCacheManagerImpl manager;
    final EvictionExecutor passes;
    final Payloads payloads = new Payloads();
    final Map<String, Named> caches = new TreeMap<>();

    LegacyRun(Args config) {
        Clock.reset();
        ManagedLedgerFactoryConfig settings = new ManagedLedgerFactoryConfig();
        settings.setMaxCacheSize(config.number("max_size_bytes", 134_217_728));
        settings.setCacheEvictionWatermark(config.fraction("watermark", 0.9));
        passes = new EvictionExecutor(config.has("eviction") && config.text("eviction").equals("manual"));
        factory = Neighbours.factory(settings, config.number("ttl_nanos", 1_000_000_000));
        Released.set(PASSES, factory, PassScheduler.over(passes));
        manager = Era.manager(factory);
        // Sorted by name, so that caches of equal size keep that order: the policy's sort is stable.
        Released.set(CACHES, manager, new ConcurrentSkipListMap<String, EntryCache>());
    }

    /** Returns the cache of the step. */
    Named named(Args step) {
        return caches.computeIfAbsent(step.text("cache"), name -> {
            EntryCache cache = manager.getEntryCache(Neighbours.ledger(name, factory));
            return new Named(cache, Range.of(cache));
        });
    }

    /** Returns the manager's caches, from which a size pass selects. */
    @SuppressWarnings("unchecked")
    Map<String, EntryCache> registered() {
        return (Map<String, EntryCache>) Released.get(CACHES, manager);
    }

    /** Returns the policy that performs the manager's size passes. */
    EntryCacheEvictionPolicy policy() {
        return (EntryCacheEvictionPolicy) Released.get(POLICY, manager);
    }

    static Position position(Args step, String name) {
        JsonArray pair = step.list(name);
        return Era.position(pair.get(0).getAsLong(), pair.get(1).getAsLong());
    }

    Storage storage(long ledger) {
        return new Storage(ledger, STORED_BYTES, payloads);
    }

    /**
     * Runs a call and returns the entries and bytes that it removed, from the manager's totals, because the released
     * method returns nothing.
     */
    JsonObject leaving(Runnable call) {
        long entries = factory.getMbean().getCacheEvictedEntriesCount();
        long bytes = manager.getSize();
        call.run();
        return amount(factory.getMbean().getCacheEvictedEntriesCount() - entries, bytes - manager.getSize());
    }

    /** Clears all caches and returns the references to buffers that remain. */
    long leaked() {
        caches.values().forEach(named -> named.cache.clear());
        return payloads.held();
    }
}

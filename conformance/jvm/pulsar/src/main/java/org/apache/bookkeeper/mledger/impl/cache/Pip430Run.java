package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;

import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainer;
import org.apache.bookkeeper.mledger.impl.ActiveManagedCursorContainerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorContainerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;

/** One run: a released cache manager with its caches, their cursors, and the holds on their entries. */
final class Pip430Run {
    private static final Field ENTRIES_OF_CACHE = Released.field(RangeEntryCacheImpl.class, "entries");
    private static final Field EVICTIONS = Released.field(ManagedLedgerFactoryImpl.class, "cacheEvictionExecutor");
    private static final Field CURSOR_NAME = Released.field(ManagedCursorImpl.class, "name");
    private static final Field EVICTION_HANDLER = Released.field(RangeEntryCacheManagerImpl.class, "evictionHandler");

    /** A cache and its underlying map. A disabled cache has no map, so it gets an empty one that no entry enters. */
    record Named(EntryCache cache, RangeCache range) {}

    final ManagedLedgerFactoryImpl factory;
    final RangeEntryCacheManagerImpl manager;
    final RangeEntryCacheManagerEvictionHandler handler;
    final EvictionExecutor evictions;
    final Payloads payloads = new Payloads();
    final Map<String, Named> caches = new TreeMap<>();
    final Map<RangeCache, String> names = new IdentityHashMap<>();
    final Map<String, List<Entry>> holds = new HashMap<>();

    /** True if caching is enabled at the start of the run. */
    final boolean caching;

    /** True if the containers of cursors have ranks. */
    final boolean ranks;

    final long graceMillis;

    /** The managed ledgers, of level {@code ledger}. */
    final ManagedRun managed;

    /** The reads of storage that steps answer. */
    final Asks asks = new Asks();

    /** The reads that overlap in time, of level {@code inflight}. */
    final InflightOps inflight = new InflightOps(this);

    /** The limiter of reads in flight, of level {@code limits}. */
    final LimiterOps limiter;

    /** The table of pending reads, of level {@code pending}. */
    final PendingOps pending;

    private final int storageEntrySize;
    private final Map<String, ActiveManagedCursorContainer> containers = new HashMap<>();
    private final Map<String, ManagedCursor> cursors = new HashMap<>();

    Pip430Run(Args config) {
        Clock.reset();
        long ttlNanos = config.number("ttl_nanos", 1_000_000_000);
        ManagedLedgerFactoryConfig settings = new ManagedLedgerFactoryConfig();
        settings.setMaxCacheSize(config.number("max_size_bytes", 134_217_728));
        settings.setCacheEvictionWatermark(config.fraction("watermark", 0.9));
        settings.setCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes(
                Math.toIntExact(config.number("max_requeues", 5)));
        settings.setCacheEvictionExtendTTLOfRecentlyAccessed(config.flag("extend_recently_accessed", true));
        evictions = new EvictionExecutor(config.has("eviction") && config.text("eviction").equals("manual"));
        factory = Neighbours.factory(settings, ttlNanos);
        Released.set(EVICTIONS, factory, evictions.as(EVICTIONS.getType()));
        long limit = config.number("max_reads_in_flight_bytes", 0);
        settings.setManagedLedgerMaxReadsInFlightSize(ManagedRun.holdsReads(config) ? limit : 0);
        settings.setManagedLedgerMaxReadsInFlightPermitsAcquireTimeoutMillis(config.number("acquire_timeout_millis", 60_000));
        settings.setManagedLedgerMaxReadsInFlightPermitsAcquireQueueSize(
                Math.toIntExact(config.number("acquire_queue", 50_000)));
        Tasks tasks = new Tasks();
        manager = new RangeEntryCacheManagerImpl(factory, tasks.remembering(), OpenTelemetry.noop());
        handler = (RangeEntryCacheManagerEvictionHandler) Released.get(EVICTION_HANDLER, manager);
        caching = settings.getMaxCacheSize() > 0;
        ranks = config.flag("evict_by_expected_reads", true);
        graceMillis = config.number("grace_millis", 2 * ttlNanos / 1_000_000);
        storageEntrySize = Math.toIntExact(config.number("storage_entry_size", 100));
        managed = new ManagedRun(this, config, tasks);
        limiter = new LimiterOps(manager, settings, limit, tasks);
        pending = new PendingOps(asks, payloads);
    }

    /**
     * Returns the cache of the step. A new cache also creates its container of cursors, whose grace period starts then.
     */
    Named named(Args step) {
        return caches.computeIfAbsent(step.text("cache"), name -> {
            container(name);
            return named(
                    name, limiter.unlimited(() -> manager.getEntryCache(Neighbours.ledger(name, factory))));
        });
    }

    private Named named(String name, EntryCache cache) {
        RangeCache range = cache instanceof RangeEntryCacheImpl
                ? (RangeCache) Released.get(ENTRIES_OF_CACHE, cache)
                : Era.emptyRange(manager.getRangeCacheRemovalQueue(), name);
        names.put(range, name);
        return new Named(cache, range);
    }

    /** Takes over the cache of a managed ledger, and its container of cursors. */
    void adopt(String name, ManagedLedgerImpl ledger) {
        caches.put(name, named(name, manager.getEntryCache(ledger)));
        containers.put(name, ledger.getActiveCursors());
    }

    /** Returns whether a step has named this cache. */
    boolean wasNamed(String cache) {
        return containers.containsKey(cache);
    }

    /** Returns the container of the step's cache, which outlives a removal of the cache. */
    ActiveManagedCursorContainer container(Args step) {
        return container(step.text("cache"));
    }

    private ActiveManagedCursorContainer container(String cache) {
        return containers.computeIfAbsent(
                cache,
                name -> ranks ? new ActiveManagedCursorContainerImpl(graceMillis) : new ManagedCursorContainerImpl());
    }

    /** Returns the cursor of the step, which is durable; a name stands for the same object throughout the run. */
    ManagedCursor cursor(Args step) {
        if (managed.has(step.text("cache"))) {
            return managed.find(step).orElseGet(() -> unmanaged(step));
        }
        return unmanaged(step);
    }

    private ManagedCursor unmanaged(Args step) {
        return cursors.computeIfAbsent(step.text("cursor"), name -> {
            ManagedCursorImpl cursor = Released.allocate(ManagedCursorImpl.class);
            Released.set(CURSOR_NAME, cursor, name);
            return cursor;
        });
    }

    Storage storage(long ledger) {
        return new Storage(ledger, storageEntrySize, payloads);
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

    /**
     * Answers what is asked of storage, releases all holds, fails what waits for permits then, clears all caches, and
     * returns the references to buffers that remain.
     *
     * <p>After a short answer no number is returned but 0: the released caches never release what a read with a hole got
     * (finding short-answer-delivers-null).
     */
    long leaked() {
        do {
            managed.finish();
            holds.values().forEach(held -> held.forEach(Entry::release));
            holds.clear();
            managed.finish();
        } while (asks.answerAll() || !holds.isEmpty() || limiter.failWaiting());
        caches.values().forEach(named -> named.cache.clear());
        return asks.wasShort() ? 0 : payloads.held();
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.protocol.Args;
import entrycache.protocol.Refused;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.apache.bookkeeper.client.MemoryBookKeeper;
import org.apache.bookkeeper.client.MemoryLedger;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgers;
import org.apache.bookkeeper.mledger.impl.OpenTelemetryManagedLedgerStats;

/** The managed ledgers of a run, over storage in memory and executors that run when a step ends. */
final class ManagedRun {
    private static final Field EXECUTOR = Released.field(ManagedLedgerImpl.class, "executor");
    private static final Field MANAGER = Released.field(ManagedLedgerFactoryImpl.class, "entryCacheManager");
    private static final Field GRACE = Released.field(
            ManagedLedgerConfig.class, "continueCachingAddedEntriesAfterLastActiveCursorLeavesMillis");
    private static final Field AVAILABLE = Released.field(ManagedLedgerFactoryImpl.class, "metadataServiceAvailable");

    private static final Field EVICTION_POSITION = Released.field(ManagedLedgerImpl.class, "cacheEvictionPosition");
    private static final String INVALIDATION = "invalidateEntriesUpToSlowestReaderPosition";
    private static final long FRAMES = 16;

    private static final Field STATS =
            Released.field(ManagedLedgerFactoryImpl.class, "openTelemetryManagedLedgerStats");

    private final Pip430Run run;
    private final Args config;
    private final MemoryBookKeeper storage = Released.allocate(MemoryBookKeeper.class);
    private final Map<String, ManagedLedgerImpl> ledgers = new HashMap<>();
    private final Map<Long, String> ids = new HashMap<>();
    final Tasks tasks;

    /** True if a step answers each read of storage. */
    final boolean holdsReads;

    /** The invalidations that are due, by cache, if a step runs them. */
    final Map<String, Runnable> invalidations = new HashMap<>();

    /** The positions that storage gave in this step. */
    final Set<Position> stored = new HashSet<>();

    ManagedRun(Pip430Run run, Args config, Tasks tasks) {
        this.run = run;
        this.config = config;
        this.tasks = tasks;
        holdsReads = holdsReads(config);
        storage.begin(
                tasks.pool(EXECUTOR.getType()),
                run.payloads::message,
                () -> Released.allocate(MemoryLedger.class),
                holdsReads
                        ? (ledger, first, last, entries) -> run.asks.send(ids.get(ledger), ledger, first, last, entries)
                        : this::answerSoon);
        if (holdsReads) {
            tasks.before = () -> ledgers.values().forEach(ManagedLedgers::openHandles);
        }
        if (config.has("invalidation") && config.text("invalidation").equals("manual")) {
            tasks.keeper = this::keep;
        }
        Released.set(MANAGER, run.factory, run.manager);
        Released.set(AVAILABLE, run.factory, true);
        Released.set(STATS, run.factory, new OpenTelemetryManagedLedgerStats(OpenTelemetry.noop(), run.factory));
    }

    /** Returns whether a step answers each read of storage. */
    static boolean holdsReads(Args config) {
        return config.has("storage") && config.text("storage").equals("held");
    }

    /** Queues the answer to a read of storage. */
    private CompletableFuture<LedgerEntries> answerSoon(
            long ledger, long first, long last, LongFunction<LedgerEntries> entries) {
        for (long entry = first; entry <= last; entry++) {
            stored.add(PositionFactory.create(ledger, entry));
        }
        CompletableFuture<LedgerEntries> answer = new CompletableFuture<>();
        tasks.answers.add(() -> answer.complete(entries.apply(last - first + 1)));
        return answer;
    }

    /** Keeps a task back if it is an invalidation: that of the managed ledger of which one is due, and none is kept. */
    private boolean keep(Runnable task) {
        if (!StackWalker.getInstance().walk(frames ->
                frames.limit(FRAMES).anyMatch(frame -> frame.getMethodName().equals(INVALIDATION)))) {
            return false;
        }
        ledgers.forEach((name, ledger) -> {
            if (((AtomicReference<?>) Released.get(EVICTION_POSITION, ledger)).get() != null) {
                invalidations.putIfAbsent(name, task);
            }
        });
        return true;
    }

    boolean has(String cache) {
        return ledgers.containsKey(cache);
    }

    ManagedLedgerImpl ledger(Args step) {
        ManagedLedgerImpl ledger = ledgers.get(step.text("cache"));
        Refused.unless(ledger != null, "no managed ledger of that name");
        return ledger;
    }

    ManagedCursor cursor(Args step) {
        return find(step).orElseThrow(() -> new Refused("no cursor of that name"));
    }

    Optional<ManagedCursor> find(Args step) {
        return Optional.ofNullable(ledger(step).getCursors().get(step.text("cursor")));
    }

    /** Refuses a ledger id that a managed ledger has had. */
    void claim(String cache, long id) {
        Refused.unless(ids.putIfAbsent(id, cache) == null, "the ledger id is taken");
    }

    /** Opens a managed ledger whose first ledger is {@code id}. */
    void open(String name, long id) {
        storage.nextLedger(id);
        ManagedLedgerImpl ledger = ManagedLedgers.open(
                run.factory, storage, tasks.metadata, settings(), tasks.scheduler(), name);
        tasks.runDry();
        ledgers.put(name, ledger);
        run.adopt(name, ledger);
    }

    /** Closes the current ledger and goes on with ledger {@code id}. */
    void rollOver(ManagedLedgerImpl ledger, long id) {
        storage.nextLedger(id);
        ledger.getConfig().setMaxEntriesPerLedger(1);
        ledger.rollCurrentLedgerIfFull();
        tasks.runDry();
        ledger.getConfig().setMaxEntriesPerLedger(Integer.MAX_VALUE);
    }

    /** Runs what a step left to do. */
    void finish() {
        tasks.runDry();
        ledgers.values().forEach(ManagedLedgers::openHandles);
        tasks.runDry();
        stored.clear();
    }

    private ManagedLedgerConfig settings() {
        ManagedLedgerConfig settings = new ManagedLedgerConfig();
        settings.setMaxEntriesPerLedger(Integer.MAX_VALUE);
        settings.setMinimumRolloverTime(0, TimeUnit.MILLISECONDS);
        settings.setRetentionTime(-1, TimeUnit.MILLISECONDS);
        settings.setRetentionSizeInMB(-1);
        settings.setThrottleMarkDelete(0);
        settings.setReadEntryTimeoutSeconds(0);
        settings.setAddEntryTimeoutSeconds(0);
        settings.setCacheEvictionByExpectedReadCount(run.ranks);
        settings.setCacheEvictionByMarkDeletedPosition(config.flag("evict_by_mark_deleted", false));
        Released.set(GRACE, settings, run.graceMillis);
        settings.setMinimumBacklogCursorsForCaching(Math.toIntExact(config.number("min_backlog_cursors", 0)));
        settings.setMinimumBacklogEntriesForCaching(Math.toIntExact(config.number("min_backlog_entries", 1000)));
        settings.setMaxBacklogBetweenCursorsForCaching(Math.toIntExact(config.number("max_backlog_between", 1000)));
        Era.switchOff(settings);
        return settings;
    }
}

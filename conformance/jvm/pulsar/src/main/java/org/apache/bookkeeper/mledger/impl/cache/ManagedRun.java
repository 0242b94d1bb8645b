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
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.MemoryBookKeeper;
import org.apache.bookkeeper.client.MemoryLedger;
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

    private static final Field STATS =
            Released.field(ManagedLedgerFactoryImpl.class, "openTelemetryManagedLedgerStats");

    private final Pip430Run run;
    private final Args config;
    private final MemoryBookKeeper storage = Released.allocate(MemoryBookKeeper.class);
    private final Map<String, ManagedLedgerImpl> ledgers = new HashMap<>();
    private final Set<Long> ids = new HashSet<>();
    final Tasks tasks = new Tasks();

    /** The positions that storage gave in this step. */
    final Set<Position> stored = new HashSet<>();

    ManagedRun(Pip430Run run, Args config) {
        this.run = run;
        this.config = config;
        storage.begin(
                tasks.pool(EXECUTOR.getType()),
                tasks.answers,
                run.payloads::message,
                () -> Released.allocate(MemoryLedger.class),
                (ledger, first, last) -> {
                    for (long entry = first; entry <= last; entry++) {
                        stored.add(PositionFactory.create(ledger, entry));
                    }
                });
        Released.set(MANAGER, run.factory, run.manager);
        Released.set(AVAILABLE, run.factory, true);
        Released.set(STATS, run.factory, new OpenTelemetryManagedLedgerStats(OpenTelemetry.noop(), run.factory));
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
    void claim(long id) {
        Refused.unless(ids.add(id), "the ledger id is taken");
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

package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.ManagedCursorImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;

/**
 * The factory and the ledgers as a run needs them: with an executor for size passes, and fit to read from storage.
 * A cursor has a name, and is durable.
 */
final class Neighbours {
    private static final Field EVICTIONS = Released.field(ManagedLedgerFactoryImpl.class, "cacheEvictionExecutor");
    private static final Field FACTORY = Released.field(ManagedLedgerImpl.class, "factory");
    private static final Field LEDGERS = Released.field(ManagedLedgerImpl.class, "ledgers");
    private static final Field EXECUTOR = Released.field(ManagedLedgerImpl.class, "executor");
    private static final Field MBEAN = Released.field(ManagedLedgerImpl.class, "mbean");
    private static final Field CURSOR_NAME = Released.field(ManagedCursorImpl.class, "name");

    /** A ledger without known ledgers reads what it is asked for, with no look at the last confirmed entry. */
    private static final ConcurrentSkipListMap<Long, Object> NO_LEDGERS = new ConcurrentSkipListMap<>();

    private static final Object AT_ONCE = new EvictionExecutor(false).as(EXECUTOR.getType());

    /** The counters of a single ledger, which no op shows. */
    private static final ManagedLedgerMBeanImpl COUNTERS = new ManagedLedgerMBeanImpl(null);

    private Neighbours() {}

    static ManagedLedgerFactoryImpl factory(
            ManagedLedgerFactoryConfig config, long ttlNanos, EvictionExecutor evictions) {
        ManagedLedgerFactoryImpl factory = Released.factory(config, ttlNanos);
        Released.set(EVICTIONS, factory, evictions.as(EVICTIONS.getType()));
        return factory;
    }

    static ManagedLedgerImpl ledger(String name, ManagedLedgerFactoryImpl factory) {
        ManagedLedgerImpl ledger = Released.ledger(name);
        Released.set(FACTORY, ledger, factory);
        Released.set(LEDGERS, ledger, NO_LEDGERS);
        Released.set(EXECUTOR, ledger, AT_ONCE);
        Released.set(MBEAN, ledger, COUNTERS);
        return ledger;
    }

    static ManagedCursorImpl cursor(String name) {
        ManagedCursorImpl cursor = Released.allocate(ManagedCursorImpl.class);
        Released.set(CURSOR_NAME, cursor, name);
        return cursor;
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;

/**
 * The factory and the ledgers that a run needs. They are made without their constructors, which would start threads and
 * need a cluster. Only the fields that the cache classes read are set; the caller sets the executor of the passes.
 */
final class Neighbours {
    private static final Field CONFIG = Released.field(ManagedLedgerFactoryImpl.class, "config");
    private static final Field TOTALS = Released.field(ManagedLedgerFactoryImpl.class, "mbean");
    private static final Field TTL = Released.field(ManagedLedgerFactoryImpl.class, "cacheEvictionTimeThresholdNanos");
    private static final Field LEDGER_NAME = Released.field(ManagedLedgerImpl.class, "name");
    private static final Field LEDGER_CONFIG = Released.field(ManagedLedgerImpl.class, "config");
    private static final Field FACTORY = Released.field(ManagedLedgerImpl.class, "factory");
    private static final Field LEDGERS = Released.field(ManagedLedgerImpl.class, "ledgers");
    private static final Field EXECUTOR = Released.field(ManagedLedgerImpl.class, "executor");
    private static final Field MBEAN = Released.field(ManagedLedgerImpl.class, "mbean");

    /** The ledgers of every managed ledger. Without known ledgers, a read does not check the last confirmed entry. */
    private static final ConcurrentSkipListMap<Long, Object> NO_LEDGERS = new ConcurrentSkipListMap<>();

    private static final Object AT_ONCE = new EvictionExecutor(false).as(EXECUTOR.getType());

    /** The counters of a single ledger, which no operation shows. */
    private static final ManagedLedgerMBeanImpl COUNTERS = new ManagedLedgerMBeanImpl(null);

    private Neighbours() {}

    static ManagedLedgerFactoryImpl factory(ManagedLedgerFactoryConfig config, long ttlNanos) {
        ManagedLedgerFactoryImpl factory = Released.allocate(ManagedLedgerFactoryImpl.class);
        Released.set(CONFIG, factory, config);
        Released.set(TOTALS, factory, totals(factory));
        Released.set(TTL, factory, ttlNanos);
        return factory;
    }

    static ManagedLedgerImpl ledger(String name, ManagedLedgerFactoryImpl factory) {
        ManagedLedgerImpl ledger = Released.allocate(ManagedLedgerImpl.class);
        Released.set(LEDGER_NAME, ledger, name);
        Released.set(LEDGER_CONFIG, ledger, new ManagedLedgerConfig());
        Released.set(FACTORY, ledger, factory);
        Released.set(LEDGERS, ledger, NO_LEDGERS);
        Released.set(EXECUTOR, ledger, AT_ONCE);
        Released.set(MBEAN, ledger, COUNTERS);
        return ledger;
    }

    private static ManagedLedgerFactoryMBeanImpl totals(ManagedLedgerFactoryImpl factory) {
        try {
            return new ManagedLedgerFactoryMBeanImpl(factory);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import sun.misc.Unsafe;

/**
 * Released objects around a cache, made without their constructors, which would start threads and want a cluster.
 *
 * <p>Only the fields that the cache classes look at are set.
 */
final class Released {
    private static final Unsafe UNSAFE = (Unsafe) get(field(Unsafe.class, "theUnsafe"), null);

    private static final Field CONFIG = field(ManagedLedgerFactoryImpl.class, "config");
    private static final Field MBEAN = field(ManagedLedgerFactoryImpl.class, "mbean");
    private static final Field EXECUTOR = field(ManagedLedgerFactoryImpl.class, "cacheEvictionExecutor");
    private static final Field TTL = field(ManagedLedgerFactoryImpl.class, "cacheEvictionTimeThresholdNanos");
    private static final Field LEDGER_NAME = field(ManagedLedgerImpl.class, "name");
    private static final Field LEDGER_CONFIG = field(ManagedLedgerImpl.class, "config");

    /** Runs what it is given at once, in the calling thread. */
    private static final ScheduledExecutorService AT_ONCE = (ScheduledExecutorService) Proxy.newProxyInstance(
            Released.class.getClassLoader(), new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, given) -> {
                if (!method.getName().equals("execute")) {
                    throw new UnsupportedOperationException(method.toString());
                }
                ((Runnable) given[0]).run();
                return null;
            });

    private Released() {}

    static ManagedLedgerFactoryImpl factory(ManagedLedgerFactoryConfig config, long ttlNanos) {
        ManagedLedgerFactoryImpl factory = allocate(ManagedLedgerFactoryImpl.class);
        set(CONFIG, factory, config);
        set(MBEAN, factory, metrics(factory));
        set(EXECUTOR, factory, AT_ONCE);
        set(TTL, factory, ttlNanos);
        return factory;
    }

    static ManagedLedgerImpl ledger(String name) {
        ManagedLedgerImpl ledger = allocate(ManagedLedgerImpl.class);
        set(LEDGER_NAME, ledger, name);
        set(LEDGER_CONFIG, ledger, new ManagedLedgerConfig());
        return ledger;
    }

    static Field field(Class<?> owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(owner.getName() + " has no field " + name, e);
        }
    }

    static Object get(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    static void set(Field field, Object owner, Object value) {
        try {
            field.set(owner, value);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ManagedLedgerFactoryMBeanImpl metrics(ManagedLedgerFactoryImpl factory) {
        try {
            return new ManagedLedgerFactoryMBeanImpl(factory);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static <T> T allocate(Class<T> type) {
        try {
            return type.cast(UNSAFE.allocateInstance(type));
        } catch (InstantiationException e) {
            throw new IllegalStateException(e);
        }
    }
}

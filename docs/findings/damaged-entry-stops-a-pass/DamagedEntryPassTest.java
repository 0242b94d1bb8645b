package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import sun.misc.Unsafe;

/*
 * The buffer of a cached entry was released once too often. The pass that removes it throws: the bytes of all that it had
 * removed stay counted, and what is behind it stays until the next pass.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out DamagedEntryPassTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.DamagedEntryPassTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class DamagedEntryPassTest {
    private static RangeEntryCacheManagerImpl manager;
    private static EntryCache cache;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());

        insert(entry(0, 0));
        insert(entry(1, 0));
        damage(entry(2, 0));
        insert(entry(3, 0));
        expect("bytes", 40L, manager.getSize());
        try {
            manager.doCacheEviction();
        } catch (RuntimeException thrown) {
            // the factory logs what its periodic task throws
        }
        manager.doCacheEviction();
        expect("bytes of the cache when all have left", 0L, cache.getSize());
        expect("bytes of its manager when all have left", 0L, manager.getSize());
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** The released manager and one cache without a broker around them: of their neighbours only what they look at. */
    private static void start(ManagedLedgerFactoryConfig config) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        ManagedLedgerFactoryImpl factory =
                (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(factory, "config", config);
        write(factory, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, "cacheEvictionExecutor", executor(factory, "cacheEvictionExecutor"));
        manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
        ManagedLedgerImpl ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        write(ledger, "config", new ManagedLedgerConfig());
        write(ledger, "factory", factory);
        write(ledger, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, "executor", executor(ledger, "executor"));
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = manager.getEntryCache(ledger);
    }

    /** Runs what it is given at once, or keeps it. */
    private static Object executor(Object owner, String name) throws Exception {
        Class<?> type = owner.getClass().getDeclaredField(name).getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                task.run();
            }
            return null;
        });
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    /** Somebody releases the buffer of a cached entry once too often. */
    private static void damage(EntryImpl entry) {
        ByteBuf buffer = entry.getDataBuffer();
        insert(entry);
        buffer.release();
    }

    private static void insert(EntryImpl entry) {
        entry.setDecreaseReadCountOnRelease(false);
        cache.insert(entry);
        entry.release();
    }

    private static EntryImpl entry(long entry, int expectedReads) {
        ByteBuf buffer = Unpooled.buffer(10).writeZero(10);
        EntryImpl made = EntryImpl.create(1, entry, buffer, expectedReads);
        buffer.release();
        return made;
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.ReferenceCountedEntry;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import sun.misc.Unsafe;

/*
 * A reader releases a cached entry once too often. The entry leaves the cache, and its bytes stay counted.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReleasedEntryCountedTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ReleasedEntryCountedTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReleasedEntryCountedTest {
    private static RangeEntryCacheManagerImpl manager;
    private static EntryCache cache;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());

        insert(entry(0, 0));
        ReferenceCountedEntry cached = range().get(PositionFactory.create(1, 0));
        cached.release();
        cached.release();
        cache.clear();
        manager.doCacheEviction();
        expect("a cached entry", null, range().get(PositionFactory.create(1, 0)));
        expect("bytes of the cache", 0L, cache.getSize());
        expect("bytes of its manager", 0L, manager.getSize());
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

    private static Object read(Object owner, String name) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private static RangeCache range() throws Exception {
        return (RangeCache) read(cache, "entries");
    }

    private static void insert(EntryImpl entry) {
        entry.setDecreaseReadCountOnRelease(false);
        cache.insert(entry);
        entry.release();
    }

    private static EntryImpl entry(long entry, int expectedReads) {
        return EntryImpl.create(1, entry, Unpooled.wrappedBuffer(new byte[10]), expectedReads);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

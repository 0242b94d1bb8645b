package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import sun.misc.Unsafe;

/*
 * The reader's callback throws after the read has its permits, which stand in the entries. They are given back once, when
 * the reader releases its entries: neither sooner nor twice. A repair of the permits of a read that throws must leave this.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ThrowingReaderTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ThrowingReaderTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ThrowingReaderTest {
    private static final ReadHandle STORAGE = handle();
    private static RangeEntryCacheManagerImpl manager;
    private static EntryCache cache;
    private static boolean releasesFirst;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());
        limited(1_000_000);

        for (long entry = 0; entry < 4; entry++) {
            insert(entry);
        }
        Delivery keeping = readRange(0, 3, 1);
        expect("entries of the reader that keeps them", 4, keeping.entries.size());
        boolean taken = free() < 1_000_000L;
        expect("permits are taken while the entries are kept", true, taken);
        keeping.entries.forEach(Entry::release);
        expect("permits that are free after the release", 1_000_000L, free());

        for (long entry = 0; entry < 4; entry++) {
            insert(entry);
        }
        releasesFirst = true;
        readRange(0, 3, 1);
        expect("permits that are free after a reader that releases and throws", 1_000_000L, free());
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

    private static void limited(long bytes) throws Exception {
        write(manager, "inflightReadsLimiter", new InflightReadsLimiter(bytes, 100, 0, null, OpenTelemetry.noop()));
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

    /** Later releases have an argument more: the greatest size. */
    private static Delivery readRange(long first, long last, int expectedReads) throws Exception {
        Delivery delivery = new Delivery();
        IntSupplier count = () -> expectedReads;
        for (Method method : EntryCache.class.getMethods()) {
            List<Class<?>> types = List.of(method.getParameterTypes());
            if (method.getName().equals("asyncReadEntry") && types.contains(IntSupplier.class)) {
                method.setAccessible(true);
                if (types.size() == 6) {
                    method.invoke(cache, STORAGE, first, last, count, delivery, null);
                } else {
                    method.invoke(cache, STORAGE, first, last, -1L, count, delivery, null);
                }
                return delivery;
            }
        }
        throw new IllegalStateException("no asyncReadEntry");
    }

    private static long free() {
        return manager.getInflightReadsLimiter().getRemainingBytes();
    }

    private static void insert(long entry) {
        EntryImpl added = EntryImpl.create(1, entry, Unpooled.wrappedBuffer(new byte[10]), 3);
        added.setDecreaseReadCountOnRelease(false);
        cache.insert(added);
        added.release();
    }

    private static final class Delivery implements ReadEntriesCallback {
        private List<Entry> entries;

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            entries = List.copyOf(delivered);
            if (releasesFirst) {
                entries.forEach(Entry::release);
            }
            throw new IllegalStateException("reader");
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
        }
    }

    /** A ledger handle that nothing is read from: all entries are cached. */
    private static ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            throw new IllegalStateException("storage");
        });
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.IntSupplier;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.EntryReadCountHandlerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import sun.misc.Unsafe;

/*
 * A read finds the first and the last entry of its range in the cache, and gets fewer entries than it asked for from
 * storage. It delivers null, or what follows the missing entry: a cursor that goes on behind the last one skips it. Expected
 * is what storage alone would have answered: entries without a gap between them. Expected reads stay as they are.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ShortAnswerSkipsNothingTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ShortAnswerSkipsNothingTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ShortAnswerSkipsNothingTest {
    private static final ReadHandle STORAGE = handle();
    private static final List<Runnable> TASKS = new ArrayList<>();
    private static boolean keepsTasks;
    private static RangeEntryCacheManagerImpl manager;
    private static EntryCache cache;
    private static boolean storageFails;
    private static boolean storageIsShort;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());

        insert(entry(0, 3));
        insert(entry(3, 3));
        storageIsShort = true;
        List<Entry> delivered = readRange(0, 3, 2);
        for (int i = 0; delivered != null && i < delivered.size(); i++) {
            Entry entry = delivered.get(i);
            expect("entry at place " + i, (long) i, entry == null ? null : entry.getEntryId());
        }
        expect("expected reads of the entry that was not delivered", 3, count(3));
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
                if (name.equals("cacheEvictionExecutor") && keepsTasks) {
                    TASKS.add(task);
                } else {
                    task.run();
                }
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

    /** The expected reads of a cached entry, null where it carries none. */
    private static Integer count(long entry) throws Exception {
        var cached = range().get(PositionFactory.create(1, entry));
        try {
            return countOf(cached);
        } finally {
            cached.release();
        }
    }

    private static Integer countOf(Entry entry) {
        var reads = (EntryReadCountHandlerImpl) entry.getReadCountHandler();
        return reads == null ? null : reads.getExpectedReadCount();
    }

    private static boolean insert(EntryImpl entry) {
        entry.setDecreaseReadCountOnRelease(false);
        boolean inserted = cache.insert(entry);
        entry.release();
        return inserted;
    }

    private static EntryImpl entry(long entry, int expectedReads) {
        return EntryImpl.create(1, entry, Unpooled.wrappedBuffer(new byte[10]), expectedReads);
    }

    /** What a read delivers; null if it fails. Later releases have an argument more: the greatest size. */
    private static List<Entry> readRange(long first, long last, int expectedReads) throws Exception {
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
                return delivery.entries;
            }
        }
        throw new IllegalStateException("no asyncReadEntry");
    }

    private static final class Delivery implements ReadEntriesCallback {
        private List<Entry> entries;

        @Override
        public void readEntriesComplete(List<Entry> delivered, Object context) {
            entries = delivered;
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException exception, Object context) {
            entries = null;
        }
    }

    /** A ledger handle that answers at once. */
    private static ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
            if (method.getName().equals("getId")) {
                return 1L;
            }
            if (!method.getReturnType().equals(CompletableFuture.class)) {
                return method.getReturnType().equals(long.class) ? (Object) 0L : null;
            }
            if (storageFails) {
                return CompletableFuture.failedFuture(
                        BKException.create(BKException.Code.TooManyRequestsException));
            }
            List<LedgerEntry> found = new ArrayList<>();
            for (long entry = (long) given[0]; entry <= (long) given[1]; entry++) {
                if (!storageIsShort || entry == (long) given[0]) {
                    found.add(LedgerEntryImpl.create(1, entry, 10, Unpooled.wrappedBuffer(new byte[10])));
                }
            }
            return CompletableFuture.completedFuture((LedgerEntries) LedgerEntriesImpl.create(found));
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

package org.apache.bookkeeper.mledger.impl.cache;

import com.google.common.util.concurrent.ListeningScheduledExecutorService;
import io.netty.buffer.Unpooled;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerMBeanImpl;
import org.apache.bookkeeper.mledger.util.RangeCache;
import sun.misc.Unsafe;

/*
 * A reader releases a cached entry once too often. When the cache is cleared, its bytes stay counted,
 * in the cache and in the total.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReleasedEntryKeepsBytesTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ReleasedEntryKeepsBytesTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
@SuppressWarnings({"rawtypes", "unchecked"})
public final class ReleasedEntryKeepsBytesTest {
    private static final List<Runnable> TASKS = new ArrayList<>();
    private static RangeEntryCacheManagerImpl manager;
    private static ManagedLedgerImpl ledger;
    private static EntryCache cache;
    private static RuntimeException thrown;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());
        insert(0);
        EntryImpl found = (EntryImpl) range().getRange((Comparable) entry(0).getPosition(), (Comparable) entry(0).getPosition())
                .iterator().next();
        found.release();
        found.release();
        cache.clear();
        expect("the entry is cached", false, exists(0));
        expect("bytes of the empty cache", 0L, cache.getSize());
        expect("bytes of all caches", 0L, manager.getSize());
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
        write(factory, ManagedLedgerFactoryImpl.class, "config", config);
        write(factory, ManagedLedgerFactoryImpl.class, "mbean", new ManagedLedgerFactoryMBeanImpl(factory));
        write(factory, ManagedLedgerFactoryImpl.class, "scheduledExecutor", scheduler(unsafe));
        Constructor<?> constructor = RangeEntryCacheManagerImpl.class.getConstructors()[0];
        Object[] neighbours = Arrays.stream(constructor.getParameterTypes())
                .map(type -> type.isInstance(factory) ? factory : type == OpenTelemetry.class ? OpenTelemetry.noop() : null)
                .toArray();
        manager = (RangeEntryCacheManagerImpl) constructor.newInstance(neighbours);
        ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, ManagedLedgerImpl.class, "name", "ledger");
        write(ledger, ManagedLedgerImpl.class, "config", new ManagedLedgerConfig());
        write(ledger, ManagedLedgerImpl.class, "factory", factory);
        write(ledger, ManagedLedgerImpl.class, "ledgers", new ConcurrentSkipListMap<>());
        write(ledger, ManagedLedgerImpl.class, "executor", thread());
        write(ledger, ManagedLedgerImpl.class, "mbean", new ManagedLedgerMBeanImpl(ledger));
        cache = manager.getEntryCache(ledger);
    }

    /** What the ledger and the scheduler hand their tasks to: it keeps them for {@link #runTasks}. */
    private static Object thread() {
        Class<?> type = ListeningScheduledExecutorService.class;
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            TASKS.add((Runnable) given[0]);
            return null;
        });
    }

    private static OrderedScheduler scheduler(Unsafe unsafe) throws Exception {
        OrderedScheduler scheduler = (OrderedScheduler) unsafe.allocateInstance(OrderedScheduler.class);
        write(scheduler, OrderedExecutor.class, "threads", new ExecutorService[] {(ExecutorService) thread()});
        return scheduler;
    }

    /** Runs what the scheduler and the ledger's executor were given; what a task throws stays with them. */
    private static void runTasks() {
        while (!TASKS.isEmpty()) {
            try {
                TASKS.remove(0).run();
            } catch (RuntimeException e) {
                thrown = e;
            }
        }
    }

    private static void write(Object owner, Class<?> type, String name, Object value) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private static EntryImpl entry(long id) {
        return EntryImpl.create(1, id, Unpooled.wrappedBuffer(new byte[10]));
    }

    private static boolean insert(long id) {
        EntryImpl entry = entry(id);
        boolean inserted = cache.insert(entry);
        entry.release();
        return inserted;
    }

    private static RangeCache range() throws Exception {
        Field field = RangeEntryCacheImpl.class.getDeclaredField("entries");
        field.setAccessible(true);
        return (RangeCache) field.get(cache);
    }

    private static boolean exists(long id) throws Exception {
        return range().exists((Comparable) entry(id).getPosition());
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

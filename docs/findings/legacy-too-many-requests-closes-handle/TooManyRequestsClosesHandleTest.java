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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.LedgerHandle;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.common.util.OrderedScheduler;
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
import org.apache.pulsar.common.util.collections.ConcurrentLongHashMap;
import sun.misc.Unsafe;

/*
 * A bookie answers a read with TooManyRequests. The handle of the ledger stays open, as the code says
 * that it should.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out TooManyRequestsClosesHandleTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.TooManyRequestsClosesHandleTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class TooManyRequestsClosesHandleTest {
    private static final ReadHandle STORAGE = handle();
    private static final List<String> answers = new ArrayList<>();
    private static Throwable failure;
    private static boolean readerThrows;
    private static boolean closed;
    private static int asked;
    private static final List<Runnable> TASKS = new ArrayList<>();
    private static RangeEntryCacheManagerImpl manager;
    private static ManagedLedgerImpl ledger;
    private static EntryCache cache;
    private static RuntimeException thrown;

    public static void main(String[] arguments) throws Exception {
        start(new ManagedLedgerFactoryConfig());
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object current = ((Unsafe) field.get(null)).allocateInstance(LedgerHandle.class);
        write(ledger, ManagedLedgerImpl.class, "currentLedger", current);
        write(ledger, ManagedLedgerImpl.class, "ledgerCache", ConcurrentLongHashMap.newBuilder().build());
        failure = BKException.create(BKException.Code.TooManyRequestsException);
        readRange(0, 1);
        runTasks();
        expect("the read fails", List.of("failure"), answers);
        expect("the handle is closed", false, closed);
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

    /** Storage with every entry in it. It answers once it is told to, or fails at once. */
    private static ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                ReadHandle.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
                    switch (method.getName()) {
                        case "getId":
                            return 1L;
                        case "getLength", "getLastAddConfirmed":
                            return 0L;
                        case "closeAsync":
                            closed = true;
                            return CompletableFuture.completedFuture(null);
                        case "toString":
                            return "ledger 1";
                        default:
                            return asked((Long) given[0], (Long) given[1]);
                    }
                });
    }

    private static CompletableFuture<LedgerEntries> asked(long first, long last) {
        asked++;
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        List<LedgerEntry> entries = new ArrayList<>();
        for (long id = first; id <= last; id++) {
            entries.add(LedgerEntryImpl.create(1, id, 10, Unpooled.wrappedBuffer(new byte[10])));
        }
        CompletableFuture<LedgerEntries> answer = new CompletableFuture<>();
        TASKS.add(() -> answer.complete(LedgerEntriesImpl.create(entries)));
        return answer;
    }

    private static void readRange(long first, long last) {
        cache.asyncReadEntry(STORAGE, first, last, true, new ReadEntriesCallback() {
            @Override
            public void readEntriesComplete(List<Entry> entries, Object context) {
                answers.add("entries");
                entries.forEach(Entry::release);
                if (readerThrows) {
                    throw new IllegalStateException("the reader's own");
                }
            }

            @Override
            public void readEntriesFailed(ManagedLedgerException exception, Object context) {
                answers.add("failure");
            }
        }, null);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

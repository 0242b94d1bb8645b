package org.apache.bookkeeper.mledger.impl;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.PositionFactory;
import org.apache.bookkeeper.mledger.impl.cache.EntryCache;
import sun.misc.Unsafe;

/*
 * With managedLedgerReadEntryTimeoutSeconds set, storage answers neither of two reads. Both are older than the timeout
 * when the ledger looks for reads to fail.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReadTimeoutWatchesLastTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.ReadTimeoutWatchesLastTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReadTimeoutWatchesLastTest {
    private static final List<Object> PENDING = new ArrayList<>();
    private static final List<String> FAILED = new ArrayList<>();
    private static ManagedLedgerImpl ledger;
    private static Object tracker;

    public static void main(String[] arguments) throws Exception {
        start();
        read("first");
        read("second");
        for (Object callback : PENDING) {
            makeOlder(callback);
        }
        for (int look = 0; look < 3; look++) {
            lookForTimeouts();
        }
        expect("the last read is failed", true, FAILED.contains("second"));
        expect("the read before it is failed", true, FAILED.contains("first"));
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** A ledger whose cache answers no read; of its neighbours only what it looks at. */
    private static void start() throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Unsafe unsafe = (Unsafe) field.get(null);
        ManagedLedgerConfig config = new ManagedLedgerConfig();
        config.setReadEntryTimeoutSeconds(1);
        ledger = (ManagedLedgerImpl) unsafe.allocateInstance(ManagedLedgerImpl.class);
        write(ledger, "name", "ledger");
        write(ledger, "config", config);
        var factory = (ManagedLedgerFactoryImpl) unsafe.allocateInstance(ManagedLedgerFactoryImpl.class);
        write(ledger, "factory", factory);
        write(ledger, "mbean", new ManagedLedgerMBeanImpl(ledger));
        write(ledger, "executor", executor());
        write(ledger, "entryCache", Proxy.newProxyInstance(EntryCache.class.getClassLoader(),
                new Class<?>[] {EntryCache.class}, (proxy, method, given) -> {
            for (Object one : given) {
                if (one instanceof ReadEntryCallback) {
                    PENDING.add(one);
                }
            }
            return null;
        }));
        Field log = ManagedLedgerImpl.class.getDeclaredField("log");
        if (!Modifier.isStatic(log.getModifiers())) {
            write(ledger, "log", log.getType().getMethod("get", Class.class).invoke(null, ManagedLedgerImpl.class));
        }
        try {
            // later releases have an object that watches the reads of all ledgers
            Class<?> type = Class.forName("org.apache.bookkeeper.mledger.impl.ReadEntryTimeoutTracker");
            tracker = unsafe.allocateInstance(type);
            Field queue = type.getDeclaredField("timeoutQueue");
            write(tracker, "timeoutQueue", queue.getType().getConstructor(int.class).newInstance(1024));
            write(tracker, "timeoutQueueSize", new AtomicInteger());
            write(factory, "readEntryTimeoutTracker", tracker);
        } catch (ClassNotFoundException earlier) {
            tracker = null;
        }
    }

    private static Object executor() throws Exception {
        Class<?> type = ManagedLedgerImpl.class.getDeclaredField("executor").getType();
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, given) -> {
            if (given != null && given.length == 1 && given[0] instanceof Runnable task) {
                task.run();
            }
            return null;
        });
    }

    private static void read(String name) {
        ledger.asyncReadEntry(null, PositionFactory.create(1, 0), new ReadEntryCallback() {
            @Override
            public void readEntryComplete(Entry entry, Object context) {
                throw new IllegalStateException("nothing was answered");
            }

            @Override
            public void readEntryFailed(ManagedLedgerException exception, Object context) {
                FAILED.add(name);
            }
        }, null);
    }

    private static void makeOlder(Object callback) throws Exception {
        for (String name : List.of("createdTime", "timeoutAtNanos")) {
            try {
                write(callback, name, System.nanoTime() - 10_000_000_000L);
            } catch (NoSuchFieldException other) {
                continue;
            }
        }
    }

    private static void lookForTimeouts() throws Exception {
        Object owner = tracker == null ? ledger : tracker;
        Class<?> type = owner.getClass();
        try {
            MethodHandles.privateLookupIn(type, MethodHandles.lookup())
                    .findVirtual(type, tracker == null ? "checkReadTimeout" : "checkTimeouts", MethodType.methodType(void.class))
                    .bindTo(owner).invoke();
        } catch (Throwable thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    private static void write(Object owner, String name, Object value) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(owner, value);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

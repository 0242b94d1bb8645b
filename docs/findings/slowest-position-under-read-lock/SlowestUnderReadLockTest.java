package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Two threads ask for the slowest position while moves of cursors wait to be carried out: both carry them out, at once,
 * in the same linked list. One of them is held inside by a position of the test, and the other gets in.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out SlowestUnderReadLockTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.SlowestUnderReadLockTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class SlowestUnderReadLockTest {
    private static final AtomicReference<Thread> HELD = new AtomicReference<>();
    private static final CountDownLatch FIRST = new CountDownLatch(1);
    private static final CountDownLatch SECOND = new CountDownLatch(1);

    public static void main(String[] arguments) throws Exception {
        ActiveManagedCursorContainerImpl container = new ActiveManagedCursorContainerImpl();
        for (int cursor = 0; cursor < 4; cursor++) {
            container.add(cursor("s" + cursor), position(10 - cursor));
        }
        thread(container::getSlowestCursorPosition);
        expect("the first thread is inside", true, FIRST.await(10, TimeUnit.SECONDS));
        thread(container::getSlowestCursorPosition);
        expect("a second thread changes the list meanwhile", false, SECOND.await(1, TimeUnit.SECONDS));
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void thread(Runnable task) {
        Thread thread = new Asking(task);
        thread.setDaemon(true);
        thread.start();
    }

    private static final class Asking extends Thread {
        private Asking(Runnable task) {
            super(task);
        }
    }

    private static ManagedCursor cursor(String name) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object cursor = ((Unsafe) field.get(null)).allocateInstance(ManagedCursorImpl.class);
        Field named = ManagedCursorImpl.class.getDeclaredField("name");
        named.setAccessible(true);
        named.set(cursor, name);
        return (ManagedCursor) cursor;
    }

    /** A position that holds the first thread that compares it, and tells when another one does. */
    private static Position position(long entry) {
        Position released = PositionFactory.create(1, entry);
        return (Position) Proxy.newProxyInstance(
                Position.class.getClassLoader(), new Class<?>[] {Position.class}, (proxy, method, given) -> {
            if (method.getName().equals("compareTo") && Thread.currentThread() instanceof Asking) {
                if (HELD.compareAndSet(null, Thread.currentThread())) {
                    FIRST.countDown();
                    SECOND.await(5, TimeUnit.SECONDS);
                } else if (HELD.get() != Thread.currentThread()) {
                    SECOND.countDown();
                }
            }
            return method.invoke(released, given);
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

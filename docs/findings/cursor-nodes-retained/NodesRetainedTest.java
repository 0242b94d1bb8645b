package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import java.util.Collection;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Cursors that come and go while nobody asks for a rank stay in the queue of pending updates, each
 * with its cursor: memory grows without bound.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out NodesRetainedTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.NodesRetainedTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class NodesRetainedTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        for (int i = 0; i < 10_000; i++) {
            add("reader-" + i, i);
            CONTAINER.removeCursor("reader-" + i);
        }
        expect("members", 0, CONTAINER.size());
        expect("at most 100 nodes are kept for 0 members", true, pending() <= 100);
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
    }

    private static int pending() {
        try {
            Field field = ActiveManagedCursorContainerImpl.class.getDeclaredField("pendingPositionUpdates");
            field.setAccessible(true);
            return ((Collection<?>) field.get(CONTAINER)).size();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            fail(what + ": expected " + expected + ", got " + got);
        }
    }

    private static void fail(String message) {
        System.out.println(message);
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }

    private static Position at(int entry) {
        return PositionFactory.create(1, entry);
    }

    /** A cursor of which only the name is there: the containers ask for no more. */
    private static ManagedCursor cursor(String name) {
        try {
            Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
            unsafe.setAccessible(true);
            Object cursor = ((Unsafe) unsafe.get(null)).allocateInstance(ManagedCursorImpl.class);
            Field field = ManagedCursorImpl.class.getDeclaredField("name");
            field.setAccessible(true);
            field.set(cursor, name);
            return (ManagedCursor) cursor;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}

package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Untracking a cursor that is not in the ordered list, or removing one that was untracked before,
 * unlinks a node that is not linked: the list loses all its cursors, and later calls throw or never
 * end.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out UnlinkedTwiceTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.UnlinkedTwiceTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class UnlinkedTwiceTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        Thread watchdog = new Thread(() -> {
            try {
                Thread.sleep(10_000);
                fail("the last call did not end within 10 seconds");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        watchdog.setDaemon(true);
        watchdog.start();
        add("a", 1);
        add("b", 0);
        add("d", 0);
        expect("rank of d", 2, rank("d"));
        move("b", 1);
        untrack("d");
        expect("slowest", 1, slowest());
        remove("d");
        expect("slowest after the removal of the untracked d", 1, slowest());
        expect("rank of a", 2, rank("a"));
        expect("rank of b", 2, rank("b"));
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
    }

    private static void move(String cursor, int entry) {
        CONTAINER.updateCursor(cursor(cursor), at(entry));
    }

    private static void untrack(String cursor) {
        CONTAINER.updateCursor(cursor(cursor), null);
    }

    private static Integer rank(String cursor) {
        try {
            return CONTAINER.getNumberOfCursorsAtSamePositionOrBefore(cursor(cursor));
        } catch (RuntimeException e) {
            fail("rank of " + cursor + " threw " + e);
            return null;
        }
    }

    private static Integer slowest() {
        Position slowest = CONTAINER.getSlowestCursorPosition();
        return slowest == null ? null : (int) slowest.getEntryId();
    }

    private static void remove(String cursor) {
        CONTAINER.removeCursor(cursor);
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

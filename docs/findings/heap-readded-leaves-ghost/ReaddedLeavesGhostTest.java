package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Adding a cursor under a name that is already there leaves the first item in the heap for ever: the
 * slowest position is one where no cursor stands.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReaddedLeavesGhostTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.ReaddedLeavesGhostTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReaddedLeavesGhostTest {
    private static final ManagedCursorContainerImpl CONTAINER = new ManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        add("e", 0);
        add("e", 1);
        expect("slowest", 1, slowest());
        CONTAINER.removeCursor("e");
        expect("slowest of no cursors", null, slowest());
        expect("durable cursors are left", false, CONTAINER.hasDurableCursors());
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
    }

    private static Integer slowest() {
        Position slowest = CONTAINER.getSlowestCursorPosition();
        return slowest == null ? null : (int) slowest.getEntryId();
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

package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Removing a cursor puts the last item of the heap in its place and lets it sink only, never rise: the
 * order of the heap is broken, and the slowest position is later told too high.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RemovalBreaksOrderTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.RemovalBreaksOrderTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RemovalBreaksOrderTest {
    private static final ManagedCursorContainerImpl CONTAINER = new ManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        add("a", 3);
        add("b", 0);
        add("c", 1);
        add("d", 2);
        add("e", 2);
        add("f", 0);
        expect("slowest", 0, slowest());
        remove("a");
        move("f", 2);
        move("b", 2);
        expect("slowest, c stands at 1", 1, slowest());
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
    }

    private static void move(String cursor, int entry) {
        CONTAINER.updateCursor(cursor(cursor), at(entry));
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

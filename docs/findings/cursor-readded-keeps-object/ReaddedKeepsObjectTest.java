package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * A cursor that is removed and opened again under its name, before anyone asked for a rank, is the old
 * object in the container: get() answers the closed cursor.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ReaddedKeepsObjectTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.ReaddedKeepsObjectTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ReaddedKeepsObjectTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        ManagedCursor closed = cursor("a");
        ManagedCursor opened = cursor("a");
        CONTAINER.add(closed, at(0));
        expect("slowest", 0, slowest());
        CONTAINER.removeCursor("a");
        CONTAINER.add(opened, at(1));
        expect("the container holds the cursor that was opened last", true, CONTAINER.get("a") == opened);
        add("b", 2);
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

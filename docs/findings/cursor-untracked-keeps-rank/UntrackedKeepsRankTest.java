package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * A cursor that is no longer tracked (its position was set to null) keeps its old position, and with
 * it a rank; at the next rebuild of the list it is counted again.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out UntrackedKeepsRankTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.UntrackedKeepsRankTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class UntrackedKeepsRankTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        add("f", 0);
        add("g", 1);
        expect("rank of g", 2, rank("g"));
        untrack("f");
        expect("rank of g, f untracked", 1, rank("g"));
        expect("rank of f, untracked", 0, rank("f"));
        add("h", 2);
        expect("rank of g, f still untracked", 1, rank("g"));
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
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

package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * A cursor that stands last in the ordered list leaves a tie, or joins one, without the counter of the
 * tie being told: the ranks of the cursors it left or joined are wrong from then on.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out TailTieRankTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.TailTieRankTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class TailTieRankTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();

    public static void main(String[] arguments) {
        add("d", 0);
        add("e", 0);
        add("f", 0);
        add("b", 0);
        expect("slowest", 0, slowest());
        move("f", 1);
        expect("rank of b after f has left", 3, rank("b"));
        expect("rank of d after f has left", 3, rank("d"));
        expect("rank of e after f has left", 3, rank("e"));
        move("f", 0);
        expect("rank of b after f has come back", 4, rank("b"));
        System.out.println("conforms");
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), at(entry));
    }

    private static void move(String cursor, int entry) {
        CONTAINER.updateCursor(cursor(cursor), at(entry));
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

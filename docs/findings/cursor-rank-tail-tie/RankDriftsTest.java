package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Two cursors that share the last position and move on in turn, as tailing readers do, lower each other's rank
 * by one with every move, below 0 and without an end.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RankDriftsTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.RankDriftsTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RankDriftsTest {
    private static final ActiveManagedCursorContainerImpl CONTAINER = new ActiveManagedCursorContainerImpl();
    private static final int ROUNDS = 8;

    public static void main(String[] arguments) {
        add("a", 0);
        add("b", 1);
        add("c", 5);
        add("d", 5);
        CONTAINER.getSlowestCursorPosition();
        List<Integer> ranks = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        for (int round = 1; round <= ROUNDS; round++) {
            move("d", 5 + round);
            rank("d");
            move("c", 5 + round);
            ranks.add(rank("c"));
            expected.add(4);
        }
        boolean conforms = ranks.equals(expected);
        System.out.println(conforms ? "conforms" : "ranks of c: expected " + expected + ", got " + ranks);
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }

    private static void add(String cursor, int entry) {
        CONTAINER.add(cursor(cursor), PositionFactory.create(1, entry));
    }

    private static void move(String cursor, int entry) {
        CONTAINER.updateCursor(cursor(cursor), PositionFactory.create(1, entry));
    }

    private static int rank(String cursor) {
        return CONTAINER.getNumberOfCursorsAtSamePositionOrBefore(cursor(cursor));
    }

    /** A cursor of which only the name is there: the container asks for no more. */
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

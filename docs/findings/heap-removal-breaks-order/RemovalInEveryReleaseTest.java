package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import sun.misc.Unsafe;

/*
 * What RemovalBreaksOrderTest does, on releases before 4.2 too: there the class is called ManagedCursorContainer, and its
 * methods otherwise, so they are called by reflection. Also told is the cursor that a backlog quota acts on, which
 * ManagedLedgerImpl.getSlowestConsumer takes from the same heap.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out RemovalInEveryReleaseTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.RemovalInEveryReleaseTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class RemovalInEveryReleaseTest {
    private static final Object CONTAINER = container();

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
        expect("slowest and the cursor there, c stands at 1", "1 of c", slowest() + " of " + slowestCursor());
        System.out.println("conforms");
    }

    private static Object container() {
        for (String name : new String[] {"ManagedCursorContainerImpl", "ManagedCursorContainer"}) {
            try {
                var made = Class.forName("org.apache.bookkeeper.mledger.impl." + name).getDeclaredConstructor();
                made.setAccessible(true);
                return made.newInstance();
            } catch (ReflectiveOperationException older) {
                continue;
            }
        }
        throw new IllegalStateException("no container of cursors");
    }

    /** Calls the method that has one of these names. */
    private static Object call(String names, Object... arguments) {
        for (Method method : CONTAINER.getClass().getMethods()) {
            if (List.of(names.split(" ")).contains(method.getName()) && method.getParameterCount() == arguments.length) {
                try {
                    method.setAccessible(true);
                    return method.invoke(CONTAINER, arguments);
                } catch (ReflectiveOperationException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        throw new IllegalStateException("no method " + names);
    }

    private static void add(String cursor, int entry) {
        call("add", cursor(cursor), at(entry));
    }

    private static void move(String cursor, int entry) {
        call("updateCursor cursorUpdated", cursor(cursor), at(entry));
    }

    private static Integer slowest() {
        Position slowest = (Position) call("getSlowestCursorPosition getSlowestReaderPosition");
        return slowest == null ? null : (int) slowest.getEntryId();
    }

    private static String slowestCursor() {
        return ((ManagedCursor) call("getSlowestCursor getSlowestReader")).getName();
    }

    private static void remove(String cursor) {
        call("removeCursor", cursor);
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

    /** Made by the factory of later releases, or by the class of 3.3. */
    private static Object at(int entry) {
        try {
            return Class.forName("org.apache.bookkeeper.mledger.PositionFactory")
                    .getMethod("create", long.class, long.class).invoke(null, 1L, (long) entry);
        } catch (ClassNotFoundException older) {
            try {
                return Class.forName("org.apache.bookkeeper.mledger.impl.PositionImpl")
                        .getMethod("get", long.class, long.class).invoke(null, 1L, (long) entry);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
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

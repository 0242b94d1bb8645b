package org.apache.bookkeeper.mledger.impl;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.Arrays;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/**
 * Measures the released container of active cursors in a JVM of its own.
 *
 * <p>Each question is three lines on stdin: the pattern and the number of rounds, the entry of each cursor, and the
 * moves as cursor:entry. Each answer is one line on stdout: the processor time of one move in nanoseconds, as the
 * median of the rounds after one warm-up round.
 */
public final class CursorCosts {
    private static final long LEDGER = 5;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final ActiveManagedCursorContainerImpl container = new ActiveManagedCursorContainerImpl();
    private final ManagedCursor[] cursors;

    private CursorCosts(ManagedCursor[] cursors, Position[] start) {
        this.cursors = cursors;
        for (int number = 0; number < cursors.length; number++) {
            container.add(cursors[number], start[number]);
        }
        container.getSlowestCursorPosition();
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] question = line.split(" ");
            System.out.println(answer(question[0], Integer.parseInt(question[1]), in.readLine(), in.readLine()));
            System.out.flush();
        }
    }

    private static long answer(String pattern, int rounds, String starts, String moves)
            throws ReflectiveOperationException {
        Position[] start = Arrays.stream(starts.split(" "))
                .map(entry -> PositionFactory.create(LEDGER, Long.parseLong(entry)))
                .toArray(Position[]::new);
        String[] turns = moves.split(" ");
        int[] cursor = new int[turns.length];
        Position[] to = new Position[turns.length];
        for (int turn = 0; turn < turns.length; turn++) {
            String[] parts = turns[turn].split(":");
            cursor[turn] = Integer.parseInt(parts[0]);
            to[turn] = PositionFactory.create(LEDGER, Long.parseLong(parts[1]));
        }
        ManagedCursor[] cursors = new ManagedCursor[start.length];
        for (int number = 0; number < cursors.length; number++) {
            cursors[number] = cursor("cursor-" + number);
        }
        long[] nanos = new long[rounds];
        for (int round = -1; round < rounds; round++) {
            CursorCosts costs = new CursorCosts(cursors, start);
            long begin = THREADS.getCurrentThreadCpuTime();
            costs.play(pattern, cursor, to);
            long taken = THREADS.getCurrentThreadCpuTime() - begin;
            if (round >= 0) {
                nanos[round] = taken;
            }
        }
        Arrays.sort(nanos);
        return nanos[rounds / 2] / turns.length;
    }

    /** Returns a released cursor made without its constructor; a container only reads its name. */
    private static ManagedCursor cursor(String name) throws ReflectiveOperationException {
        Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        ManagedCursorImpl released =
                (ManagedCursorImpl) ((Unsafe) unsafe.get(null)).allocateInstance(ManagedCursorImpl.class);
        Field named = ManagedCursorImpl.class.getDeclaredField("name");
        named.setAccessible(true);
        named.set(released, name);
        return released;
    }

    private void play(String pattern, int[] cursor, Position[] to) {
        for (int turn = 0; turn < cursor.length; turn++) {
            ManagedCursor moved = cursors[cursor[turn]];
            switch (pattern) {
                case "rank-move":
                    container.getNumberOfCursorsAtSamePositionOrBefore(moved);
                    container.updateCursor(moved, to[turn]);
                    break;
                case "moves":
                    container.updateCursor(moved, to[turn]);
                    if ((turn & 15) == 15) {
                        container.getNumberOfCursorsAtSamePositionOrBefore(moved);
                    }
                    break;
                case "move-slowest":
                    container.updateCursor(moved, to[turn]);
                    container.getSlowestCursorPosition();
                    break;
                case "rank":
                    container.getNumberOfCursorsAtSamePositionOrBefore(moved);
                    break;
                default:
                    throw new IllegalArgumentException(pattern);
            }
        }
    }
}

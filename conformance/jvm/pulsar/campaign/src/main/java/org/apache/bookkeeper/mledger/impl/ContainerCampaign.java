package org.apache.bookkeeper.mledger.impl;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/**
 * Plays random operations on the released containers of cursors and compares each answer with its definition. The rank
 * of a cursor is the number of tracked cursors at or before it; the slowest position is the lowest tracked one.
 *
 * <p>Arguments: active or heap; the seed; the number of cases; the random choices of a case; the cursors; the
 * positions; the limits, any of nulls, readd, ties. Naming a limit lifts it. Without ties, each tracked cursor of the
 * active container is moved, at least to its own position, before a query that follows a change. Prints one line of
 * JSON.
 */
public final class ContainerCampaign {
    private static final int GONE = -2;
    private static final int UNTRACKED = -1;

    private final boolean isHeap;
    private final boolean nulls;
    private final boolean readd;
    private final boolean ties;
    private final ManagedCursor[] cursors;
    private final Position[] positions;
    private final int[] stands;
    private final long[] played = new long[6];
    private ActiveManagedCursorContainer container;
    private boolean hasChanged;
    private long seed;

    private ContainerCampaign(boolean isHeap, int cursors, int positions, String limits) throws Exception {
        this.isHeap = isHeap;
        this.nulls = limits.contains("nulls");
        this.readd = limits.contains("readd");
        this.ties = limits.contains("ties");
        this.cursors = new ManagedCursor[cursors];
        this.positions = new Position[positions];
        this.stands = new int[cursors];
        Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        Field name = ManagedCursorImpl.class.getDeclaredField("name");
        name.setAccessible(true);
        for (int i = 0; i < cursors; i++) {
            this.cursors[i] = (ManagedCursor) ((Unsafe) unsafe.get(null)).allocateInstance(ManagedCursorImpl.class);
            name.set(this.cursors[i], "s" + i);
        }
        for (int i = 0; i < positions; i++) {
            this.positions[i] = PositionFactory.create(1, i);
        }
    }

    public static void main(String[] arguments) throws Exception {
        ContainerCampaign campaign = new ContainerCampaign(arguments[0].equals("heap"), Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]), arguments[6]);
        long cases = Long.parseLong(arguments[2]);
        int steps = Integer.parseInt(arguments[3]);
        long differences = 0;
        String first = null;
        for (long i = 0; i < cases; i++) {
            campaign.seed = (Long.parseLong(arguments[1]) << 32) + i;
            String difference = campaign.play(steps);
            if (difference != null) {
                differences++;
                first = first == null ? "case " + i + ": " + difference : first;
            }
        }
        long cpuMillis = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1_000_000;
        System.out.println("{\"steps\":" + Arrays.stream(campaign.played).sum()
                + ",\"add\":" + campaign.played[0] + ",\"move\":" + campaign.played[1]
                + ",\"remove\":" + campaign.played[2] + ",\"rank\":" + campaign.played[3]
                + ",\"slowest\":" + campaign.played[4] + ",\"members\":" + campaign.played[5]
                + ",\"cpu_millis\":" + cpuMillis + ",\"differences\":" + differences
                + ",\"first\":" + (first == null ? "null" : "\"" + first + "\"") + "}");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Plays one case and returns its first difference, or null if there is none. */
    private String play(int steps) {
        container = isHeap ? new ManagedCursorContainerImpl() : new ActiveManagedCursorContainerImpl();
        Arrays.fill(stands, GONE);
        hasChanged = false;
        for (int i = 1; i <= steps; i++) {
            try {
                String difference = step(next(14));
                if (difference != null) {
                    return "choice " + i + ": " + difference;
                }
            } catch (RuntimeException e) {
                return "choice " + i + ": threw " + e.getClass().getName();
            }
        }
        return null;
    }

    private String step(int kind) {
        int cursor = next(cursors.length);
        switch (kind) {
            case 0, 1 -> add(cursor);
            case 2, 3, 4 -> move(cursor, place());
            case 5 -> lockstep();
            case 6 -> {
                played[2]++;
                hasChanged |= stands[cursor] != GONE;
                boolean removed = container.removeCursor(cursors[cursor].getName());
                if (removed != (stands[cursor] != GONE)) {
                    return "remove answered " + removed;
                }
                stands[cursor] = GONE;
            }
            case 7, 8, 9, 10 -> {
                if (!isHeap) {
                    refreshPositions();
                    played[3]++;
                    int rank = container.getNumberOfCursorsAtSamePositionOrBefore(cursors[cursor]);
                    if (rank != rank(cursor)) {
                        return "rank is " + rank + ", expected " + rank(cursor);
                    }
                }
            }
            case 11, 12 -> {
                refreshPositions();
                played[4]++;
                Position slowest = container.getSlowestCursorPosition();
                if (!Objects.equals(slowest, slowest())) {
                    return "slowest is " + slowest + ", expected " + slowest();
                }
            }
            default -> {
                played[5]++;
                long members = Arrays.stream(stands).filter(at -> at != GONE).count();
                if (container.size() != members) {
                    return "members are " + container.size() + ", expected " + members;
                }
            }
        }
        return null;
    }

    private void add(int cursor) {
        if (stands[cursor] != GONE && isHeap && !readd) {
            move(cursor, next(positions.length));
            return;
        }
        played[0]++;
        hasChanged = true;
        int to = place();
        container.add(cursors[cursor], to == UNTRACKED ? null : positions[to]);
        stands[cursor] = to;
    }

    private void move(int cursor, int to) {
        played[1]++;
        hasChanged = true;
        container.updateCursor(cursors[cursor], to == UNTRACKED ? null : positions[to]);
        if (stands[cursor] != GONE && !(isHeap && stands[cursor] == UNTRACKED)) {
            stands[cursor] = to;
        }
    }

    /** Moves the last cursor to the first one, or one position further if all are level. */
    private void lockstep() {
        int last = -1;
        int highest = -1;
        for (int i = 0; i < stands.length; i++) {
            if (stands[i] >= 0) {
                last = last < 0 || stands[i] < stands[last] ? i : last;
                highest = Math.max(highest, stands[i]);
            }
        }
        if (last >= 0) {
            move(last, stands[last] < highest ? highest : Math.min(highest + 1, positions.length - 1));
        }
    }

    private void refreshPositions() {
        if (hasChanged && !ties && !isHeap) {
            for (int i = 0; i < stands.length; i++) {
                if (stands[i] >= 0) {
                    move(i, stands[i]);
                }
            }
        }
        hasChanged = false;
    }

    private int place() {
        return nulls && next(8) == 0 ? UNTRACKED : next(positions.length);
    }

    private int rank(int cursor) {
        int rank = 0;
        for (int at : stands) {
            rank += stands[cursor] >= 0 && at >= 0 && at <= stands[cursor] ? 1 : 0;
        }
        return rank;
    }

    private Position slowest() {
        int lowest = Integer.MAX_VALUE;
        for (int at : stands) {
            lowest = at >= 0 ? Math.min(lowest, at) : lowest;
        }
        return lowest == Integer.MAX_VALUE ? null : positions[lowest];
    }

    /** Returns the next random number of SplitMix64. */
    private int next(int bound) {
        seed += 0x9E3779B97F4A7C15L;
        long mixed = (seed ^ (seed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return (int) Long.remainderUnsigned(mixed ^ (mixed >>> 31), bound);
    }
}

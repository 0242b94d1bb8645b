package org.apache.bookkeeper.mledger.impl;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;
import sun.misc.Unsafe;

/*
 * Two to four threads at one released container of cursors. Each adds, moves and removes cursors of its own, at
 * positions that no other cursor has, and each asks for ranks, the slowest position and the number of members. What
 * a thread does is drawn from the seed; how they interleave is the machine's. A difference prints the seed and what
 * each thread did, in its order. Findings of one thread are kept out: no ties, no position of null, in the heap no
 * more than five cursors. Arguments: the first seed, how many histories, and "active" or "heap". Prints one JSON object.
 *
 * In half of the histories all threads but one ask for the slowest position only.
 *
 * What is held:
 *   throws    no call throws
 *   ends      every history ends (60 seconds); the run ends with the first that does not
 *   between   a rank is at least 1 for a member of one's own, and at most the cursors there are
 *   at rest   when all threads have ended: the rank of each cursor, the slowest position, who is a member and how many
 */
public final class ContainerThreads {
    private static final int STEPS = 200;
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private final long seed;
    private final boolean heap;
    private final boolean asking;
    private final int threads;
    private final int cursors;
    private final ActiveManagedCursorContainer container;
    private final ManagedCursor[] members;
    private final Position[] stands;
    private final Map<String, String> broken = new TreeMap<>();
    private final List<StringBuilder> histories = new ArrayList<>();

    private ContainerThreads(long seed, boolean heap) throws Exception {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.seed = seed;
        this.heap = heap;
        threads = 2 + random.nextInt(3);
        asking = random.nextBoolean();
        cursors = heap ? 5 : threads * (2 + random.nextInt(8));
        container = heap ? new ManagedCursorContainerImpl() : new ActiveManagedCursorContainerImpl();
        members = new ManagedCursor[cursors];
        stands = new Position[cursors];
        Field unsafe = Unsafe.class.getDeclaredField("theUnsafe");
        unsafe.setAccessible(true);
        Field name = ManagedCursorImpl.class.getDeclaredField("name");
        name.setAccessible(true);
        for (int i = 0; i < cursors; i++) {
            members[i] = (ManagedCursor) ((Unsafe) unsafe.get(null)).allocateInstance(ManagedCursorImpl.class);
            name.set(members[i], "s" + i);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        boolean heap = arguments[2].equals("heap");
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long played = 0;
        for (long seed = first; seed < first + count; seed++) {
            ContainerThreads world = new ContainerThreads(seed, heap);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.breaks("throws", "at rest " + thrown.getClass().getSimpleName());
            }
            played++;
            for (var one : world.broken.entrySet()) {
                told.computeIfAbsent(one.getKey(), name -> new int[1])[0]++;
                examples.putIfAbsent(one.getKey(), "seed " + seed + ": " + one.getValue() + world.histories);
            }
            if (world.broken.containsKey("ends")) {
                break;
            }
        }
        StringBuilder json = new StringBuilder("{\"container\": \"" + arguments[2] + "\", \"first_seed\": " + first);
        json.append(", \"histories\": " + played + ", \"steps_a_thread\": ").append(STEPS).append(", \"met\": {");
        String between = "";
        for (var one : told.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": ").append(one.getValue()[0]);
            between = ", ";
        }
        json.append("}, \"examples\": {");
        between = "";
        for (var one : examples.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": \"").append(one.getValue()).append('"');
            between = ", ";
        }
        System.out.println(json.append("}}"));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void live() throws Exception {
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Future<?>> running = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            histories.add(new StringBuilder());
            Random random = new Random(seed * 0x9E3779B97F4A7C15L + thread + 1);
            int own = thread;
            running.add(THREADS.submit(() -> {
                start.await();
                for (int step = 0; step < STEPS; step++) {
                    step(own, step, random);
                }
                return null;
            }));
        }
        for (Future<?> one : running) {
            try {
                one.get(60, TimeUnit.SECONDS);
            } catch (TimeoutException late) {
                breaks("ends", "");
                return;
            } catch (ExecutionException thrown) {
                breaks("throws", thrown.getCause().getClass().getSimpleName());
            }
        }
        try {
            THREADS.submit(this::look).get(60, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            breaks("ends", "at rest");
        } catch (ExecutionException thrown) {
            breaks("throws", "at rest " + thrown.getCause().getClass().getSimpleName());
        }
    }

    private synchronized void breaks(String what, String how) {
        broken.putIfAbsent(what, how);
    }

    private void step(int thread, int step, Random random) {
        int mine = thread + threads * random.nextInt((cursors - thread + threads - 1) / threads);
        if (mine >= cursors) {
            return;
        }
        StringBuilder history = histories.get(thread);
        boolean asks = asking && thread > 0;
        switch (asks ? 5 : asking ? 1 + random.nextInt(7) : random.nextInt(8)) {
            case 0 -> {
                if (stands[mine] != null) {
                    history.append("; remove ").append(mine);
                    stands[mine] = null;
                    container.removeCursor("s" + mine);
                }
            }
            case 1, 2, 3, 4 -> {
                Position to = PositionFactory.create(1, (step + random.nextInt(40)) * 64L + mine);
                history.append(stands[mine] == null ? "; add " : "; move ").append(mine).append(" to ").append(to.getEntryId());
                boolean there = stands[mine] != null;
                stands[mine] = to;
                if (!there) {
                    container.add(members[mine], to);
                } else if (heap) {
                    container.cursorUpdated(members[mine], to);
                } else {
                    container.updateCursor(members[mine], to);
                }
            }
            case 5, 6 -> {
                history.append("; slowest");
                container.getSlowestCursorPosition();
            }
            default -> {
                if (!heap) {
                    history.append("; rank of ").append(mine);
                    int rank = container.getNumberOfCursorsAtSamePositionOrBefore(members[mine]);
                    if (stands[mine] != null && (rank < 1 || rank > cursors)) {
                        breaks("between", "rank " + rank);
                    }
                } else {
                    container.get("s" + mine);
                }
            }
        }
    }

    private Void look() {
        Position slowest = null;
        int size = 0;
        for (int i = 0; i < cursors; i++) {
            if ((container.get("s" + i) != null) != (stands[i] != null)) {
                breaks("at rest: member", "");
            }
            if (stands[i] == null) {
                continue;
            }
            size++;
            slowest = slowest == null || stands[i].compareTo(slowest) < 0 ? stands[i] : slowest;
            int rank = 0;
            for (Position other : stands) {
                rank += other != null && other.compareTo(stands[i]) <= 0 ? 1 : 0;
            }
            if (!heap && container.getNumberOfCursorsAtSamePositionOrBefore(members[i]) != rank) {
                breaks("at rest: rank", "");
            }
        }
        if (!java.util.Objects.equals(slowest, container.getSlowestCursorPosition())) {
            breaks("at rest: slowest", "");
        }
        if (container.size() != size) {
            breaks("at rest: size", container.size() + " for " + size);
        }
        return null;
    }
}

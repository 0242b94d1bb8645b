package entrycache.recorder;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A bounded pool of buffers that circulate between the threads that write rows, one at a time, and the writer's thread.
 */
final class Buffers {
    private static final int POLL_MILLIS = 100;

    private final ArrayBlockingQueue<Chunk> free;
    private final ArrayBlockingQueue<Chunk> full;

    /** The number of buffers that may still be allocated; a quiet broker needs two. */
    private int unmade;

    Buffers(int most) {
        free = new ArrayBlockingQueue<>(most);
        full = new ArrayBlockingQueue<>(most);
        unmade = most;
    }

    /** Returns a buffer to write into, or null if none is available now. */
    Chunk now() {
        Chunk got = free.poll();
        if (got == null && unmade > 0) {
            unmade--;
            return new Chunk();
        }
        return got;
    }

    /**
     * Waits for a buffer to write into; returns null once it is no longer wanted. An interrupt does not end the wait,
     * and the thread keeps its interrupt status.
     */
    Chunk await(BooleanSupplier wanted) {
        Chunk got = now();
        boolean interrupted = false;
        while (got == null && wanted.getAsBoolean()) {
            try {
                got = free.poll(POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return got;
    }

    /** Hands rows to the writer's thread; the queue always has room. */
    void hand(Chunk rows) {
        full.add(rows);
    }

    /** Returns the next rows to write, or null if none arrive within a second. */
    Chunk take() throws InterruptedException {
        return full.poll(1, TimeUnit.SECONDS);
    }

    /** Returns a written buffer to the pool. */
    void giveBack(Chunk done) {
        done.rows = 0;
        done.endsPart = false;
        free.add(done);
    }

    /** Returns all unwritten buffers to the pool. */
    void giveAllBack() {
        Chunk waiting;
        while ((waiting = full.poll()) != null) {
            giveBack(waiting);
        }
    }
}

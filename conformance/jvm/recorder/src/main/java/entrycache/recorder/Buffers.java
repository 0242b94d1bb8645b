package entrycache.recorder;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A bounded number of buffers that go round between those who write rows, one at a time, and the writer's thread. */
final class Buffers {
    private static final int LOOK_MILLIS = 100;

    private final ArrayBlockingQueue<Chunk> free;
    private final ArrayBlockingQueue<Chunk> full;

    /** Those that may still be made: a quiet broker needs two. */
    private int unmade;

    Buffers(int most) {
        free = new ArrayBlockingQueue<>(most);
        full = new ArrayBlockingQueue<>(most);
        unmade = most;
    }

    /** A buffer to write into; null: there is none now. */
    Chunk now() {
        Chunk got = free.poll();
        if (got == null && unmade > 0) {
            unmade--;
            return new Chunk();
        }
        return got;
    }

    /** A buffer to write into, waited for; null: it is not wanted any more. An interrupted thread keeps its mark. */
    Chunk await(BooleanSupplier wanted) {
        Chunk got = now();
        boolean interrupted = false;
        while (got == null && wanted.getAsBoolean()) {
            try {
                got = free.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return got;
    }

    /** Hands rows to the writer's thread; there is always room. */
    void hand(Chunk rows) {
        full.add(rows);
    }

    /** The next rows to write; null where none came within a second. */
    Chunk take() throws InterruptedException {
        return full.poll(1, TimeUnit.SECONDS);
    }

    /** Gives a buffer back that was written. */
    void giveBack(Chunk done) {
        done.rows = 0;
        done.endsPart = false;
        free.add(done);
    }

    /** Gives back all that nobody will write. */
    void giveAllBack() {
        Chunk waiting;
        while ((waiting = full.poll()) != null) {
            giveBack(waiting);
        }
    }
}

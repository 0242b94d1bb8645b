package org.apache.kafka.streams.state.internals;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Ends a `resize` that would never end.
 *
 * <p>A thread looks at the number of evictions of the step at hand. More of them than twenty thousand in two milliseconds, over a handful of
 * entries, is taken as the proof; then the running total is set so low that the loop ends, and the step is marked.
 */
final class Endless extends Thread {
    private static final long MANY = 20_000;

    private volatile ThreadCache cache;
    private volatile AtomicLong total;
    private volatile boolean met;

    Endless() {
        super("endless");
        setDaemon(true);
    }

    void begins(ThreadCache of, AtomicLong itsTotal) {
        met = false;
        total = itsTotal;
        cache = of;
    }

    /** Whether the operation that now has ended would not have ended. */
    boolean ended() {
        cache = null;
        return met;
    }

    @Override
    public void run() {
        while (true) {
            ThreadCache at = cache;
            long before = at == null ? 0 : at.evicts();
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                return;
            }
            if (at != null && cache == at && at.evicts() - before > MANY) {
                met = true;
                total.set(Long.MIN_VALUE / 2);
            }
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Ends a `resize` that would never end.
 *
 * <p>A thread samples the number of evictions of the current step. More than twenty thousand evictions in two
 * milliseconds, over a handful of entries, prove that the loop does not end. The thread then lowers the running total
 * so far that the loop ends, and marks the step.
 */
final class Endless extends Thread {
    private static final long MANY = 20_000;

    private volatile ThreadCache cache;
    private volatile AtomicLong total;
    private volatile boolean isEndless;

    Endless() {
        super("endless");
        setDaemon(true);
    }

    void begins(ThreadCache of, AtomicLong itsTotal) {
        isEndless = false;
        total = itsTotal;
        cache = of;
    }

    /** Returns whether the operation that has just ended was stopped by this thread. */
    boolean ended() {
        cache = null;
        return isEndless;
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
                isEndless = true;
                total.set(Long.MIN_VALUE / 2);
            }
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Distinguishes a step that never ends from a long one, by counters and monitors instead of time.
 *
 * <p>A step never ends if its thread cache counts a million more evictions, no more puts and the same bytes as before:
 * each entry has a size and only puts add bytes, so none of these evictions removed anything. Nor does it end in time if
 * its thread looks up a hundred thousand bounds of segments meanwhile: no case writes to so many. The JVM finds threads
 * that wait for one another's monitors.
 */
final class Watchdog {
    static final Watchdog INSTANCE = new Watchdog();

    private static final long CHECK_EVERY_MILLIS = 100;
    private static final long EVICTIONS_OF_NOTHING = 1_000_000;
    private static final long BOUNDS_OF_NOTHING = 100_000;

    /** The bounds of ranges of one segment that the stores of a thread have looked up. */
    private static final ThreadLocal<AtomicLong> BOUNDS = ThreadLocal.withInitial(AtomicLong::new);

    /** One watched step of one run. Two steps of one run are two objects. */
    static final class Step {
        private final KafkaRun run;
        private final AtomicLong bounds = BOUNDS.get();

        private Step(KafkaRun run) {
            this.run = run;
        }
    }

    private record Counters(long evicts, long puts, long bytes, long bounds) {
        static Counters of(Step step) {
            ThreadCache cache = step.run.cache;
            return new Counters(cache.evicts(), cache.puts(), cache.sizeBytes(), step.bounds.get());
        }

        /** Returns why the step does not end; null if nothing says so. */
        String whyEndlessSince(Counters earlier) {
            if (!isUnchangedSince(earlier)) {
                return null;
            }
            if (evicts - earlier.evicts >= EVICTIONS_OF_NOTHING) {
                return (evicts - earlier.evicts) + " evictions took nothing away, " + bytes
                        + " bytes are left as they were";
            }
            return bounds - earlier.bounds >= BOUNDS_OF_NOTHING
                    ? (bounds - earlier.bounds) + " bounds of segments were looked up, and nothing was written meanwhile"
                    : null;
        }

        boolean isUnchangedSince(Counters earlier) {
            return puts == earlier.puts && bytes == earlier.bytes;
        }
    }

    private final Set<Step> steps = ConcurrentHashMap.newKeySet();

    private Watchdog() {}

    Step begins(KafkaRun run) {
        Step step = new Step(run);
        steps.add(step);
        return step;
    }

    /** Counts a bound of a range of one segment that the current thread looks up. */
    static void countBound() {
        BOUNDS.get().incrementAndGet();
    }

    void ends(Step step) {
        steps.remove(step);
    }

    /** Starts a thread that checks the steps periodically. */
    void watch(Consumer<String> whenEndless) {
        Thread watching = new Thread(() -> check(whenEndless), "watchdog");
        watching.setDaemon(true);
        watching.start();
    }

    private void check(Consumer<String> whenEndless) {
        Map<Step, Counters> earlier = new HashMap<>();
        while (true) {
            try {
                Thread.sleep(CHECK_EVERY_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            String why = steps.isEmpty() ? null : Deadlock.found();
            earlier.keySet().retainAll(steps);
            for (Step step : steps) {
                Counters before = earlier.get(step);
                Counters now = Counters.of(step);
                String endless = before == null ? null : now.whyEndlessSince(before);
                if (endless != null) {
                    why = "the step does not end: " + endless;
                } else if (before == null || !now.isUnchangedSince(before)) {
                    earlier.put(step, now);
                }
            }
            if (why != null) {
                whenEndless.accept(why);
                return;
            }
        }
    }
}

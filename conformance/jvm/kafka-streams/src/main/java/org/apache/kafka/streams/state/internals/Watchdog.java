package org.apache.kafka.streams.state.internals;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Distinguishes a step that never ends from a long one, by counters and monitors instead of time.
 *
 * <p>A step never ends if its thread cache counts a million more evictions, no more puts and the same bytes as before:
 * each entry has a size and only puts add bytes, so none of these evictions removed anything. The JVM finds threads
 * that wait for one another's monitors.
 */
final class Watchdog {
    static final Watchdog INSTANCE = new Watchdog();

    private static final long CHECK_EVERY_MILLIS = 100;
    private static final long EVICTIONS_OF_NOTHING = 1_000_000;

    /** One watched step of one run. Two steps of one run are two objects. */
    static final class Step {
        private final KafkaRun run;

        private Step(KafkaRun run) {
            this.run = run;
        }
    }

    private record Counters(long evicts, long puts, long bytes) {
        static Counters of(Step step) {
            ThreadCache cache = step.run.cache;
            return new Counters(cache.evicts(), cache.puts(), cache.sizeBytes());
        }

        boolean showsNoEndSince(Counters earlier) {
            return evicts - earlier.evicts >= EVICTIONS_OF_NOTHING && isUnchangedSince(earlier);
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
                if (before != null && now.showsNoEndSince(before)) {
                    why = "the step does not end: " + (now.evicts - before.evicts)
                            + " evictions took nothing away, " + now.bytes + " bytes are left as they were";
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

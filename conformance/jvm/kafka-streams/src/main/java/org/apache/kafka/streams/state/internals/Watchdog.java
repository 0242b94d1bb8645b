package org.apache.kafka.streams.state.internals;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Tells a step that never ends from a long one, by counters and by monitors, not by time.
 *
 * <p>If, within one step, a thread cache counts a million evictions more, no put more, and has the same bytes as
 * before, then none of them took anything away: each entry has a size, and bytes grow by puts only. So nothing has
 * changed, and nothing will. Threads that wait for one another's monitors in a ring are found by the JVM.
 */
final class Watchdog {
    static final Watchdog INSTANCE = new Watchdog();

    private static final long LOOK_EVERY_MILLIS = 100;
    private static final long EVICTIONS_OF_NOTHING = 1_000_000;

    /** What is watched: one step of one run. Each step is its own, also of the same run. */
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
            return evicts - earlier.evicts >= EVICTIONS_OF_NOTHING && isAtRestSince(earlier);
        }

        boolean isAtRestSince(Counters earlier) {
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

    /** Looks again and again, in a thread of its own. */
    void watch(Consumer<String> whenEndless) {
        Thread watching = new Thread(() -> look(whenEndless), "watchdog");
        watching.setDaemon(true);
        watching.start();
    }

    private void look(Consumer<String> whenEndless) {
        Map<Step, Counters> earlier = new HashMap<>();
        while (true) {
            try {
                Thread.sleep(LOOK_EVERY_MILLIS);
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
                } else if (before == null || !now.isAtRestSince(before)) {
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

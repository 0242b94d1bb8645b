package org.apache.kafka.streams.state.internals;

import java.util.function.Consumer;

/**
 * Tells a step that never ends from a long one, by counters and not by time.
 *
 * <p>If, within one step, a thread cache counts a million evictions more, no put more, and has the same bytes as
 * before, then none of them took anything away: each entry has a size, and bytes grow by puts only. So nothing has
 * changed, and nothing will.
 */
final class Watchdog {
    static final Watchdog INSTANCE = new Watchdog();

    private static final long LOOK_EVERY_MILLIS = 100;
    private static final long EVICTIONS_OF_NOTHING = 1_000_000;

    /** What is watched: one step of one run. */
    private record Step(KafkaRun run) {}

    private record Counters(Step step, long evicts, long puts, long bytes) {
        static Counters of(Step step) {
            ThreadCache cache = step.run.cache;
            return new Counters(step, cache.evicts(), cache.puts(), cache.sizeBytes());
        }

        boolean showsNoEndSince(Counters earlier) {
            return step == earlier.step
                    && evicts - earlier.evicts >= EVICTIONS_OF_NOTHING
                    && puts == earlier.puts
                    && bytes == earlier.bytes;
        }
    }

    private volatile Step step;

    private Watchdog() {}

    void begins(KafkaRun run) {
        step = new Step(run);
    }

    void ends() {
        step = null;
    }

    /** Looks again and again, in a thread of its own. */
    void watch(Consumer<String> whenEndless) {
        Thread watching = new Thread(() -> look(whenEndless), "watchdog");
        watching.setDaemon(true);
        watching.start();
    }

    private void look(Consumer<String> whenEndless) {
        Counters earlier = null;
        while (true) {
            try {
                Thread.sleep(LOOK_EVERY_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
            Step now = step;
            if (now == null) {
                earlier = null;
            } else if (earlier == null || earlier.step != now) {
                earlier = Counters.of(now);
            } else {
                Counters later = Counters.of(now);
                if (later.showsNoEndSince(earlier)) {
                    whenEndless.accept("the step does not end: " + (later.evicts - earlier.evicts)
                            + " evictions took nothing away, " + later.bytes + " bytes are left as they were");
                    return;
                }
                if (later.puts != earlier.puts || later.bytes != earlier.bytes) {
                    earlier = later;
                }
            }
        }
    }
}

package entrycache.agent;

/**
 * The virtual clock. It starts at 0 and moves only when told to.
 *
 * <p>The two readings have the names of the calls of {@link System} that the agent turns into calls of this class.
 */
public final class Clock {
    private static volatile long nanos;

    private Clock() {}

    /** What a rewritten {@code System.nanoTime()} answers. */
    public static long nanoTime() {
        return nanos;
    }

    /** What a rewritten {@code System.currentTimeMillis()} answers: the same clock, truncated. */
    public static long currentTimeMillis() {
        return nanos / 1_000_000L;
    }

    /** Moves the clock forward. */
    public static synchronized void advance(long byNanos) {
        nanos = Math.addExact(nanos, byNanos);
    }

    /** Back to 0: a new run begins. */
    public static void reset() {
        nanos = 0;
    }

    /** Whether the agent runs in this JVM; without it the released classes still read the real clock. */
    public static boolean installed() {
        return Agent.installed;
    }
}

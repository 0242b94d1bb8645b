package entrycache.agent;

/**
 * The virtual clock. It starts at 0 and moves only when {@link #advance} is called.
 *
 * <p>The two methods that read it are named after the methods of {@link System} that the agent replaces.
 */
public final class Clock {
    private static volatile long nanos;

    private Clock() {}

    /** Returns the virtual time in nanoseconds; replaces {@code System.nanoTime()}. */
    public static long nanoTime() {
        return nanos;
    }

    /** Returns the virtual time in milliseconds, rounded down; replaces {@code System.currentTimeMillis()}. */
    public static long currentTimeMillis() {
        return nanos / 1_000_000L;
    }

    /** Moves the clock forward. */
    public static synchronized void advance(long byNanos) {
        nanos = Math.addExact(nanos, byNanos);
    }

    /** Sets the clock back to 0 for a new run. */
    public static void reset() {
        nanos = 0;
    }

    /** Returns whether the agent runs in this JVM. Without it, the released classes still read the real clock. */
    public static boolean installed() {
        return Agent.installed;
    }
}

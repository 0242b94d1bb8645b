package entrycache.protocol;

/**
 * The exception for a step with an argument that the protocol refuses. The step changes nothing, and its outcome is the
 * error.
 */
public final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Refuses a step; the message is for people only. */
    public Refused(String message) {
        super(message, null, false, false);
    }

    /** Refuses a step unless the condition holds. */
    public static void unless(boolean holds, String message) {
        if (!holds) {
            throw new Refused(message);
        }
    }
}

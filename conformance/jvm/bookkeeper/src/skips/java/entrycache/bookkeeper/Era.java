package entrycache.bookkeeper;

/** The releases that leave out an entry that is longer than a segment. */
final class Era {
    /** The limits of these releases alone, each with a comma behind it. */
    static final String LIMITS = "";

    /** The findings that limits stand for. */
    static final String FINDINGS = "";

    private Era() {}
}

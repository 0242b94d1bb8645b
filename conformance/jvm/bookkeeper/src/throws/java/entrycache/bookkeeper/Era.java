package entrycache.bookkeeper;

/** The releases that throw if an entry is longer than a segment. */
final class Era {
    /** The limits of these releases alone, each with a comma behind it. */
    static final String LIMITS = "\"long_entries\": false, ";

    /** The findings that limits stand for. */
    static final String FINDINGS = "\"limits.long_entries\": \"bookkeeper-long-entry-throws\"";

    private Era() {}
}

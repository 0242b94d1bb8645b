package entrycache.recorder;

/** Some rows on their way from the broker's threads to the writer's. */
final class Chunk {
    static final int ROWS = 8_192;

    /** Numbers of a row: seq, time, codes, then the columns. */
    static final int SEQ = 0;
    static final int TIME = 1;
    static final int CODES = 2;
    static final int FIRST = 3;
    static final int WIDTH = FIRST + Column.ALL.length;

    /** Texts of a row. */
    static final int CACHE = 0;
    static final int CURSOR = 1;
    static final int VALUE = 2;
    static final int TEXTS = 3;

    final long[] numbers = new long[ROWS * WIDTH];
    final String[] texts = new String[ROWS * TEXTS];
    int rows;

    /** The part ends behind the last row. */
    boolean endsPart;

    /** Nothing comes behind this one. */
    boolean last;
}

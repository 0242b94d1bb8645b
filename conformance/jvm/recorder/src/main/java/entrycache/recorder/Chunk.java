package entrycache.recorder;

/** A block of rows that the broker's threads hand to the writer's thread. */
final class Chunk {
    static final int ROWS = 8_192;

    /** Indexes of the numbers of a row: seq, time, codes, then the columns. */
    static final int SEQ = 0;
    static final int TIME = 1;
    static final int CODES = 2;
    static final int FIRST = 3;
    static final int WIDTH = FIRST + Column.ALL.length;

    /** Indexes of the texts of a row. */
    static final int CACHE = 0;
    static final int CURSOR = 1;
    static final int VALUE = 2;
    static final int KIND = 3;
    static final int TEXTS = 4;

    final long[] numbers = new long[ROWS * WIDTH];
    final String[] texts = new String[ROWS * TEXTS];
    int rows;

    /** True if the part ends after the last row. */
    boolean endsPart;

    /** True if this is the last chunk of the trace. */
    boolean last;
}

package entrycache.recorder;

import java.nio.charset.StandardCharsets;

/** The numeric columns of a row, in the order of a line; {@link #NULL} is left out. */
public enum Column {
    LEDGER_ID, ENTRY_ID, KEY_HASH, LIFE, SIZE_BYTES, EXPECTED_READS, REQUEUES, STAMP_NS, NEW_STAMP_NS, PASS_ID, CALL_ID,
    BOUND, MAX_REQUEUES, TRIGGER_BYTES, TARGET_BYTES, BYTES_AFTER, MANAGER_BYTES, TAIL_NO, HEAD_NO, TICKET,
    READ_ID, ASK_ID, LAST_ENTRY_ID, PERMITS, WINDOW_START, WINDOW_END, VALUE_HASH, OLD_HASH;

    /** The number that stands for no value; no column of a trace reaches it. */
    public static final long NULL = Long.MIN_VALUE;

    static final Column[] ALL = values();

    /** The text before the number in a line of JSON. */
    final byte[] label = (",\"" + name().toLowerCase(java.util.Locale.ROOT) + "\":").getBytes(StandardCharsets.US_ASCII);
}

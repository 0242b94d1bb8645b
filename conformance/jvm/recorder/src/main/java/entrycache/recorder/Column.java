package entrycache.recorder;

import java.nio.charset.StandardCharsets;

/** The columns of a row that are numbers, in the order in which a line tells them; {@link #NULL} is left out. */
public enum Column {
    LEDGER_ID, ENTRY_ID, KEY_HASH, LIFE, SIZE_BYTES, EXPECTED_READS, REQUEUES, STAMP_NS, NEW_STAMP_NS, PASS_ID, CALL_ID,
    BOUND, MAX_REQUEUES, TRIGGER_BYTES, TARGET_BYTES, BYTES_AFTER, MANAGER_BYTES, TAIL_NO, HEAD_NO, TICKET;

    /** No value; no column of a trace reaches it. */
    public static final long NULL = Long.MIN_VALUE;

    static final Column[] ALL = values();

    /** What stands in front of the number in a line of JSON. */
    final byte[] label = (",\"" + name().toLowerCase(java.util.Locale.ROOT) + "\":").getBytes(StandardCharsets.US_ASCII);
}

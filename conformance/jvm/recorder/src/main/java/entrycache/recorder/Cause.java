package entrycache.recorder;

/** The names of the trace's columns {@code cause} and {@code origin}. */
public enum Cause {
    NONE, OPEN, ROTATE, END, ADD, FILL, DUPLICATE, DISABLED, FULL, NOT_WANTED, GET, READ, REPLAY, DELIVERED, REMOVED,
    REJECTED, TIME, SIZE, ACCESSED, EXPECTED_READS, RANGE, CLEAR, CURSOR, LEDGER, CLOSE, TRIGGER, CYCLE, CALL, EVICT,
    FLUSH, FAILED, ALL, SHORT, FAIL, BUSY, TAKEN, QUEUED, REFUSED, GIVEN, VALUE, DELETE, PUT,
    FORWARD, BACKWARD, DONE;

    static final Cause[] EACH = values();
}

package entrycache.recorder;

/** The kind of a row; the names are those of the trace's column {@code op}. */
public enum Op {
    CONFIG, SNAPSHOT, CACHE_OPEN, CACHE_CLOSE, INSERT, REJECT, SKIP, HIT, MISS, READ_DONE, EXPECT, PASS_BEGIN, PASS_END,
    REQUEUE, EVICT, TOMBSTONE, REMOVE, CURSOR_ADD, CURSOR_MOVE, CURSOR_REMOVE, PUT, FLUSH, DELETE, ASK, ANSWER, PERMIT,
    READ_BEGIN, READ_END, LEDGER_DELETE, STORE_OPEN, STORE_CLOSE, BELOW, FORWARD, VIEW, VIEW_ENTRY, METRICS, END;

    static final Op[] ALL = values();
}

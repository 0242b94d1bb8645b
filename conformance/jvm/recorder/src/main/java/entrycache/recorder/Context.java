package entrycache.recorder;

/** The state of the current thread that the rows of nested calls need. */
public final class Context {
    private static final ThreadLocal<Context> HERE = ThreadLocal.withInitial(Context::new);

    /** True if an insert comes from storage. */
    public boolean fills;
    /** True if a cursor replays the position that is looked up. */
    public boolean replays;
    /** The cursor that reads, or null if it is unknown. */
    public String cursor;
    /** The seq of the beginning of the read that looks up. */
    public long read = Column.NULL;
    /** True if a lookup of one position is in progress. */
    public boolean looksUpOne;
    /** The slot whose entry a lookup found, and the entry's life at that time. */
    public Object touched;
    public Stay touchedStay;
    /**
     * The cause of the current removal, the seq of its first row if there is one, and whether a whole cache is closed.
     */
    public Cause removal = Cause.RANGE;
    public long removalCall = Column.NULL;
    public boolean closes;
    /** The cursor for which storage is read, and the seq of the first fill of that read. */
    public String fillCursor;
    public long fillCall = Column.NULL;
    /** The ledger and the cursor of the range for which storage is read, and the ask that was made for it. */
    public long askedLedger;
    public String askedCursor;
    public Object newAsk;
    /** The seq of the ask whose answer fills. */
    public long fillAsk = Column.NULL;
    /** The entry that is being removed, and the count after its copy was released. */
    public Stay leaving;
    public long leftCount = Column.NULL;
    /** The copy of an entry that is being released, and the copy that was rejected because its position was cached. */
    public Object releases;
    public Object rejected;
    /**
     * The pass that runs on this thread, and whether a time pass came before it, so that a size pass belongs to the
     * same cycle.
     */
    public Object pass;
    public boolean cycle;

    /** Returns the context of this thread. */
    public static Context here() {
        return HERE.get();
    }

    /** Begins a call that removes entries. */
    public void removes(Cause cause) {
        removal = cause;
        removalCall = Column.NULL;
    }

    /** Returns the seq of the first row of the removing call, which is the given one if there was none. */
    public long removalCall(long seq) {
        removalCall = removalCall == Column.NULL ? seq : removalCall;
        return removalCall;
    }

    /** Returns the seq of the first row of the read that fills, which is the given one if there was none. */
    public long fillCall(long seq) {
        fillCall = fillCall == Column.NULL ? seq : fillCall;
        return fillCall;
    }
}

package entrycache.recorder;

/** What this thread is doing, as far as rows further in tell it. */
public final class Context {
    private static final ThreadLocal<Context> HERE = ThreadLocal.withInitial(Context::new);

    /** What is inserted came from storage. */
    public boolean fills;
    /** What is looked up was asked for again by a cursor. */
    public boolean replays;
    /** The cursor that reads; null: not told. */
    public String cursor;
    /** A lookup of one position is under way. */
    public boolean looksUpOne;
    /** The slot whose entry a lookup has found, and the life that was in it then. */
    public Object touched;
    public Stay touchedStay;
    /** What removes, the seq of its first row once there is one, and that a whole cache is closed. */
    public Cause removal = Cause.RANGE;
    public long removalCall = Column.NULL;
    public boolean closes;
    /** The cursor for which storage is read, and the seq of the first fill that came of it. */
    public String fillCursor;
    public long fillCall = Column.NULL;
    /** The entry that is being removed, and the count that its copy read on its way. */
    public Stay leaving;
    public long leftCount = Column.NULL;
    /** The copy of an entry that is let go of, and one that was not taken because its position was cached. */
    public Object releases;
    public Object rejected;
    /** The pass that runs on this thread; and that a time pass came before, so that a size pass is of the same cycle. */
    public Object pass;
    public boolean cycle;

    /** That of this thread. */
    public static Context here() {
        return HERE.get();
    }

    /** A call that removes begins. */
    public void removes(Cause cause) {
        removal = cause;
        removalCall = Column.NULL;
    }

    /** The call that removes, of which a row is the first one if there was none. */
    public long removalCall(long seq) {
        removalCall = removalCall == Column.NULL ? seq : removalCall;
        return removalCall;
    }

    /** The read from storage that fills, of which a row is the first one if there was none. */
    public long fillCall(long seq) {
        fillCall = fillCall == Column.NULL ? seq : fillCall;
        return fillCall;
    }
}

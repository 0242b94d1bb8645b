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
    /** What removes, and that a whole cache is closed. */
    public Cause removal = Cause.RANGE;
    public boolean closes;
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
}

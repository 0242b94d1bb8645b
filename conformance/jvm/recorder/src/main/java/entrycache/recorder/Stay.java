package entrycache.recorder;

/** One life of an entry in the cache. Guarded by the lock of the trace. */
public final class Stay {
    public final String cache;
    public final long ledger;
    public final long entry;
    public final long size;
    public final long life;
    /** The enqueue ordinal of the entry's slot. */
    public long ticket;
    /** The seq of the ask that brought the entry. */
    public long ask = Column.NULL;
    /** True if the entry has left the cache; its slot may still be in the queue. */
    public boolean removed;
    /** The cached copy, until it releases its count; that release is not a delivery. */
    public Object copy;

    /** Begins the life of an entry that has just been cached. */
    public Stay(String cache, long ledger, long entry, long size, long life, long ticket, Object copy) {
        this.cache = cache;
        this.ledger = ledger;
        this.entry = entry;
        this.size = size;
        this.life = life;
        this.ticket = ticket;
        this.copy = copy;
    }

    /** Returns whether the entry has this position. */
    public boolean isAt(long ledgerId, long entryId) {
        return ledger == ledgerId && entry == entryId;
    }
}

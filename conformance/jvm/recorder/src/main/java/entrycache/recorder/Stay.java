package entrycache.recorder;

/** One life of an entry in the cache. Guarded by the lock of the trace. */
public final class Stay {
    public final String cache;
    public final long ledger;
    public final long entry;
    public final long size;
    public final long life;
    /** Enqueue ordinal of the slot that the entry holds. */
    public long ticket;
    /** It has left the cache; its slot may still be there. */
    public boolean removed;
    /** The cached copy, until it lets go of its count: its own release is no delivery. */
    public Object copy;

    /** An entry that is cached from now on. */
    public Stay(String cache, long ledger, long entry, long size, long life, long ticket, Object copy) {
        this.cache = cache;
        this.ledger = ledger;
        this.entry = entry;
        this.size = size;
        this.life = life;
        this.ticket = ticket;
        this.copy = copy;
    }

    /** Whether it is the entry at a position. */
    public boolean isAt(long ledgerId, long entryId) {
        return ledger == ledgerId && entry == entryId;
    }
}

package entrycache.recorder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rows of one broker run, in the order of the events.
 *
 * <p>A thread takes the one lock, changes the recorded state, writes the row and releases the lock, so that {@code seq}
 * is the order of the changes. The lock is taken after a lock of the broker, never before one. The clock is read under
 * the lock, so it never goes back. Rows go to the writer's thread in bounded buffers. If no buffer is free, the thread
 * that writes a row waits. If the options allow drops, rows are dropped instead, and {@link #missing} lists them.
 */
public final class Trace {
    /**
     * The maximum number of ranges of dropped rows that are listed one by one; further ones are merged into the last.
     */
    private static final int STRETCHES_MOST = 10_000;

    private static final int SPINS = 200;

    /** The number of dropped rows after which the trace checks again for a free buffer. */
    private static final int CHECK_EVERY = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Buffers buffers;
    private final boolean drops;
    private final long rotateRows;
    private final long[] empty = new long[Chunk.WIDTH];

    /** The chunk that discards its rows. */
    private final Chunk sink = new Chunk();

    private final List<long[]> missing = new ArrayList<>();
    private Chunk chunk;
    private long seq;
    private long rowsOfPart;
    private long time = Long.MIN_VALUE;
    private volatile boolean on = true;
    private volatile String ended;

    /** The offsets of the current row's numbers and texts. */
    private int at;
    private int textAt;

    /** The recorder's running sum over all caches. */
    public long bytes;
    /** The manager's own counter after its last change; null before the first one. */
    public long managerBytes = Column.NULL;
    /** The numbers of cached entries, of numbered slots, and of slots taken from the queue. */
    public long entries;
    public long tailNo;
    public long headNo;

    Trace(int buffers, long rotateRows, boolean drops) {
        this.drops = drops;
        this.rotateRows = rotateRows;
        this.buffers = new Buffers(buffers);
        chunk = this.buffers.now();
        Arrays.fill(empty, Column.NULL);
    }

    /** Returns whether rows are still recorded. It may become false at any time, and never becomes true again. */
    public boolean on() {
        return on;
    }

    /** Takes the lock. Spins for a moment first, because the lock is held for less than a microsecond. */
    public void lock() {
        for (int i = 0; i < SPINS; i++) {
            if (lock.tryLock()) {
                return;
            }
            Thread.onSpinWait();
        }
        lock.lock();
    }

    /** Releases the lock. */
    public void unlock() {
        lock.unlock();
    }

    /** Begins a row; the calls that follow fill its columns. The caller holds the lock. */
    public Trace row(Op op) {
        if (chunk == sink) {
            if (sink.rows % CHECK_EVERY == 0 || sink.rows == Chunk.ROWS) {
                refill(buffers.now());
            }
        } else if (chunk.rows == Chunk.ROWS) {
            buffers.hand(chunk);
            refill(next());
        }
        long now = System.nanoTime();
        time = Math.max(now, time);
        at = chunk.rows * Chunk.WIDTH;
        textAt = chunk.rows * Chunk.TEXTS;
        chunk.rows++;
        rowsOfPart++;
        long[] numbers = chunk.numbers;
        System.arraycopy(empty, 0, numbers, at, Chunk.WIDTH);
        numbers[at + Chunk.SEQ] = seq++;
        numbers[at + Chunk.TIME] = time;
        numbers[at + Chunk.CODES] = op.ordinal();
        numbers[at + Chunk.FIRST + Column.BYTES_AFTER.ordinal()] = bytes;
        numbers[at + Chunk.FIRST + Column.MANAGER_BYTES.ordinal()] = managerBytes;
        chunk.texts[textAt + Chunk.CACHE] = null;
        chunk.texts[textAt + Chunk.CURSOR] = null;
        chunk.texts[textAt + Chunk.VALUE] = null;
        chunk.texts[textAt + Chunk.KIND] = null;
        return this;
    }

    /** Returns the number of the row that is being written. */
    public long seq() {
        return seq - 1;
    }

    /** Returns the number of the next row. */
    long nextSeq() {
        lock();
        try {
            return seq;
        } finally {
            unlock();
        }
    }

    /** Fills a number. */
    public Trace set(Column column, long value) {
        chunk.numbers[at + Chunk.FIRST + column.ordinal()] = value;
        return this;
    }

    /** Fills the cause. */
    public Trace cause(Cause cause) {
        chunk.numbers[at + Chunk.CODES] |= (long) cause.ordinal() << 8;
        return this;
    }

    /** Fills the origin of a pass. */
    public Trace origin(Cause origin) {
        chunk.numbers[at + Chunk.CODES] |= (long) origin.ordinal() << 16;
        return this;
    }

    /** Fills the flag as it was before the event. */
    public Trace accessed(boolean flag) {
        chunk.numbers[at + Chunk.CODES] |= flag ? 3L << 24 : 1L << 24;
        return this;
    }

    /** Fills the setting of a pass. */
    public Trace extendAccessed(boolean flag) {
        chunk.numbers[at + Chunk.CODES] |= flag ? 3L << 26 : 1L << 26;
        return this;
    }

    /** Fills whether the entry has not been handed over yet. */
    public Trace dirty(boolean flag) {
        chunk.numbers[at + Chunk.CODES] |= flag ? 3L << 28 : 1L << 28;
        return this;
    }

    /** Fills the name of the cache. */
    public Trace cache(String name) {
        chunk.texts[textAt + Chunk.CACHE] = name;
        return this;
    }

    /** Fills the name of a cursor. */
    public Trace cursor(String name) {
        chunk.texts[textAt + Chunk.CURSOR] = name;
        return this;
    }

    /** Fills the JSON object that audits read. */
    public Trace value(String json) {
        chunk.texts[textAt + Chunk.VALUE] = json;
        return this;
    }

    /** Fills the kind of a store. */
    public Trace kind(String kind) {
        chunk.texts[textAt + Chunk.KIND] = kind;
        return this;
    }

    /** Fills the position. */
    public Trace position(long ledger, long entry) {
        return set(Column.LEDGER_ID, ledger).set(Column.ENTRY_ID, entry);
    }

    /** Fills the columns that identify a cached entry: cache, position, life, size. */
    public Trace stay(Stay stay) {
        return cache(stay.cache).position(stay.ledger, stay.entry).set(Column.LIFE, stay.life).set(Column.SIZE_BYTES, stay.size);
    }

    /** Returns whether the part has reached its number of rows. The caller holds the lock. */
    public boolean partIsFull() {
        return rowsOfPart >= rotateRows;
    }

    /** Ends the part after the last row. The caller holds the lock. */
    public void endPart() {
        rowsOfPart = 0;
        if (chunk != sink) {
            chunk.endsPart = true;
            buffers.hand(chunk);
            refill(next());
        }
    }

    /** Ends the trace after the last row; the broker runs on unrecorded. The caller holds the lock. */
    public void end(String why) {
        if (on) {
            awaitBuffer();
            on = false;
            ended = why;
            chunk.last = true;
            buffers.hand(chunk);
            chunk = sink;
        }
    }

    /** Waits until a buffer is free, so that the last rows of a trace are not dropped. */
    public void awaitBuffer() {
        while (on && chunk == sink) {
            refill(buffers.now());
            Thread.onSpinWait();
        }
    }

    /** Returns the reason for which the trace ended, or null while it is recorded. */
    String ended() {
        return ended;
    }

    /** Returns the dropped rows as ranges of seq from first to last. */
    List<long[]> missing() {
        synchronized (missing) {
            return List.copyOf(missing);
        }
    }

    /** Returns the next rows to write, or null if none arrive within a second. */
    Chunk take() throws InterruptedException {
        Chunk next = buffers.take();
        if (next == null && lock.tryLock()) {
            try {
                if (on && chunk != sink && chunk.rows > 0) {
                    buffers.hand(chunk);
                    refill(next());
                }
            } finally {
                lock.unlock();
            }
        }
        return next;
    }

    /** Returns a written buffer to the pool. */
    void written(Chunk done) {
        buffers.giveBack(done);
    }

    /** Ends the trace because the writer cannot continue; the broker's threads must not wait for it. */
    void fail(String why) {
        ended = why;
        on = false;
        buffers.giveAllBack();
    }

    private Chunk next() {
        return drops ? buffers.now() : buffers.await(this::on);
    }

    /** Continues in another buffer. If it is null, rows are dropped from now on. */
    private void refill(Chunk next) {
        if (chunk == sink && sink.rows > 0) {
            dropped(seq - sink.rows, seq - 1);
            sink.rows = 0;
        }
        chunk = next == null ? sink : next;
    }

    private void dropped(long first, long last) {
        synchronized (missing) {
            long[] before = missing.isEmpty() ? null : missing.get(missing.size() - 1);
            if (before != null && (before[1] == first - 1 || missing.size() >= STRETCHES_MOST)) {
                before[1] = last;
            } else {
                missing.add(new long[] {first, last});
            }
        }
    }
}

package entrycache.recorder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rows of one broker run, in the order in which things happened.
 *
 * <p>One lock: whoever changes what rows tell of takes it, changes, writes the row and lets go, so that {@code seq} is
 * the order of the changes. It is taken after a lock of the broker, never before one. The clock is read inside, so it
 * never falls. Rows go in bounded buffers to the writer's thread. Where none is free, who writes a row waits; or, where
 * the options say so, rows are dropped, and {@link #missing} says which.
 */
public final class Trace {
    /** At most so many stretches of dropped rows are told one by one; more are joined to the last one. */
    private static final int STRETCHES_MOST = 10_000;

    private static final int SPINS = 200;

    /** A dropped row asks as seldom whether a buffer is free again. */
    private static final int ASKED_EVERY = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayBlockingQueue<Chunk> free;
    private final ArrayBlockingQueue<Chunk> full;
    private final boolean drops;
    private final long rotateRows;
    private final long[] empty = new long[Chunk.WIDTH];

    /** Drops what is written into it. */
    private final Chunk sink = new Chunk();

    private final List<long[]> missing = new ArrayList<>();
    private Chunk chunk;
    private long seq;
    private long rowsOfPart;
    private long time = Long.MIN_VALUE;
    private volatile boolean on = true;
    private volatile String ended;

    /** The row that is being written: where its numbers and its texts begin. */
    private int at;
    private int textAt;

    /** The recorder's running sum, over all caches. */
    public long bytes;
    /** The manager's own counter, as of its last change; null before. */
    public long managerBytes = Column.NULL;
    /** Entries cached, slots numbered, slots taken. */
    public long entries;
    public long tailNo;
    public long headNo;

    Trace(int buffers, long rotateRows, boolean drops) {
        this.drops = drops;
        this.rotateRows = rotateRows;
        free = new ArrayBlockingQueue<>(buffers);
        full = new ArrayBlockingQueue<>(buffers);
        for (int i = 1; i < buffers; i++) {
            free.add(new Chunk());
        }
        chunk = new Chunk();
        Arrays.fill(empty, Column.NULL);
    }

    /** Whether rows are still wanted; may turn false at any time, never true again. */
    public boolean on() {
        return on;
    }

    /** Takes the lock, by waiting actively for a moment first: it is held for less than a microsecond. */
    public void lock() {
        for (int i = 0; i < SPINS; i++) {
            if (lock.tryLock()) {
                return;
            }
            Thread.onSpinWait();
        }
        lock.lock();
    }

    /** Lets go of the lock. */
    public void unlock() {
        lock.unlock();
    }

    /** Begins a row; the calls that follow fill its columns. The lock is held. */
    public Trace row(Op op) {
        if (chunk == sink) {
            if (sink.rows % ASKED_EVERY == 0 || sink.rows == Chunk.ROWS) {
                refill(free.poll());
            }
        } else if (chunk.rows == Chunk.ROWS) {
            full.add(chunk);
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
        return this;
    }

    /** The number of the row that is being written. */
    public long seq() {
        return seq - 1;
    }

    /** The number of the next row. */
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

    /** Fills whether an entry was not handed over yet. */
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

    /** Fills the position. */
    public Trace position(long ledger, long entry) {
        return set(Column.LEDGER_ID, ledger).set(Column.ENTRY_ID, entry);
    }

    /** Fills what names a cached entry: cache, position, life, size. */
    public Trace stay(Stay stay) {
        return cache(stay.cache).position(stay.ledger, stay.entry).set(Column.LIFE, stay.life).set(Column.SIZE_BYTES, stay.size);
    }

    /** Whether the part has the rows that a part shall have. The lock is held. */
    public boolean partIsFull() {
        return rowsOfPart >= rotateRows;
    }

    /** Ends the part behind the last row. The lock is held. */
    public void endPart() {
        rowsOfPart = 0;
        if (chunk != sink) {
            chunk.endsPart = true;
            full.add(chunk);
            refill(next());
        }
    }

    /** Ends the trace behind the last row; the broker runs on unrecorded. The lock is held. */
    public void end(String why) {
        if (on) {
            awaitBuffer();
            on = false;
            ended = why;
            chunk.last = true;
            full.add(chunk);
            chunk = sink;
        }
    }

    /** From here on no row is dropped for want of a buffer: the last rows of a trace are worth waiting for. */
    public void awaitBuffer() {
        while (on && chunk == sink) {
            refill(free.poll());
            Thread.onSpinWait();
        }
    }

    /** Why the trace ended; null while it goes on. */
    String ended() {
        return ended;
    }

    /** The rows that were dropped, as stretches of seq from first to last. */
    List<long[]> missing() {
        synchronized (missing) {
            return List.copyOf(missing);
        }
    }

    /** The next rows to write; null where none came within a second. */
    Chunk take() throws InterruptedException {
        Chunk next = full.poll(1, TimeUnit.SECONDS);
        if (next == null && lock.tryLock()) {
            try {
                if (on && chunk != sink && chunk.rows > 0) {
                    full.add(chunk);
                    refill(next());
                }
            } finally {
                lock.unlock();
            }
        }
        return next;
    }

    /** Gives a buffer back. */
    void written(Chunk done) {
        done.rows = 0;
        done.endsPart = false;
        free.add(done);
    }

    /** The writer cannot go on: the broker's threads must not wait for it. */
    void fail(String why) {
        ended = why;
        on = false;
        Chunk waiting;
        while ((waiting = full.poll()) != null) {
            written(waiting);
        }
    }

    private Chunk next() {
        if (drops) {
            return free.poll();
        }
        try {
            Chunk got = null;
            while (got == null && on) {
                got = free.poll(100, TimeUnit.MILLISECONDS);
            }
            return got;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return waitedFor();
        }
    }

    /** An interrupted thread of the broker keeps its mark, and loses no row. */
    private Chunk waitedFor() {
        Chunk got = null;
        while (got == null && on) {
            got = free.poll();
            Thread.onSpinWait();
        }
        return got;
    }

    /** Goes on in another buffer; null: rows are dropped from now on. */
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

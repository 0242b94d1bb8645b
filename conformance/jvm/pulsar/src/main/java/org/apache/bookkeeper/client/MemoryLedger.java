package org.apache.bookkeeper.client;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;

/**
 * A ledger in memory: it remembers the sizes of its entries, and its storage says when a read is answered.
 *
 * <p>It is made without a constructor, because those of {@link LedgerHandle} need a client with threads. So
 * {@link #begin} sets what a constructor would.
 */
public final class MemoryLedger extends LedgerHandle {
    private long id;
    private List<Integer> sizes;
    private BiFunction<Integer, Long, ByteBuf> payload;
    private MemoryBookKeeper storage;

    /** Never called; the superclass has no constructor without arguments. */
    private MemoryLedger() throws Exception {
        super(null, 0, null, null, null, null);
    }

    void begin(long id, BiFunction<Integer, Long, ByteBuf> payload, MemoryBookKeeper storage) {
        this.id = id;
        this.sizes = new ArrayList<>();
        this.payload = payload;
        this.storage = storage;
    }

    /** Returns the sizes of the entries. */
    public List<Integer> sizes() {
        return sizes;
    }

    @Override
    public long getId() {
        return id;
    }

    @Override
    public synchronized long getLastAddConfirmed() {
        return sizes.size() - 1L;
    }

    @Override
    public synchronized long getLength() {
        return sizes.stream().mapToLong(Integer::longValue).sum();
    }

    @Override
    public synchronized boolean isClosed() {
        return false;
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void asyncClose(AsyncCallback.CloseCallback callback, Object context) {
        callback.closeComplete(BKException.Code.OK, this, context);
    }

    @Override
    public void asyncAddEntry(byte[] data, AsyncCallback.AddCallback callback, Object context) {
        add(data.length, callback, context);
    }

    @Override
    public void asyncAddEntry(ByteBuf data, AsyncCallback.AddCallback callback, Object context) {
        int size = data.readableBytes();
        data.release();
        add(size, callback, context);
    }

    private void add(int size, AsyncCallback.AddCallback callback, Object context) {
        sizes.add(size);
        callback.addComplete(BKException.Code.OK, this, getLastAddConfirmed(), context);
    }

    @Override
    public CompletableFuture<LedgerEntries> readAsync(long first, long last) {
        return storage.read(id, first, last, count -> entries(first, first + count - 1));
    }

    @Override
    public CompletableFuture<LedgerEntries> readUnconfirmedAsync(long first, long last) {
        return readAsync(first, last);
    }

    private LedgerEntries entries(long first, long last) {
        List<LedgerEntry> entries = new ArrayList<>();
        for (long entry = first; entry <= last; entry++) {
            int size = sizes.get(Math.toIntExact(entry));
            entries.add(LedgerEntryImpl.create(id, entry, size, payload.apply(size, entry)));
        }
        return LedgerEntriesImpl.create(entries);
    }
}

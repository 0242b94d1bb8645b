package org.apache.bookkeeper.mledger.impl.cache;

import java.util.List;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.Position;

/** A read through a released cache over storage that answers at once: what was delivered, or what went wrong. */
final class Reading implements ReadEntriesCallback, ReadEntryCallback {
    private List<Entry> delivered;
    private ManagedLedgerException failed;

    static List<Entry> range(EntryCache cache, ReadHandle handle, long first, long last, int expectedReads) {
        Reading reading = new Reading();
        Era.readRange(cache, handle, first, last, () -> expectedReads, reading);
        return reading.result();
    }

    static List<Entry> one(EntryCache cache, ReadHandle handle, Position position) {
        Reading reading = new Reading();
        cache.asyncReadEntry(handle, position, reading, null);
        return reading.result();
    }

    @Override
    public void readEntriesComplete(List<Entry> entries, Object context) {
        delivered = entries;
    }

    @Override
    public void readEntriesFailed(ManagedLedgerException exception, Object context) {
        failed = exception;
    }

    @Override
    public void readEntryComplete(Entry entry, Object context) {
        delivered = List.of(entry);
    }

    @Override
    public void readEntryFailed(ManagedLedgerException exception, Object context) {
        failed = exception;
    }

    private List<Entry> result() {
        if (delivered == null) {
            throw new IllegalStateException(failed == null ? "the read was not answered" : "the read failed", failed);
        }
        return delivered;
    }
}

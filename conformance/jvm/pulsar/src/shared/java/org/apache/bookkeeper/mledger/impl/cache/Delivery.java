package org.apache.bookkeeper.mledger.impl.cache;

import java.util.List;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntriesCallback;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerException;

/** The result of a read over storage that answers immediately: the delivered entries or the failure. */
final class Delivery implements ReadEntriesCallback, ReadEntryCallback {
    private List<Entry> delivered;
    private ManagedLedgerException failed;

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

    List<Entry> entries() {
        if (delivered == null) {
            throw new IllegalStateException(failed == null ? "the read was not answered" : "the read failed", failed);
        }
        return delivered;
    }
}

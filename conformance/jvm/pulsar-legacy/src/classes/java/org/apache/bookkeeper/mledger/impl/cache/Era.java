package org.apache.bookkeeper.mledger.impl.cache;

import java.util.Map;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.PositionImpl;
import org.apache.bookkeeper.mledger.Position;

/** The adapter's code for classes that differ between 3.3 and 4.0: in 3.3, positions are of one class. */
final class Era {
    /** The variants of the rules that differ from the default behaviour in this release. */
    static final Map<String, String> VARIANTS = Map.of();

    /** The findings that a variant stands for. */
    static final Map<String, String> FINDINGS = Map.of();

    private Era() {}

    static RangeEntryCacheManagerImpl manager(ManagedLedgerFactoryImpl factory) {
        return new RangeEntryCacheManagerImpl(factory, null);
    }

    static Position position(long ledger, long entry) {
        return PositionImpl.get(ledger, entry);
    }

    static void invalidateBefore(EntryCache cache, Position position) {
        cache.invalidateEntries((PositionImpl) position);
    }

    static void readOne(EntryCache cache, ReadHandle handle, Position position, ReadEntryCallback callback) {
        cache.asyncReadEntry(handle, (PositionImpl) position, callback, null);
    }
}

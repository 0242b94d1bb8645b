package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.util.Map;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;

/**
 * The adapter's code for the classes of 4.0.8: a read that waits for permits waits in a queue of its limiter, which has
 * a scheduler.
 */
final class Era {
    /** The variants of the rules that differ from the default behaviour in this release. */
    static final Map<String, String> VARIANTS = Map.of();

    /** The findings that a variant stands for. */
    static final Map<String, String> FINDINGS = Map.of();

    private Era() {}

    static RangeEntryCacheManagerImpl manager(ManagedLedgerFactoryImpl factory) {
        return new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
    }

    static Position position(long ledger, long entry) {
        return PositionFactory.create(ledger, entry);
    }

    static void invalidateBefore(EntryCache cache, Position position) {
        cache.invalidateEntries(position);
    }

    static void readOne(EntryCache cache, ReadHandle handle, Position position, ReadEntryCallback callback) {
        cache.asyncReadEntry(handle, position, callback, null);
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.util.Map;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.AsyncCallbacks.ReadEntryCallback;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;

/**
 * The adapter's code for the classes of 4.0.0: a read that waits for permits retries in a loop, so its limiter has no
 * scheduler.
 */
final class Era {
    /** The variants of the rules that differ from the default behaviour in this release. */
    static final Map<String, String> VARIANTS = Map.of("single_lookup", "object");

    /** The findings that a variant stands for. */
    static final Map<String, String> FINDINGS = Map.of("variants.single_lookup", "legacy-single-read-misses");

    private Era() {}

    static RangeEntryCacheManagerImpl manager(ManagedLedgerFactoryImpl factory) {
        return new RangeEntryCacheManagerImpl(factory, OpenTelemetry.noop());
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

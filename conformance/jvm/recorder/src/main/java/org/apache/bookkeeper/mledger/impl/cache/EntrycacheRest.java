package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Handles;
import entrycache.recorder.Op;
import entrycache.recorder.Recorder;
import entrycache.recorder.Stay;
import entrycache.recorder.Trace;
import java.lang.invoke.VarHandle;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.impl.EntrycacheCounts;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryMBeanImpl;

/** The rows about the whole cache: CONFIG, METRICS, SNAPSHOT, END. Guarded by the lock of the trace. */
final class EntrycacheRest {
    private static final Trace TRACE = Recorder.trace();
    private static final VarHandle FACTORY =
            Handles.field(RangeEntryCacheManagerImpl.class, "mlFactory", ManagedLedgerFactoryImpl.class);
    private static final VarHandle MAX_REQUEUES =
            Handles.field(RangeCacheRemovalQueue.class, "maxRequeueCountWhenHasExpectedReads", int.class);
    private static final VarHandle EXTEND =
            Handles.field(RangeCacheRemovalQueue.class, "extendTTLOfRecentlyAccessed", boolean.class);

    static RangeEntryCacheManagerImpl manager;

    /** The configuration of the first managed ledger, as JSON; a broker opens all of them with the same one. */
    private static String ofLedgers;
    private static String lastConfiguration;

    private EntrycacheRest() { }

    /** Writes the configuration if it differs from the last one written. */
    static void configured(ManagedLedgerConfig ledger) {
        if (ledger != null && ofLedgers == null) {
            ofLedgers = ",\"evict_by_expected_reads\":" + ledger.isCacheEvictionByExpectedReadCount()
                    + ",\"evict_by_mark_deleted\":" + ledger.isCacheEvictionByMarkDeletedPosition() + ",\"grace_millis\":"
                    + Math.max(0, ledger.getContinueCachingAddedEntriesAfterLastActiveCursorLeavesMillis());
        }
        if (ofLedgers == null) {
            return;
        }
        RangeCacheRemovalQueue queue = manager.getRangeCacheRemovalQueue();
        String now = "{\"max_size_bytes\":" + manager.getMaxSize()
                + ",\"watermark\":" + manager.getCacheEvictionWatermark()
                + ",\"ttl_nanos\":" + ((ManagedLedgerFactoryImpl) FACTORY.get(manager)).getCacheEvictionTimeThreshold()
                + ",\"max_requeues\":" + (int) MAX_REQUEUES.get(queue)
                + ",\"extend_recently_accessed\":" + (boolean) EXTEND.get(queue)
                + EntrycacheReads.configuration(manager.getInflightReadsLimiter())
                + ofLedgers + ",\"eviction\":null,\"storage_entry_size\":null}";
        if (!now.equals(lastConfiguration)) {
            lastConfiguration = now;
            TRACE.row(Op.CONFIG).value(now);
        }
    }

    private static void metrics() {
        ManagedLedgerFactoryMBeanImpl counters = manager.getMlFactoryMBean();
        TRACE.row(Op.METRICS).value("{\"inserted_entries\":" + counters.getCacheInsertedEntriesCount()
                + ",\"evicted_entries\":" + counters.getCacheEvictedEntriesCount()
                + ",\"eviction_cycles\":" + counters.getNumberOfCacheEvictionsTotal()
                + ",\"hit_entries\":" + counters.getCacheHitsTotal()
                + ",\"hit_bytes\":" + counters.getCacheHitsBytesTotal()
                + ",\"miss_entries\":" + counters.getCacheMissesTotal()
                + ",\"miss_bytes\":" + counters.getCacheMissesBytesTotal()
                + ",\"bytes\":" + manager.getSize() + "}");
    }

    /** Writes one row for each slot from head to tail and returns the number of slots. */
    private static long snapshot(Cause cause) {
        long slots = 0;
        if (EntrycacheQueue.queue == null) {
            return slots;
        }
        for (Object slot : EntrycacheQueue.queue) {
            slots++;
            RangeCacheEntryWrapper wrapper = (RangeCacheEntryWrapper) slot;
            Stay stay = (Stay) (Object) EntrycacheQueue.STAY.get(wrapper);
            Trace row = TRACE.row(Op.SNAPSHOT).cause(cause).set(Column.TAIL_NO, stay.ticket);
            if (!stay.removed) {
                row.stay(stay).accessed(wrapper.accessed).set(Column.STAMP_NS, wrapper.timestampNanos)
                        .set(Column.REQUEUES, wrapper.requeueCount)
                        .set(Column.EXPECTED_READS, EntrycacheCounts.of(wrapper.value));
            }
        }
        return slots;
    }

    /** Ends a full part with a snapshot of the cached entries. */
    static void rotate() {
        snapshot(Cause.ROTATE);
        TRACE.endPart();
    }

    /** Writes the last rows. */
    static void end() {
        metrics();
        long slots = snapshot(Cause.END);
        TRACE.row(Op.END).value("{\"entries\":" + TRACE.entries + ",\"bytes\":" + TRACE.bytes + ",\"slots\":" + slots + "}");
    }
}

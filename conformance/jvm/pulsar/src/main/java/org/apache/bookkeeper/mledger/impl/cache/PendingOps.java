package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.reversed;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.MissingPart;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;

/**
 * The operations of level {@code pending}: the released table of pending reads, over storage that answers when a step
 * says so.
 *
 * <p>The table belongs to a cache of its own, which stays empty because no read expects another one.
 */
final class PendingOps {
    private static final Field TABLE = Released.field(RangeEntryCacheImpl.class, "pendingReadsManager");
    private static final long ANY_TTL = 1_000_000_000;
    private static final int ENTRY_SIZE = 1;

    private final Asks asks;
    private final Payloads payloads;
    private final Set<String> reads = new HashSet<>();
    private final Map<Long, ReadHandle> handles = new TreeMap<>();
    private PendingReadsManager table;

    PendingOps(Asks asks, Payloads payloads) {
        this.asks = asks;
        this.payloads = payloads;
    }

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("fetch", "PendingReadsManager.readEntries", (run, step) -> {
                    Refused.unless(!run.managed.holdsReads, "storage is held back from cursors");
                    return run.pending.fetch(step);
                }));
    }

    private JsonObject fetch(Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        String name = step.text("read");
        Refused.unless(first.getLedgerId() == last.getLedgerId(), "a read over two ledgers");
        Refused.unless(!reversed(first, last), "the range is reversed");
        Refused.unless(reads.add(name), "the read has not ended");
        ReadHandle handle = handles.computeIfAbsent(first.getLedgerId(), this::handle);
        Era.readPending(
                table(), handle, first.getEntryId(), last.getEntryId(), () -> Era.NO_COUNT, new Fetched(name));
        return Answers.done();
    }

    /** Makes the table when it is first needed, because each manager of caches allocates a large queue. */
    private PendingReadsManager table() {
        if (table == null) {
            ManagedLedgerFactoryImpl factory = Neighbours.factory(new ManagedLedgerFactoryConfig(), ANY_TTL);
            RangeEntryCacheManagerImpl manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
            ManagedLedgerImpl ledger = Neighbours.ledger("pending", factory);
            Era.complete(ledger);
            EntryCache cache = manager.getEntryCache(ledger);
            table = (PendingReadsManager) Released.get(TABLE, cache);
        }
        return table;
    }

    private ReadHandle handle(long ledger) {
        return (ReadHandle) Proxy.newProxyInstance(
                PendingOps.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
                    switch (method.getName()) {
                        case "getId":
                            return ledger;
                        case "readAsync":
                            return ask(ledger, (Long) given[0], (Long) given[1]);
                        case "closeAsync":
                            return CompletableFuture.completedFuture(null);
                        case "toString":
                            return "ledger " + ledger;
                        default:
                            throw new MissingPart("the adapter has no " + method);
                    }
                });
    }

    private CompletableFuture<LedgerEntries> ask(long ledger, long first, long last) {
        return asks.send(null, ledger, first, last, count -> entries(ledger, first, count));
    }

    private LedgerEntries entries(long ledger, long first, long count) {
        List<LedgerEntry> entries = new ArrayList<>();
        for (long id = first; id < first + count; id++) {
            entries.add(LedgerEntryImpl.create(ledger, id, ENTRY_SIZE, payloads.message(ENTRY_SIZE, id)));
        }
        return LedgerEntriesImpl.create(entries);
    }

    /** The end of a read. */
    private final class Fetched implements AsyncCallbacks.ReadEntriesCallback {
        private final String name;

        Fetched(String name) {
            this.name = name;
        }

        @Override
        public void readEntriesComplete(List<Entry> entries, Object context) {
            reads.remove(name);
            asks.delivered(name, entries);
            entries.forEach(Entry::release);
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException failure, Object context) {
            reads.remove(name);
            asks.failed(name);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.protocol.MissingPart;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;

/**
 * One ledger in storage. It has every entry, all of the same size and with the id as token, and answers immediately.
 */
final class Storage {
    private final long ledger;
    private final int entrySize;
    private final Payloads payloads;

    /** The ids of the entries that were read. */
    final Set<Long> served = new HashSet<>();

    Storage(long ledger, int entrySize, Payloads payloads) {
        this.ledger = ledger;
        this.entrySize = entrySize;
        this.payloads = payloads;
    }

    /** Returns the handle through which a cache reads the ledger. */
    ReadHandle handle() {
        return (ReadHandle) Proxy.newProxyInstance(
                Storage.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
                    switch (method.getName()) {
                        case "getId":
                            return ledger;
                        case "readAsync", "readUnconfirmedAsync":
                            return CompletableFuture.completedFuture(entries((Long) given[0], (Long) given[1]));
                        case "toString":
                            return "ledger " + ledger;
                        default:
                            throw new MissingPart("the adapter has no " + method);
                    }
                });
    }

    private LedgerEntries entries(long first, long last) {
        List<LedgerEntry> entries = new ArrayList<>();
        for (long id = first; id <= last; id++) {
            served.add(id);
            entries.add(LedgerEntryImpl.create(ledger, id, entrySize, payloads.message(entrySize, id)));
        }
        return LedgerEntriesImpl.create(entries);
    }
}

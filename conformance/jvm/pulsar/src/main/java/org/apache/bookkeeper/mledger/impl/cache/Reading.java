package org.apache.bookkeeper.mledger.impl.cache;

import java.util.List;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.Position;

/** Reads through a released cache over storage that answers immediately. */
final class Reading {
    private Reading() {}

    static List<Entry> range(EntryCache cache, ReadHandle handle, long first, long last, int expectedReads) {
        Delivery delivery = new Delivery();
        Era.readRange(cache, handle, first, last, () -> expectedReads, delivery);
        return delivery.entries();
    }

    static List<Entry> one(EntryCache cache, ReadHandle handle, Position position) {
        Delivery delivery = new Delivery();
        cache.asyncReadEntry(handle, position, delivery, null);
        return delivery.entries();
    }
}

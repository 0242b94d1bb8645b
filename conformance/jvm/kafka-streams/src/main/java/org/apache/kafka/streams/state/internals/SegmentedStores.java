package org.apache.kafka.streams.state.internals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * Released in-memory stores that call themselves persistent and order as the segmented stores do, so that a caching
 * store treats them as such.
 *
 * <p>A segmented store orders by the segment of the time, and in a segment by the bytes of its keys, which are the
 * record's key with the times behind it.
 */
final class SegmentedStores {
    private SegmentedStores() {}

    /** Lets the watchdog count the ranges of segments that a released caching store looks up; returns the store. */
    static StateStore counted(StateStore caching, SegmentedBytesStore.KeySchema schema, long interval) {
        Reflection.set(
                Reflection.field(caching.getClass(), "cacheFunction"), caching, new CountedFunction(schema, interval));
        return caching;
    }

    /** The released form of cached keys, which also tells the watchdog of each bound of a range of one segment. */
    private static final class CountedFunction extends SegmentedCacheFunction {
        CountedFunction(SegmentedBytesStore.KeySchema schema, long interval) {
            super(schema, interval);
        }

        @Override
        Bytes cacheKey(Bytes key, long segmentId) {
            Watchdog.countBound();
            return super.cacheKey(key, segmentId);
        }
    }

    /** A store of windows. */
    static final class Windows extends InMemoryWindowStore {
        private final Comparator<Windowed<Bytes>> order;

        Windows(String name, long retention, long windowSize, long interval) {
            super(name, retention, windowSize, false, StoreKind.SCOPE);
            order = bySegment(interval, windowed -> windowed.window().start())
                    .thenComparing(windowed -> WindowKeySchema.toStoreKeyBinary(windowed, 0));
        }

        @Override
        public boolean persistent() {
            return true;
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> fetch(Bytes from, Bytes to, long timeFrom, long timeTo) {
            return sorted(super.fetch(from, to, timeFrom, timeTo), order);
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetch(
                Bytes from, Bytes to, long timeFrom, long timeTo) {
            return sorted(super.backwardFetch(from, to, timeFrom, timeTo), order.reversed());
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> fetchAll(long timeFrom, long timeTo) {
            return sorted(super.fetchAll(timeFrom, timeTo), order);
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFetchAll(long timeFrom, long timeTo) {
            return sorted(super.backwardFetchAll(timeFrom, timeTo), order.reversed());
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> all() {
            return sorted(super.all(), order);
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> backwardAll() {
            return sorted(super.backwardAll(), order.reversed());
        }
    }

    /** A store of sessions. */
    static final class Sessions extends InMemorySessionStore {
        private final Comparator<Windowed<Bytes>> order;

        Sessions(String name, long retention, long interval) {
            super(name, retention, StoreKind.SCOPE);
            order = bySegment(interval, windowed -> windowed.window().end()).thenComparing(SessionKeySchema::toBinary);
        }

        @Override
        public boolean persistent() {
            return true;
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(Bytes key, long earliestEnd, long latestStart) {
            return sorted(super.findSessions(key, earliestEnd, latestStart), order);
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
                Bytes key, long earliestEnd, long latestStart) {
            return sorted(super.backwardFindSessions(key, earliestEnd, latestStart), order.reversed());
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> findSessions(
                Bytes from, Bytes to, long earliestEnd, long latestStart) {
            return sorted(super.findSessions(from, to, earliestEnd, latestStart), order);
        }

        @Override
        public KeyValueIterator<Windowed<Bytes>, byte[]> backwardFindSessions(
                Bytes from, Bytes to, long earliestEnd, long latestStart) {
            return sorted(super.backwardFindSessions(from, to, earliestEnd, latestStart), order.reversed());
        }
    }

    private static Comparator<Windowed<Bytes>> bySegment(long interval, ToLongFunction<Windowed<Bytes>> time) {
        return Comparator.comparingLong(windowed -> time.applyAsLong(windowed) / interval);
    }

    private static KeyValueIterator<Windowed<Bytes>, byte[]> sorted(
            KeyValueIterator<Windowed<Bytes>, byte[]> found, Comparator<Windowed<Bytes>> order) {
        List<KeyValue<Windowed<Bytes>, byte[]>> entries = new ArrayList<>();
        try (found) {
            found.forEachRemaining(entries::add);
        }
        entries.sort((one, other) -> order.compare(one.key, other.key));
        return new Listed(entries);
    }

    /** An iterator over sorted entries. */
    private static final class Listed implements KeyValueIterator<Windowed<Bytes>, byte[]> {
        private final List<KeyValue<Windowed<Bytes>, byte[]>> entries;
        private int next;

        Listed(List<KeyValue<Windowed<Bytes>, byte[]>> entries) {
            this.entries = entries;
        }

        @Override
        public boolean hasNext() {
            return next < entries.size();
        }

        @Override
        public KeyValue<Windowed<Bytes>, byte[]> next() {
            return entries.get(next++);
        }

        @Override
        public Windowed<Bytes> peekNextKey() {
            return entries.get(next).key;
        }

        @Override
        public void close() {
            next = entries.size();
        }
    }
}

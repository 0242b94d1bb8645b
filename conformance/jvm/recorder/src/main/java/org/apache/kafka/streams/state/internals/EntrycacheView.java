package org.apache.kafka.streams.state.internals;

import entrycache.recorder.Cause;
import entrycache.recorder.Column;
import entrycache.recorder.Op;
import entrycache.recorder.Trace;
import entrycache.recorder.XxHash64;
import java.util.HexFormat;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** A view of a caching store that records its range, and each entry that it answers. */
class EntrycacheView<K> implements KeyValueIterator<K, byte[]> {
    private static final HexFormat HEX = HexFormat.of();

    /** The names of the arguments of a view, by the number of its arguments. */
    private static final String[][] OF_KEYS = {{}, {"key"}, {"from", "to"}};
    private static final String[][] OF_TIMES = {
        {}, {"key"}, {"time_from", "time_to"}, {"key", "time_from", "time_to"}, {"from", "to", "time_from", "time_to"},
    };

    private final KeyValueIterator<K, byte[]> view;
    private final EntrycacheStore store;
    private final Bytes only;
    private final Cause direction;
    private long id = Column.NULL;

    /** Wraps a view; `only` is its key if its entries do not name it. */
    EntrycacheView(KeyValueIterator<K, byte[]> view, EntrycacheStore store, Bytes only, Cause direction) {
        this.view = view;
        this.store = store;
        this.only = only;
        this.direction = direction;
    }

    /** Writes the row of the view. */
    EntrycacheView<K> begin(Object[] arguments) {
        record(() -> {
            Trace row = store.row(Op.VIEW).cause(direction).value(range(arguments));
            id = row.seq();
            row.set(Column.PASS_ID, id);
        });
        return this;
    }

    private String range(Object[] arguments) {
        StringBuilder text = new StringBuilder("{");
        boolean prefix = arguments.length == 2 && arguments[1] instanceof Serializer;
        String[] names = prefix ? new String[] {"prefix"} : (store.hasTimes() ? OF_TIMES : OF_KEYS)[arguments.length];
        if (prefix) {
            arguments = new Object[] {prefixBytes(arguments[0], (Serializer<?>) arguments[1])};
        }
        boolean bytes = arguments.length == 2 && !(arguments[1] instanceof Long);
        for (int i = 0; i < names.length; i++) {
            if (arguments[i] != null) {
                String name = bytes && !prefix ? OF_KEYS[2][i] : names[i];
                text.append(text.length() > 1 ? ",\"" : "\"").append(name).append("\":");
                text.append(arguments[i] instanceof Bytes key ? '"' + HEX.formatHex(key.get()) + '"'
                        : arguments[i] instanceof Long time ? time.toString() : "null");
            }
        }
        return text.append('}').toString();
    }

    @SuppressWarnings("unchecked")
    private static Bytes prefixBytes(Object prefix, Serializer<?> serializer) {
        return Bytes.wrap(((Serializer<Object>) serializer).serialize(null, prefix));
    }

    private void record(Runnable rows) {
        EntrycacheThread thread = store.thread();
        if (thread != null) {
            thread.enter(true);
            try {
                store.write(rows);
            } finally {
                thread.exit();
            }
        }
    }

    @Override
    public KeyValue<K, byte[]> next() {
        KeyValue<K, byte[]> entry = view.next();
        if (id != Column.NULL && entry != null) {
            record(() -> answered(entry.key));
        }
        return entry;
    }

    private void answered(Object key) {
        Bytes own = only;
        long start = 0;
        long end = 0;
        if (key instanceof Windowed<?> window) {
            own = (Bytes) window.key();
            start = window.window().start();
            end = window.window().end();
        } else if (key instanceof Long time) {
            start = time;
        } else {
            own = (Bytes) key;
        }
        Bytes cached = store.hasTimes() ? store.cacheKey(own, start, end) : own;
        Trace row = store.row(Op.VIEW_ENTRY).cause(direction).set(Column.PASS_ID, id);
        store.times(row.set(Column.KEY_HASH, XxHash64.of(cached.get())), cached);
        row.value('"' + HEX.formatHex(own.get()) + '"');
    }

    @Override
    public boolean hasNext() {
        return view.hasNext();
    }

    @Override
    public K peekNextKey() {
        return view.peekNextKey();
    }

    @Override
    public void close() {
        view.close();
    }

    /** A view of the windows of one key. */
    static final class OfOneKey extends EntrycacheView<Long> implements WindowStoreIterator<byte[]> {
        OfOneKey(WindowStoreIterator<byte[]> view, EntrycacheStore store, Bytes key, Cause direction) {
            super(view, store, key, direction);
        }
    }
}

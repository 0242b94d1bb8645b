package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.Values.json;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Window;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** The kinds of caching stores: which released stores one consists of, and what its binary keys hold. */
enum StoreKind {
    /** A store of keys. */
    KEY_VALUE {
        @Override
        StateStore inner(String name, Args opening) {
            return RocksStores.CHOSEN ? RocksStores.keyValues(name) : new InMemoryKeyValueStore(name);
        }

        @Override
        @SuppressWarnings("unchecked")
        StateStore caching(StateStore inner, Args opening) {
            return Era.caching((KeyValueStore<Bytes, byte[]>) inner);
        }

        @Override
        Place place(byte[] binary) {
            return new Place(Bytes.wrap(binary), -1, -1);
        }

        @Override
        String name(Bytes cached) {
            return text(cached);
        }
    },

    /** A store of windows. */
    WINDOW {
        @Override
        StateStore inner(String name, Args opening) {
            if (isSegmented(opening) && RocksStores.CHOSEN) {
                return RocksStores.windows(name, retention(opening), windowSize(opening), interval(opening));
            }
            return isSegmented(opening)
                    ? new SegmentedStores.Windows(name, retention(opening), windowSize(opening), interval(opening))
                    : new InMemoryWindowStore(name, retention(opening), windowSize(opening), false, SCOPE);
        }

        @Override
        @SuppressWarnings("unchecked")
        StateStore caching(StateStore inner, Args opening) {
            return SegmentedStores.counted(
                    new CachingWindowStore((WindowStore<Bytes, byte[]>) inner, windowSize(opening), interval(opening)),
                    new WindowKeySchema(),
                    interval(opening));
        }

        @Override
        Place place(byte[] binary) {
            byte[] key = WindowKeySchema.extractStoreKeyBytes(binary);
            return new Place(Bytes.wrap(key), WindowKeySchema.extractStoreTimestamp(binary), -1);
        }

        @Override
        String name(Bytes cached) {
            Place place = place(SegmentedCacheFunction.bytesFromCacheKey(cached));
            return text(place.key()) + "@" + place.start();
        }
    },

    /** A store of sessions. */
    SESSION {
        @Override
        StateStore inner(String name, Args opening) {
            if (isSegmented(opening) && RocksStores.CHOSEN) {
                return RocksStores.sessions(name, retention(opening), interval(opening));
            }
            return isSegmented(opening)
                    ? new SegmentedStores.Sessions(name, retention(opening), interval(opening))
                    : new InMemorySessionStore(name, retention(opening), SCOPE);
        }

        @Override
        @SuppressWarnings("unchecked")
        StateStore caching(StateStore inner, Args opening) {
            return SegmentedStores.counted(
                    new CachingSessionStore((SessionStore<Bytes, byte[]>) inner, interval(opening)),
                    new SessionKeySchema(),
                    interval(opening));
        }

        @Override
        Place place(byte[] binary) {
            Windowed<Bytes> session = SessionKeySchema.from(Bytes.wrap(binary));
            return new Place(session.key(), session.window().start(), session.window().end());
        }

        @Override
        String name(Bytes cached) {
            Place place = place(SegmentedCacheFunction.bytesFromCacheKey(cached));
            return text(place.key()) + "@" + place.start() + "-" + place.end();
        }
    };

    static final String SCOPE = "entrycache";

    private static final long RETENTION_MILLIS = 1_000_000;
    private static final long WINDOW_SIZE_MILLIS = 10;
    private static final long SEGMENT_INTERVAL_MILLIS = 60;

    /** The parts of a binary key; a time that the kind does not have is -1. */
    record Place(Bytes key, long start, long end) {}

    /** Returns the kind that a step opens. */
    static StoreKind of(Args opening) {
        String kind = opening.has("kind") ? opening.text("kind") : "kv";
        return switch (kind) {
            case "kv" -> KEY_VALUE;
            case "window" -> WINDOW;
            case "session" -> SESSION;
            default -> throw new UnsupportedOperationException("unknown kind of store '" + kind + "'");
        };
    }

    /** Returns a new underlying store. */
    abstract StateStore inner(String name, Args opening);

    /** Returns a new caching store over the underlying store. */
    abstract StateStore caching(StateStore inner, Args opening);

    /** Returns the parts of a key as the caching store hands it downstream. */
    abstract Place place(byte[] binary);

    /** Returns the name of a cached key: its text, {@code key@start} of a window, {@code key@start-end} of a session. */
    abstract String name(Bytes cached);

    /** Adds the key, and the times of the kind, to the record of a forward. */
    void describe(JsonObject call, byte[] binary) {
        Place place = place(binary);
        call.add("key", json(place.key()));
        if (this != KEY_VALUE) {
            call.addProperty("start", place.start());
        }
        if (this == SESSION) {
            call.addProperty("end", place.end());
        }
    }

    /** Returns an entry of an iterator: its key, or the key and the times of its window, and its value. */
    JsonArray entry(KeyValue<?, byte[]> next) {
        JsonArray entry = new JsonArray(4);
        if (next.key instanceof Bytes key) {
            entry.add(json(key));
        } else if (next.key instanceof Long start) {
            entry.add(start);
        } else {
            Windowed<?> windowed = (Windowed<?>) next.key;
            Window window = windowed.window();
            entry.add(json((Bytes) windowed.key()));
            entry.add(window.start());
            if (this == SESSION) {
                entry.add(window.end());
            }
        }
        entry.add(json(next.value));
        return entry;
    }

    /** Returns whether the underlying store calls itself persistent and orders as segmented stores do. */
    static boolean isSegmented(Args opening) {
        return opening.has("below") && opening.text("below").equals("segments");
    }

    private static long retention(Args opening) {
        return opening.number("retention", RETENTION_MILLIS);
    }

    private static long windowSize(Args opening) {
        return opening.number("window_size", WINDOW_SIZE_MILLIS);
    }

    /** Returns the segment interval; the suppliers of stores in memory say 1. */
    private static long interval(Args opening) {
        return isSegmented(opening) ? opening.number("segment_interval", SEGMENT_INTERVAL_MILLIS) : 1;
    }

    private static String text(Bytes key) {
        return new String(key.get(), StandardCharsets.UTF_8);
    }
}

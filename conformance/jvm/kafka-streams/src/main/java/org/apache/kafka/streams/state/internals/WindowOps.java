package org.apache.kafka.streams.state.internals;

import static org.apache.kafka.streams.state.internals.StoreOps.entries;
import static org.apache.kafka.streams.state.internals.StoreOps.with;
import static org.apache.kafka.streams.state.internals.Values.json;
import static org.apache.kafka.streams.state.internals.Values.key;
import static org.apache.kafka.streams.state.internals.Values.value;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;

/** The operations of level {@code windows}: writes, reads and views of windows and sessions. */
final class WindowOps {
    private WindowOps() {}

    static List<Operation<KafkaRun>> operations() {
        return List.of(
                new Operation<>("window_put", "CachingWindowStore.put", WindowOps::windowPut),
                new Operation<>("window_get", "CachingWindowStore.fetch", WindowOps::windowGet),
                new Operation<>("window_view", "CachingWindowStore.fetchAll", WindowOps::view),
                new Operation<>("session_put", "CachingSessionStore.put", WindowOps::sessionPut),
                new Operation<>("session_remove", "CachingSessionStore.remove", WindowOps::sessionRemove),
                new Operation<>("session_get", "CachingSessionStore.fetchSession", WindowOps::sessionGet),
                new Operation<>("session_view", "CachingSessionStore.findSessions", WindowOps::view));
    }

    /** Returns the store of the step if it is open; no step of this level opens one by itself. */
    private static CachedStore known(KafkaRun run, Args step) {
        if (!run.stores.containsKey(step.text("store"))) {
            throw new IllegalStateException("there is no store '" + step.text("store") + "'");
        }
        return StoreOps.opened(run, step);
    }

    private static JsonObject windowPut(KafkaRun run, Args step) {
        known(run, step).windows().put(key(step, "key"), value(step), step.number("start"));
        return new JsonObject();
    }

    private static JsonObject windowGet(KafkaRun run, Args step) {
        return with("value", json(known(run, step).windows().fetch(key(step, "key"), step.number("start"))));
    }

    private static JsonObject sessionPut(KafkaRun run, Args step) {
        known(run, step).sessions().put(session(step), value(step));
        return new JsonObject();
    }

    private static JsonObject sessionRemove(KafkaRun run, Args step) {
        known(run, step).sessions().remove(session(step));
        return new JsonObject();
    }

    private static JsonObject sessionGet(KafkaRun run, Args step) {
        CachingSessionStore sessions = known(run, step).sessions();
        Windowed<Bytes> session = session(step);
        return with("value", json(sessions.fetchSession(
                session.key(), session.window().start(), session.window().end())));
    }

    private static Windowed<Bytes> session(Args step) {
        if (step.number("start") > step.number("end")) {
            throw new IllegalStateException("a session ends before it starts");
        }
        return new Windowed<>(key(step, "key"), new SessionWindow(step.number("start"), step.number("end")));
    }

    private static JsonObject view(KafkaRun run, Args step) {
        CachedStore store = known(run, step);
        boolean ofWindows = step.text("op").equals("window_view");
        if (store.kind != (ofWindows ? StoreKind.WINDOW : StoreKind.SESSION)) {
            throw new IllegalStateException("the store is of another kind");
        }
        return entries(store.kind, iterator(store, step));
    }

    /** Returns the view of windows or sessions that the arguments of a step describe. */
    static KeyValueIterator<?, byte[]> iterator(CachedStore store, Args step) {
        boolean bounded = names(step, "from", "to");
        boolean ofKey = step.has("key");
        if (step.has("prefix") || (ofKey && bounded)) {
            throw new IllegalStateException("a view has a key or bounds of keys");
        }
        boolean backward = step.flag("backward", false);
        if (store.kind == StoreKind.WINDOW) {
            require(!names(step, "earliest_end", "latest_start"), "a view of windows has no ends");
            return windows(store.windows(), step, backward, bounded);
        }
        require(!names(step, "time_from", "time_to"), "a view of sessions has no times of windows");
        require(ofKey || bounded, "a view of sessions has a key or bounds of keys");
        return sessions(store.sessions(), step, backward);
    }

    private static KeyValueIterator<?, byte[]> windows(
            CachingWindowStore windows, Args step, boolean backward, boolean bounded) {
        long from = step.number("time_from", 0);
        long to = step.number("time_to", Long.MAX_VALUE);
        if (step.has("key")) {
            Bytes key = key(step, "key");
            return backward ? windows.backwardFetch(key, from, to) : windows.fetch(key, from, to);
        }
        if (bounded) {
            Bytes first = key(step, "from");
            Bytes last = key(step, "to");
            return backward ? windows.backwardFetch(first, last, from, to) : windows.fetch(first, last, from, to);
        }
        if (names(step, "time_from", "time_to")) {
            return backward ? windows.backwardFetchAll(from, to) : windows.fetchAll(from, to);
        }
        return backward ? windows.backwardAll() : windows.all();
    }

    private static KeyValueIterator<?, byte[]> sessions(CachingSessionStore sessions, Args step, boolean backward) {
        long end = step.number("earliest_end", 0);
        long start = step.number("latest_start", Long.MAX_VALUE);
        if (!step.has("key")) {
            Bytes from = key(step, "from");
            Bytes to = key(step, "to");
            return backward
                    ? sessions.backwardFindSessions(from, to, end, start)
                    : sessions.findSessions(from, to, end, start);
        }
        Bytes key = key(step, "key");
        if (!names(step, "earliest_end", "latest_start")) {
            return backward ? sessions.backwardFetch(key) : sessions.fetch(key);
        }
        return backward ? sessions.backwardFindSessions(key, end, start) : sessions.findSessions(key, end, start);
    }

    /** Returns the content of the underlying store of a store of windows or sessions, in its order. */
    @SuppressWarnings("unchecked")
    static KeyValueIterator<?, byte[]> inner(CachedStore store) {
        if (store.kind == StoreKind.WINDOW) {
            return ((WindowStore<Bytes, byte[]>) store.inner).all();
        }
        return ((SessionStore<Bytes, byte[]>) store.inner).findSessions(null, null, 0, Long.MAX_VALUE);
    }

    /** Returns whether the step names an argument, be it null. */
    static boolean names(Args step, String... arguments) {
        return Stream.of(arguments).anyMatch(step.json()::has);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalStateException(message);
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.InternalProcessorContext;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.Stores;

/**
 * What goes wrong when a processor behind a cached store does one kind of operation: seeded random worlds of released
 * caching stores beside plain maps. Prints a line for each cell: operation, place, moment, marks.
 *
 * <p>Store {@code s} is the one that forwards to the processor. The processor acts on a call that is not nested in
 * another. Arguments: worlds a cell, steps a world, seed.
 */
public final class ListenerTable {
    private static final List<String> OPS = List.of("none", "get", "all", "put", "put null", "delete");
    private static final List<String> PLACES =
            List.of("same key", "other key", "other store, flushed after", "other store, flushed before");
    private static final List<String> MOMENTS = List.of("commit, all fits", "commit", "eviction");
    private static final List<String> KEYS = List.of("a", "b", "c", "d", "e");
    private static final int ROOM = 3 * 47; // three entries with a key and a value of one byte each

    private final Random random;
    private final String op;
    private final String place;
    private final String moment;
    private final TreeSet<String> marks;
    private final ThreadCache cache;
    private final Kept store;
    private final Kept other;
    private final List<Kept> inOrder;
    private boolean acts;
    private boolean isWrong;
    private ProcessorRecordContext record = new ProcessorRecordContext(0, 0, 0, "", new RecordHeaders());

    /** A caching store beside a plain map, and what it forwarded last. */
    private final class Kept {
        final CachingKeyValueStore caching;
        final TreeMap<String, String> plain = new TreeMap<>();
        final Map<String, String> forwarded = new HashMap<>();

        Kept(String name) {
            caching = (CachingKeyValueStore) ((WrappedStateStore<?, ?, ?>) Stores.keyValueStoreBuilder(
                                    Stores.inMemoryKeyValueStore(name), Serdes.Bytes(), Serdes.ByteArray())
                            .withCachingEnabled()
                            .withLoggingDisabled()
                            .build())
                    .wrapped();
            caching.setFlushListener(
                    change -> {
                        String key = text(change.key());
                        forwarded.put(key, text(change.value().newValue));
                        if (this == store && acts) {
                            acts = false;
                            listens(key);
                            acts = true;
                        }
                    },
                    false);
            caching.init((StateStoreContext) context(), caching);
        }

        void get(String key) {
            check(Objects.equals(plain.get(key), text(caching.get(bytes(key)))), "S");
        }

        void put(String key, String value) {
            write(key, value);
            caching.put(bytes(key), value == null ? null : value.getBytes(StandardCharsets.UTF_8));
        }

        void delete(String key) {
            String expected = plain.get(key);
            write(key, null);
            check(Objects.equals(expected, text(caching.delete(bytes(key)))), "S");
        }

        void all() {
            check(plain.equals(entries(caching.all())), "S");
        }

        boolean isBelow() {
            return plain.equals(entries(caching.wrapped().all()));
        }

        private void write(String key, String value) {
            if (value == null) {
                plain.remove(key);
            } else {
                plain.put(key, value);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int worlds = Integer.parseInt(arguments[0]);
        int steps = Integer.parseInt(arguments[1]);
        long seed = Long.parseLong(arguments[2]);
        for (String op : OPS) {
            for (String place : PLACES) {
                for (String moment : MOMENTS) {
                    if (op.equals("all") && place.equals("other key")) {
                        continue;
                    }
                    TreeSet<String> marks = new TreeSet<>();
                    for (int world = 0; world < worlds; world++) {
                        new ListenerTable(op, place, moment, marks, new Random(seed + world)).run(steps);
                    }
                    String on = op.equals("all") && place.equals("same key") ? "same store" : place;
                    System.out.println(String.join("|", op, on, moment, String.join("", marks)));
                }
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private ListenerTable(String op, String place, String moment, TreeSet<String> marks, Random random)
            throws Exception {
        this.op = op;
        this.place = place;
        this.moment = moment;
        this.marks = marks;
        this.random = random;
        cache = cache(moment.equals("commit, all fits") ? 1_000_000 : ROOM);
        store = new Kept("s");
        other = new Kept("o");
        inOrder = place.endsWith("before") ? List.of(other, store) : List.of(store, other);
    }

    private void run(int steps) throws Exception {
        for (int step = 0; step < steps && !isWrong; step++) {
            int kind = random.nextInt(10);
            Kept one = random.nextInt(3) == 0 ? other : store;
            acts = moment.equals("eviction");
            if (kind < 5) {
                one.put(key(), value());
            } else if (kind < 6) {
                one.put(key(), null);
            } else if (kind < 8 || moment.equals("eviction")) {
                one.get(key());
            } else {
                acts = true;
                inOrder.forEach(each -> each.caching.flushCache());
                mark(store.isBelow() && other.isBelow(), "C");
            }
            mark(counted() == held(), "B");
        }
        if (isWrong) {
            return;
        }
        acts = false;
        inOrder.forEach(each -> each.caching.flushCache());
        for (Kept each : inOrder) {
            mark(each.isBelow(), "L");
            each.forwarded.forEach((key, value) -> mark(Objects.equals(each.plain.get(key), value), "F"));
            KEYS.forEach(each::get);
        }
    }

    /** One to three operations of the kind. */
    private void listens(String forwarded) {
        for (int count = 1 + random.nextInt(3); count > 0 && !isWrong; count--) {
            perform(forwarded);
        }
    }

    private void perform(String forwarded) {
        Kept one = place.startsWith("other store") ? other : store;
        String key = place.equals("same key") ? forwarded : key();
        if (place.equals("other key") && key.equals(forwarded)) {
            return;
        }
        switch (op) {
            case "none" -> {}
            case "get" -> one.get(key);
            case "all" -> one.all();
            case "put" -> one.put(key, value());
            case "put null" -> one.put(key, null);
            case "delete" -> one.delete(key);
            default -> throw new IllegalArgumentException(op);
        }
    }

    private String key() {
        return KEYS.get(random.nextInt(KEYS.size()));
    }

    private String value() {
        return String.valueOf((char) ('A' + random.nextInt(26)));
    }

    /** What makes all that follows in this world doubtful. */
    private void check(boolean holds, String mark) {
        mark(holds, mark);
        isWrong |= !holds;
    }

    private void mark(boolean holds, String mark) {
        if (!holds) {
            marks.add(mark);
        }
    }

    private long counted() {
        return cache.sizeBytes();
    }

    private long held() throws Exception {
        Field caches = ThreadCache.class.getDeclaredField("caches");
        caches.setAccessible(true);
        long bytes = 0;
        for (Object each : ((Map<?, ?>) caches.get(cache)).values()) {
            bytes += ((NamedCache) each).sizeInBytes();
        }
        return bytes;
    }

    private InternalProcessorContext<?, ?> context() {
        return (InternalProcessorContext<?, ?>) Proxy.newProxyInstance(
                ListenerTable.class.getClassLoader(),
                new Class<?>[] {InternalProcessorContext.class},
                (proxy, method, given) -> switch (method.getName()) {
                    case "taskId" -> new TaskId(0, 0);
                    case "cache" -> cache;
                    case "appConfigs" -> Map.of();
                    case "registerCacheFlushListener" -> {
                        cache.addDirtyEntryFlushListener(
                                (String) given[0], (ThreadCache.DirtyEntryFlushListener) given[1]);
                        yield null;
                    }
                    case "recordContext" -> record;
                    case "setRecordContext" -> {
                        record = (ProcessorRecordContext) given[0];
                        yield null;
                    }
                    case "recordMetadata" -> Optional.of(record);
                    case "headers" -> record.headers();
                    case "topic" -> record.topic();
                    case "offset" -> record.offset();
                    case "timestamp" -> record.timestamp();
                    case "partition" -> record.partition();
                    default -> null;
                });
    }

    private static ThreadCache cache(long bytes) throws Exception {
        Constructor<?> metrics = StreamsMetricsImpl.class.getConstructors()[0];
        return new ThreadCache(new LogContext(), bytes, (StreamsMetricsImpl) (metrics.getParameterCount() == 3
                ? metrics.newInstance(new Metrics(), "listeners", Time.SYSTEM)
                : metrics.newInstance(new Metrics(), "listeners", "listeners", Time.SYSTEM)));
    }

    private static TreeMap<String, String> entries(KeyValueIterator<Bytes, byte[]> iterator) {
        TreeMap<String, String> found = new TreeMap<>();
        try (iterator) {
            iterator.forEachRemaining(next -> found.put(next.key.toString(), text(next.value)));
        }
        return found;
    }

    private static Bytes bytes(String text) {
        return Bytes.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
import org.apache.kafka.streams.state.Stores;

/*
 * A deletion first caches the value that it answers, which can push another entry out; what is written to the key
 * while that entry is forwarded is deleted too, though the deletion answers the value from before that write.
 *
 * Class path CP: org.apache.kafka:kafka-streams and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out DeleteOverwritesNestedWriteTest.java
 *   java -cp "out:$CP" org.apache.kafka.streams.state.internals.DeleteOverwritesNestedWriteTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class DeleteOverwritesNestedWriteTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();
    private static ProcessorRecordContext record = new ProcessorRecordContext(0, 0, 0, "", new RecordHeaders());

    public static void main(String[] arguments) throws Exception {
        CachingKeyValueStore store = store(cache(47)); // room for one entry of one byte each
        store.setFlushListener(
                forwarded -> {
                    if (text(forwarded.key()).equals("x")) {
                        put(store, "k", "2");
                    }
                },
                false);
        put(store, "k", "1");
        store.flushCache();
        put(store, "x", "1");
        String deleted = text(store.delete(bytes("k")));
        expect("k after a deletion that answered " + deleted, deleted.equals("2") ? null : "2", get(store, "k"));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** A caching store over a store in memory, in a task of which only what they look at is there. */
    private static CachingKeyValueStore store(ThreadCache cache) {
        WrappedStateStore<?, ?, ?> built = (WrappedStateStore<?, ?, ?>) Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore("store"), Serdes.Bytes(), Serdes.ByteArray())
                .withCachingEnabled()
                .withLoggingDisabled()
                .build();
        CachingKeyValueStore store = (CachingKeyValueStore) built.wrapped();
        store.init((StateStoreContext) context(cache), store);
        return store;
    }

    private static InternalProcessorContext<?, ?> context(ThreadCache cache) {
        return (InternalProcessorContext<?, ?>) Proxy.newProxyInstance(
                DeleteOverwritesNestedWriteTest.class.getClassLoader(),
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
                ? metrics.newInstance(new Metrics(), "finding", Time.SYSTEM)
                : metrics.newInstance(new Metrics(), "finding", "finding", Time.SYSTEM)));
    }

    private static Bytes bytes(String text) {
        return Bytes.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    private static void put(CachingKeyValueStore store, String key, String value) {
        store.put(bytes(key), value == null ? null : value.getBytes(StandardCharsets.UTF_8));
    }

    private static String get(CachingKeyValueStore store, String key) {
        return text(store.get(bytes(key)));
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

package org.apache.kafka.streams.state.internals;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
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

/**
 * Bytes that a released caching store counts for its entries beside the heap that they hold after a collection.
 *
 * <p>Arguments: how many entries, and bytes of a key, of a value, of the raw key and the raw value of the record that an
 * entry came from; each entry has a record of its own, and has not been flushed. Prints both numbers.
 */
public final class HeapHeld {
    private static ProcessorRecordContext record;

    public static void main(String[] arguments) throws Exception {
        int[] sizes = Arrays.stream(arguments).mapToInt(Integer::parseInt).toArray();
        put(store(cache()), 1_000, sizes); // loads the classes
        ThreadCache cache = cache();
        CachingKeyValueStore store = store(cache);
        long before = used();
        put(store, sizes[0], sizes);
        long counted = cache.sizeBytes();
        long held = used() - before;
        System.out.println(counted + " " + held);
        System.out.flush();
        Runtime.getRuntime().halt(store.get(key(0, sizes[1])) == null ? 1 : 0);
    }

    private static CachingKeyValueStore store(ThreadCache cache) {
        CachingKeyValueStore store = (CachingKeyValueStore) ((WrappedStateStore<?, ?, ?>) Stores.keyValueStoreBuilder(
                                Stores.inMemoryKeyValueStore("store"), Serdes.Bytes(), Serdes.ByteArray())
                        .withCachingEnabled()
                        .withLoggingDisabled()
                        .build())
                .wrapped();
        store.init((StateStoreContext) context(cache), store);
        return store;
    }

    private static void put(CachingKeyValueStore store, int entries, int[] sizes) throws Exception {
        for (int number = 0; number < entries; number++) {
            record = record(new byte[sizes[3]], new byte[sizes[4]]);
            store.put(key(number, sizes[1]), new byte[sizes[2]]);
        }
        record = record(null, null);
    }

    /** The records of 3.9 and 4.0 do not keep the raw key and value. */
    private static ProcessorRecordContext record(byte[] rawKey, byte[] rawValue) throws Exception {
        for (Constructor<?> each : ProcessorRecordContext.class.getConstructors()) {
            if (each.getParameterCount() == 7) {
                return (ProcessorRecordContext)
                        each.newInstance(1L, 1L, 0, "topic", new RecordHeaders(), rawKey, rawValue);
            }
        }
        return new ProcessorRecordContext(1, 1, 0, "topic", new RecordHeaders());
    }

    private static Bytes key(int number, int bytes) {
        byte[] key = new byte[bytes];
        byte[] digits = String.valueOf(number).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(digits, 0, key, 0, digits.length);
        return Bytes.wrap(key);
    }

    /** The least of several collections: references that are cleared late make one collection too few. */
    private static long used() throws Exception {
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 6; round++) {
            System.gc();
            Thread.sleep(20);
            least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private static ThreadCache cache() throws Exception {
        Constructor<?> metrics = StreamsMetricsImpl.class.getConstructors()[0];
        return new ThreadCache(new LogContext(), Long.MAX_VALUE, (StreamsMetricsImpl) (metrics.getParameterCount() == 3
                ? metrics.newInstance(new Metrics(), "heap", Time.SYSTEM)
                : metrics.newInstance(new Metrics(), "heap", "heap", Time.SYSTEM)));
    }

    private static InternalProcessorContext<?, ?> context(ThreadCache cache) {
        return (InternalProcessorContext<?, ?>) Proxy.newProxyInstance(
                HeapHeld.class.getClassLoader(),
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
                    case "recordMetadata" -> Optional.ofNullable(record);
                    case "headers" -> record.headers();
                    case "topic" -> record.topic();
                    case "offset" -> record.offset();
                    case "timestamp" -> record.timestamp();
                    case "partition" -> record.partition();
                    default -> null;
                });
    }
}

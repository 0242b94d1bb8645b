package org.apache.kafka.streams.state.internals;

import entrycache.protocol.MissingPart;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * The constructors and methods that differ between the releases 3.5 and 4.4, chosen at run time by their parameters.
 *
 * <p>So one driver runs all of them. A class of a shape that none of these releases has is a missing part.
 */
final class Era {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final String CLIENT = "entrycache";

    /** Of 3.9 and before also with the id of the process. */
    private static final MethodHandle METRICS = metrics();

    /** Of 4.4 with a log context in another package. */
    private static final MethodHandle CACHE = cache();

    /** From 4.1 on also with further values, which only windows have. */
    private static final MethodHandle ENTRY = entry();

    /** From 4.3 on with a type instead of a flag. */
    private static final MethodHandle CACHING = caching();

    /** From 4.4 on: the read-only store of a level of isolation (KIP-892); else null. */
    private static final MethodHandle READ_ONLY = readOnly();

    private static final Method FLUSH_METHOD = flushMethod();
    private static final MethodHandle FLUSHES = flushes();

    /** The released method that flushes the cache of a store: flush, from 4.3 on commit. */
    static final String FLUSH = "CachingKeyValueStore." + FLUSH_METHOD.getName();

    private Era() {}

    static StreamsMetricsImpl metrics(Metrics registry, Time time) {
        try {
            return (StreamsMetricsImpl) METRICS.invokeExact(registry, time);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    static ThreadCache cache(long maxSizeBytes, StreamsMetricsImpl metrics) {
        try {
            return (ThreadCache) CACHE.invokeExact(maxSizeBytes, metrics);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    static LRUCacheEntry entry(
            byte[] value, Headers headers, boolean dirty, long offset, long timestamp, int partition, String topic) {
        try {
            return (LRUCacheEntry) ENTRY.invokeExact(value, headers, dirty, offset, timestamp, partition, topic);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    static CachingKeyValueStore caching(KeyValueStore<Bytes, byte[]> inner) {
        try {
            return (CachingKeyValueStore) CACHING.invokeExact(inner);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Returns whether stores have a read-only store for each level of isolation. */
    static boolean readsIsolated() {
        return READ_ONLY != null;
    }

    /** Returns the read-only store of the level of isolation "committed" or "uncommitted". */
    @SuppressWarnings("unchecked")
    static ReadOnlyKeyValueStore<Bytes, byte[]> readOnly(CachingKeyValueStore caching, String isolation) {
        if (!readsIsolated()) {
            throw new UnsupportedOperationException("CachingKeyValueStore has no readOnly(IsolationLevel)");
        }
        try {
            IsolationLevel level = IsolationLevel.valueOf("READ_" + isolation.toUpperCase(Locale.ROOT));
            return (ReadOnlyKeyValueStore<Bytes, byte[]>) READ_ONLY.invoke(caching, level);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    static void flush(StateStore store) {
        try {
            FLUSHES.invokeExact(store);
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    private static MethodHandle metrics() {
        Constructor<?> chosen = constructor(
                StreamsMetricsImpl.class,
                "(Metrics, String.., Time)",
                types -> types.size() > 2
                        && types.get(0) == Metrics.class
                        && types.get(types.size() - 1) == Time.class
                        && types.subList(1, types.size() - 1).stream().allMatch(type -> type == String.class));
        Object[] names = new Object[chosen.getParameterCount() - 2];
        Arrays.fill(names, CLIENT);
        return MethodHandles.insertArguments(handle(chosen), 1, names);
    }

    private static MethodHandle cache() {
        Constructor<?> chosen = constructor(
                ThreadCache.class,
                "(LogContext, long, StreamsMetricsImpl)",
                types -> types.size() == 3
                        && types.get(0).getSimpleName().equals("LogContext")
                        && types.subList(1, 3).equals(List.of(long.class, StreamsMetricsImpl.class)));
        try {
            Object context = chosen.getParameterTypes()[0].getConstructor().newInstance();
            return MethodHandles.insertArguments(handle(chosen), 0, context);
        } catch (ReflectiveOperationException e) {
            throw new MissingPart(chosen.getParameterTypes()[0].getName() + " has no constructor without parameters");
        }
    }

    private static MethodHandle entry() {
        List<Class<?>> known = List.of(
                byte[].class, Headers.class, boolean.class, long.class, long.class, int.class, String.class);
        Constructor<?> chosen = constructor(
                LRUCacheEntry.class,
                "(byte[], Headers, boolean, long, long, int, String) with or without further values",
                types -> types.size() >= known.size()
                        && types.subList(0, known.size()).equals(known)
                        && types.stream().skip(known.size()).noneMatch(Class::isPrimitive));
        return MethodHandles.insertArguments(
                handle(chosen), known.size(), new Object[chosen.getParameterCount() - known.size()]);
    }

    private static MethodHandle caching() {
        Constructor<?> chosen = constructor(
                CachingKeyValueStore.class,
                "(KeyValueStore, boolean or an enum)",
                types -> types.size() == 2
                        && types.get(0) == KeyValueStore.class
                        && (types.get(1) == boolean.class || types.get(1).isEnum()));
        Class<?> kind = chosen.getParameterTypes()[1];
        Object plain = kind == boolean.class
                ? false
                : Stream.of(kind.getEnumConstants())
                        .filter(each -> each.toString().equals("KEY_VALUE_STORE"))
                        .findFirst()
                        .orElseThrow(() -> new MissingPart(kind.getName() + " has no KEY_VALUE_STORE"));
        return MethodHandles.insertArguments(handle(chosen), 1, plain);
    }

    private static MethodHandle readOnly() {
        try {
            return LOOKUP.unreflect(CachingKeyValueStore.class.getMethod("readOnly", IsolationLevel.class));
        } catch (NoSuchMethodException e) {
            return null;
        } catch (IllegalAccessException e) {
            throw new MissingPart("CachingKeyValueStore.readOnly is not accessible");
        }
    }

    private static Method flushMethod() {
        List<Method> methods = List.of(CachingKeyValueStore.class.getDeclaredMethods());
        return Stream.concat(
                        methods.stream().filter(each -> isCalled(each, "commit", Map.class)),
                        methods.stream().filter(each -> isCalled(each, "flush")))
                .findFirst()
                .orElseThrow(() -> new MissingPart("CachingKeyValueStore has neither commit(Map) nor flush()"));
    }

    private static boolean isCalled(Method method, String name, Class<?>... types) {
        return method.getName().equals(name) && Arrays.equals(method.getParameterTypes(), types);
    }

    private static MethodHandle flushes() {
        try {
            Method ofAll = StateStore.class.getMethod(FLUSH_METHOD.getName(), FLUSH_METHOD.getParameterTypes());
            MethodHandle flushes = LOOKUP.unreflect(ofAll);
            return ofAll.getParameterCount() == 0 ? flushes : MethodHandles.insertArguments(flushes, 1, Map.of());
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new MissingPart("StateStore has no accessible " + FLUSH_METHOD.getName());
        }
    }

    private static Constructor<?> constructor(Class<?> owner, String shape, Predicate<List<Class<?>>> fits) {
        return Stream.of(owner.getDeclaredConstructors())
                .filter(each -> fits.test(List.of(each.getParameterTypes())))
                .findFirst()
                .orElseThrow(() -> new MissingPart(owner.getName() + " has no constructor " + shape));
    }

    private static MethodHandle handle(Constructor<?> constructor) {
        try {
            return LOOKUP.unreflectConstructor(constructor);
        } catch (IllegalAccessException e) {
            throw new MissingPart(constructor + " is not accessible");
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
    }
}

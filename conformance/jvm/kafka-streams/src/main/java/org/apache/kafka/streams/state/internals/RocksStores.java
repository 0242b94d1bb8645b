package org.apache.kafka.streams.state.internals;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The released stores on RocksDB, in place of those in memory, for a driver that is started with {@code
 * -Dentrycache.below=rocksdb} and with {@code rocksdbjni} on its class path.
 *
 * <p>A store of windows or sessions over "memory" stays in memory. The number of entries that RocksDB answers is an
 * estimate, so such a driver offers no {@code store_count}.
 */
final class RocksStores {
    /** Whether the driver is started with them. */
    static final boolean CHOSEN = "rocksdb".equals(System.getProperty("entrycache.below"));

    private static final String SCOPE = "rocksdb";

    private static final AtomicLong OPENED = new AtomicLong();

    private RocksStores() {}

    /** Returns a store that passes everything on but its name: a subclass would need RocksDB to be compiled. */
    static StateStore keyValues(String name) {
        RocksDBStore store = new RocksDBStore(fileName(), SCOPE);
        InvocationHandler named = (proxy, method, given) -> {
            if (method.getName().equals("name")) {
                return name;
            }
            try {
                return method.invoke(store, given);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        };
        return (StateStore) Proxy.newProxyInstance(
                RocksStores.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, named);
    }

    static StateStore windows(String name, long retention, long windowSize, long interval) {
        return new RocksDBWindowStore(
                new RocksDBSegmentedBytesStore(fileName(), SCOPE, retention, interval, new WindowKeySchema()),
                false,
                windowSize) {
            @Override
            public String name() {
                return name;
            }
        };
    }

    static StateStore sessions(String name, long retention, long interval) {
        return new RocksDBSessionStore(
                new RocksDBSegmentedBytesStore(fileName(), SCOPE, retention, interval, new SessionKeySchema())) {
            @Override
            public String name() {
                return name;
            }
        };
    }

    /** Returns a name for the files and metrics of a store; that of a case may hold what no file name can. */
    private static String fileName() {
        return "store-" + OPENED.incrementAndGet();
    }

    /** Returns a new folder for the stores of a run. */
    static File folder() {
        try {
            return Files.createTempDirectory("entrycache-rocksdb-").toFile();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the stores of a run, which are open or not, and removes their folder. */
    static void close(Iterable<CachedStore> stores, File folder) {
        stores.forEach(store -> store.inner.close());
        try (Stream<Path> paths = Files.walk(folder.toPath())) {
            for (Path path : (List<Path>) paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

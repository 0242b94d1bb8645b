package org.apache.kafka.streams.state.internals;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.streams.processor.StateStore;

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

    private RocksStores() {}

    static StateStore keyValues(String name) {
        return new RocksDBStore(name, SCOPE);
    }

    static StateStore windows(String name, long retention, long windowSize, long interval) {
        return new RocksDBWindowStore(
                new RocksDBSegmentedBytesStore(name, SCOPE, retention, interval, new WindowKeySchema()),
                false,
                windowSize);
    }

    static StateStore sessions(String name, long retention, long interval) {
        return new RocksDBSessionStore(
                new RocksDBSegmentedBytesStore(name, SCOPE, retention, interval, new SessionKeySchema()));
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

import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl.BookkeeperFactoryForCustomEnsemblePlacementPolicy;
import org.apache.bookkeeper.stats.StatsLogger;
import org.apache.pulsar.broker.BookKeeperClientFactory;
import org.apache.pulsar.broker.ManagedLedgerClientFactory;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/*
 * A broker that starts with other values of the two settings that extend the time of entries in the cache goes on with
 * their defaults.
 *
 * Class path CP: org.apache.pulsar:pulsar-broker and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ExtendTtlIgnoredTest.java
 *   java -cp "out:$CP" ExtendTtlIgnoredTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ExtendTtlIgnoredTest {
    public static void main(String[] arguments) throws Exception {
        ServiceConfiguration given = new ServiceConfiguration();
        given.setManagedLedgerCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes(9);
        given.setManagedLedgerCacheEvictionExtendTTLOfRecentlyAccessed(false);
        given.setManagedLedgerCacheSizeMB(64);
        ManagedLedgerFactoryConfig got = configOf(given);
        expect("managedLedgerCacheSizeMB", 64L << 20, got.getMaxCacheSize());
        expect("managedLedgerCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes", 9,
                got.getCacheEvictionExtendTTLOfEntriesWithRemainingExpectedReadsMaxTimes());
        expect("managedLedgerCacheEvictionExtendTTLOfRecentlyAccessed", false,
                got.isCacheEvictionExtendTTLOfRecentlyAccessed());
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** What the broker's factory hands to the managed ledgers when it starts; no BookKeeper is asked for. */
    private static ManagedLedgerFactoryConfig configOf(ServiceConfiguration given) throws Exception {
        AtomicReference<ManagedLedgerFactoryConfig> handed = new AtomicReference<>();
        ManagedLedgerClientFactory broker = new ManagedLedgerClientFactory() {
            @Override
            protected ManagedLedgerFactoryImpl createManagedLedgerFactory(
                    MetadataStoreExtended store,
                    OpenTelemetry telemetry,
                    BookkeeperFactoryForCustomEnsemblePlacementPolicy bookKeepers,
                    ManagedLedgerFactoryConfig config,
                    StatsLogger stats) {
                handed.set(config);
                return null;
            }
        };
        Object bookKeepers = Proxy.newProxyInstance(
                BookKeeperClientFactory.class.getClassLoader(),
                new Class<?>[] {BookKeeperClientFactory.class},
                (proxy, method, arguments) -> CompletableFuture.completedFuture(null));
        broker.initialize(given, null, (BookKeeperClientFactory) bookKeepers, null, OpenTelemetry.noop());
        return handed.get();
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

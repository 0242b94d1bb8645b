package findings;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/*
 * A prefix scan of a cached store throws where the prefix is bytes of 0xFF only, also over a store that can answer it.
 * Public API only; the store below is one in memory that scans such a prefix as a range without an end, as RocksDB's
 * does.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out PrefixScanTopologyTest.java
 *   java -cp "out:$CP" findings.PrefixScanTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class PrefixScanTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        expect("without caching", "[-1] [-1, 7]", found(Stores.keyValueStoreBuilder(
                        new Scans(), Serdes.ByteArray(), Serdes.String())
                .withCachingDisabled()));
        expect("with caching", "[-1] [-1, 7]", found(Stores.keyValueStoreBuilder(
                        new Scans(), Serdes.ByteArray(), Serdes.String())
                .withCachingEnabled()));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    private static String found(StoreBuilder<KeyValueStore<byte[], String>> store) {
        List<String> found = new ArrayList<>();
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(store);
        builder.stream("in", Consumed.with(Serdes.String(), Serdes.String()))
                .process(() -> new Asks(found), "store");
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("in", new StringSerializer(), new StringSerializer()).pipeInput("k", "v");
        }
        return String.join(" ", found);
    }

    private static final class Asks extends ContextualProcessor<String, String, Void, Void> {
        private final List<String> found;

        private Asks(List<String> found) {
            this.found = found;
        }

        @Override
        public void process(Record<String, String> record) {
            KeyValueStore<byte[], String> store = context().getStateStore("store");
            store.put(new byte[] {5}, "1");
            store.put(new byte[] {-1}, "1");
            store.put(new byte[] {-1, 7}, "1");
            try (KeyValueIterator<byte[], String> scan = store.prefixScan(new byte[] {-1}, new ByteArraySerializer())) {
                scan.forEachRemaining(next -> found.add(Arrays.toString(next.key)));
            } catch (IndexOutOfBoundsException e) {
                found.add(e.toString());
            }
        }
    }

    private static final class Scans implements KeyValueBytesStoreSupplier {
        @Override
        public String name() {
            return "store";
        }

        @Override
        public KeyValueStore<Bytes, byte[]> get() {
            KeyValueStore<Bytes, byte[]> inMemory = Stores.inMemoryKeyValueStore("store").get();
            @SuppressWarnings("unchecked")
            KeyValueStore<Bytes, byte[]> scans = (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    Scans.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, given) -> {
                        if (method.getName().equals("prefixScan")) {
                            return inMemory.range(Bytes.wrap((byte[]) given[0]), null);
                        }
                        try {
                            return method.invoke(inMemory, given);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            return scans;
        }

        @Override
        public String metricsScope() {
            return "in-memory";
        }
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

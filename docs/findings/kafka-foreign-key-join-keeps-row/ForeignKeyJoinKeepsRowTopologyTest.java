package findings;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;
import org.apache.kafka.streams.state.KeyValueStore;

/*
 * Orders are joined with customers by a foreign key. An order that was joined is deleted, comes again for a customer that is
 * not there, and does so before the join has answered the deletion: the joined row stays for good. Likewise where it changes
 * to such a customer, and then again. A record with several values stands for records that come faster than the answers,
 * which go through topics. Public API only.
 *
 * Class path CP: org.apache.kafka:kafka-streams, kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ForeignKeyJoinKeepsRowTopologyTest.java
 *   java -cp "out:$CP" findings.ForeignKeyJoinKeepsRowTopologyTest
 *
 * Prints "conforms" and ends with status 0, or prints the differences in one line and ends with status 1.
 */
public final class ForeignKeyJoinKeepsRowTopologyTest {
    private static final List<String> DIFFERENCES = new ArrayList<>();

    public static void main(String[] arguments) {
        expect("an order of ann", "written first ann Ann, stored first ann Ann", after("first ann"));
        expect("one that is deleted", "written null, stored null", after("first ann", "-"));
        expect("one that comes again for nobody, in time", "written null, stored null", after("first ann", "-", "second bob"));
        expect("one that comes again for nobody, at once", "written null, stored null", after("first ann", "-,second bob"));
        expect("one that changes to nobody", "written null, stored null", after("first ann", "second bob"));
        expect("one that changes to nobody and then again", "written null, stored null", after("first ann", "second bob,third bob"));
        System.out.println(DIFFERENCES.isEmpty() ? "conforms" : String.join("; ", DIFFERENCES));
        System.out.flush();
        Runtime.getRuntime().halt(DIFFERENCES.isEmpty() ? 0 : 1);
    }

    /** What a reader of the joined topic has of an order, and what the store of the join holds, when there is a customer ann. */
    private static String after(String... batches) {
        StreamsBuilder builder = new StreamsBuilder();
        KTable<String, String> orders = builder
                .stream("orders", Consumed.with(Serdes.String(), Serdes.String()))
                .flatMapValues(batch -> Stream.of(batch.split(",")).map(value -> value.equals("-") ? null : value).toList())
                .toTable(inMemory("orders-store"));
        KTable<String, String> customers = builder
                .stream("customers", Consumed.with(Serdes.String(), Serdes.String()))
                .toTable(inMemory("customers-store"));
        orders.join(customers, order -> order.split(" ")[1], (order, customer) -> order + " " + customer, inMemory("joined"))
                .toStream()
                .to("out", Produced.with(Serdes.String(), Serdes.String()));
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "finding");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
        config.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0L);
        config.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), config)) {
            driver.createInputTopic("customers", new StringSerializer(), new StringSerializer()).pipeInput("ann", "Ann");
            var input = driver.createInputTopic("orders", new StringSerializer(), new StringSerializer());
            for (String batch : batches) {
                input.pipeInput("1", batch);
            }
            String written = driver.createOutputTopic("out", new StringDeserializer(), new StringDeserializer())
                    .readKeyValuesToMap()
                    .get("1");
            return "written " + written + ", stored " + driver.<String, String>getKeyValueStore("joined").get("1");
        }
    }

    private static Materialized<String, String, KeyValueStore<Bytes, byte[]>> inMemory(String name) {
        return Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(name)
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.String())
                .withStoreType(Materialized.StoreType.IN_MEMORY);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            DIFFERENCES.add(what + ": expected " + expected + ", got " + got);
        }
    }
}

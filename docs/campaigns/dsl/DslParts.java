package campaigns;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.processor.api.InternalFixedKeyRecordFactory;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** What a random topology is put together of: its input, its stores, and what it has of which kind. */
final class DslParts {
    static final String[] KEYS = {"k0", "k1", "k2", "k3"};
    /** What passes every filter. */
    static final long BIG = 1_000_000;

    final Random random;
    final StreamsBuilder builder = new StreamsBuilder();
    final Map<String, Integer> kinds = new TreeMap<>();
    /** The names of its stores. */
    final List<String> stored = new ArrayList<>();
    private final KStream<String, String> rows;
    private int names;

    DslParts(Random random) {
        this.random = random;
        this.rows = builder.stream("in", Consumed.with(Serdes.String(), Serdes.String())).processValues(Explode::new);
    }

    KStream<String, Long> input(int number) {
        return rows.filter((key, row) -> row.startsWith(number + " ")).mapValues(row -> row.endsWith("-") ? null : Long.valueOf(row.substring(2)));
    }

    KGroupedStream<String, Long> grouped(int number) {
        return input(number).filter((key, value) -> value != null).groupByKey(Grouped.with(Serdes.String(), Serdes.Long()));
    }

    <T> T told(String kind, T what) {
        kinds.merge(kind, 1, Integer::sum);
        return what;
    }

    /** A store of its own, with or without a cache; what is below a join by key has none. */
    Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store(boolean mayCache) {
        String name = "s" + names++;
        stored.add(name);
        var supplier = random.nextInt(6) != 0 ? Stores.inMemoryKeyValueStore(name) : Stores.persistentTimestampedKeyValueStore(name);
        Materialized<String, Long, KeyValueStore<Bytes, byte[]>> store =
                Materialized.<String, Long>as(supplier).withKeySerde(Serdes.String()).withValueSerde(Serdes.Long());
        return mayCache && random.nextInt(5) != 0 ? store.withCachingEnabled() : store.withCachingDisabled();
    }

    static Long both(Long one, Long other) {
        return 3 * (one == null ? 0 : one) + 2 * (other == null ? 0 : other) + 1;
    }

    /** Forwards the rows of a batch, each with its own key and time. */
    private static final class Explode implements FixedKeyProcessor<String, String, String> {
        private FixedKeyProcessorContext<String, String> context;

        @Override
        public void init(FixedKeyProcessorContext<String, String> context) {
            this.context = context;
        }

        @Override
        public void process(FixedKeyRecord<String, String> batch) {
            for (String row : batch.value().split(";")) {
                String[] cells = row.split(" ");
                if (cells.length == 4) {
                    context.forward(InternalFixedKeyRecordFactory.create(
                            new Record<>(cells[1], cells[0] + " " + cells[2], Long.parseLong(cells[3]), batch.headers())));
                }
            }
        }
    }
}

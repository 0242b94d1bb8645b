package campaigns;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;

/** A random stream: windows of one, or one that is joined with a table. */
final class DslStreams {
    private final DslParts parts;
    private final DslTables tables;

    DslStreams(DslParts parts, DslTables tables) {
        this.parts = parts;
        this.tables = tables;
    }

    /** Build it; what it is in words. */
    String build() {
        Duration size = Duration.ofMillis(20 + parts.random.nextInt(40));
        Duration grace = Duration.ofMillis(parts.random.nextInt(50));
        switch (parts.random.nextInt(4)) {
            case 0 -> windows(size, grace);
            case 1 -> sliding(size, grace);
            case 2 -> sessions(size, grace);
            default -> joinedStream(grace);
        }
        return parts.kinds.keySet().toString();
    }

    private <W extends WindowStore<Bytes, byte[]>> void windows(Duration size, Duration grace) {
        var windows = parts.random.nextBoolean() ? TimeWindows.ofSizeAndGrace(size, grace)
                : TimeWindows.ofSizeAndGrace(size, grace).advanceBy(Duration.ofMillis(size.toMillis() / 2));
        boolean isFinal = parts.random.nextInt(3) == 0;
        if (isFinal) {
            parts.told("final windows", 0);
        }
        var windowed = parts.told("windows", parts.grouped(0).windowedBy(windows));
        var emitting = isFinal ? windowed.emitStrategy(EmitStrategy.onWindowClose()) : windowed;
        end(emitting.aggregate(() -> 0L, (key, value, sum) -> sum + value, windowStore()), isFinal);
    }

    private void sliding(Duration size, Duration grace) {
        var windowed = parts.told("sliding windows", parts.grouped(0).windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(size, grace)));
        end(windowed.aggregate(() -> 0L, (key, value, sum) -> sum + value, windowStore()), false);
    }

    private void sessions(Duration size, Duration grace) {
        var windowed = parts.told("sessions", parts.grouped(0).windowedBy(SessionWindows.ofInactivityGapAndGrace(size, grace)));
        Materialized<String, Long, SessionStore<Bytes, byte[]>> store = Materialized.<String, Long, SessionStore<Bytes, byte[]>>as("sessions")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()).withStoreType(type());
        end(windowed.aggregate(() -> 0L, (key, value, sum) -> sum + value, (key, one, other) -> one + other, store), false);
    }

    private Materialized<String, Long, WindowStore<Bytes, byte[]>> windowStore() {
        return Materialized.<String, Long, WindowStore<Bytes, byte[]>>as("windows")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()).withStoreType(type());
    }

    private Materialized.StoreType type() {
        return parts.random.nextInt(4) != 0 ? Materialized.StoreType.IN_MEMORY : Materialized.StoreType.ROCKS_DB;
    }

    /** The windows of a table, each with its last value, or the one that comes out when it closes. */
    private void end(KTable<Windowed<String>, Long> table, boolean isFinal) {
        boolean closes = !isFinal && parts.random.nextBoolean();
        KTable<Windowed<String>, Long> last = !closes ? table
                : parts.told("untilWindowCloses", table.suppress(Suppressed.untilWindowCloses(BufferConfig.unbounded())));
        KTable<Windowed<String>, Long> kept = parts.random.nextBoolean() ? last : last.filter((key, value) -> value % 2 == 0);
        kept.toStream((key, value) -> key.toString()).to("out", Produced.with(Serdes.String(), Serdes.Long()));
    }

    /** Rows of a stream joined with a table, versioned and with a grace period or neither. */
    private void joinedStream(Duration grace) {
        boolean isVersioned = parts.random.nextBoolean();
        KTable<String, Long> table = isVersioned
                ? parts.input(1).toTable(Materialized.<String, Long>as(Stores.persistentVersionedKeyValueStore("versions", Duration.ofMillis(100)))
                        .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
                : tables.source(true).table();
        Serde<String> keys = Serdes.String();
        Joined<String, Long, Long> how = isVersioned ? Joined.with(keys, Serdes.Long(), Serdes.Long(), "joined", grace)
                : Joined.with(keys, Serdes.Long(), Serdes.Long());
        parts.told("stream join", 0);
        parts.told(isVersioned ? "versioned table" : "table of a stream join", 0);
        KStream<String, Long> left = parts.input(0).filter((key, value) -> value != null);
        (parts.random.nextBoolean() ? left.join(table, DslParts::both, how) : left.leftJoin(table, DslParts::both, how))
                .to("out", Produced.with(Serdes.String(), Serdes.Long()));
    }
}

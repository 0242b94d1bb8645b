package campaigns;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.Suppressed.BufferConfig;

/** A random tree of tables. */
final class DslTables {
    /** A table of the topology, and what it is in words. */
    record Node(KTable<String, Long> table, String text) {}

    private final DslParts parts;
    /** Whether nothing is in it that a finding is about. */
    private final boolean isStrict;

    DslTables(DslParts parts, boolean isStrict) {
        this.parts = parts;
        this.isStrict = isStrict;
    }

    Node node(int depth, boolean mayCache) {
        if (depth == 0) {
            return source(mayCache);
        }
        int kind = parts.random.nextInt(12);
        if (kind >= 9) {
            Node one = node(depth - 1, false);
            Node other = node(depth - 1, false);
            return joined(kind, one, other, mayCache);
        }
        Node one = node(depth - 1, mayCache);
        return switch (kind) {
            case 0 -> parts.told("filter", new Node(
                    parts.random.nextBoolean() ? one.table.filter((key, value) -> value >= DslParts.BIG || value % 2 == 0)
                            : one.table.filter((key, value) -> value >= DslParts.BIG || value % 2 == 0, parts.store(mayCache)),
                    "filter(" + one.text + ")"));
            case 1 -> parts.told("filterNot", new Node(
                    one.table.filterNot((key, value) -> value < DslParts.BIG && value % 3 == 0, parts.store(mayCache)), "filterNot(" + one.text + ")"));
            case 2 -> parts.told("mapValues", new Node(
                    parts.random.nextBoolean() ? one.table.mapValues(value -> value + 1) : one.table.mapValues(value -> value + 1, parts.store(mayCache)),
                    "mapValues(" + one.text + ")"));
            case 3 -> parts.told("groupBy.aggregate", new Node(
                    one.table.groupBy((key, value) -> KeyValue.pair(DslParts.KEYS[key.charAt(1) & 1], value), Grouped.with(Serdes.String(), Serdes.Long()))
                            .aggregate(() -> 0L, (key, value, sum) -> sum + value, (key, value, sum) -> sum - value, parts.store(mayCache)),
                    "sums(" + one.text + ")"));
            case 4 -> parts.told("groupBy.reduce", new Node(
                    one.table.groupBy((key, value) -> KeyValue.pair(DslParts.KEYS[(int) (value % 3)], value), Grouped.with(Serdes.String(), Serdes.Long()))
                            .reduce(Long::sum, (sum, value) -> sum - value, parts.store(mayCache)),
                    "reduced(" + one.text + ")"));
            case 5, 6 -> isStrict ? one : suppressed(one, mayCache);
            default -> foreign(isStrict ? 8 : kind, one, node(depth - 1, mayCache), mayCache);
        };
    }

    Node source(boolean mayCache) {
        int number = parts.random.nextInt(4);
        return switch (isStrict ? 4 : parts.random.nextInt(5)) {
            case 0 -> parts.told("count", new Node(parts.grouped(number).count(parts.store(mayCache)), "count(" + number + ")"));
            case 1 -> parts.told("cogroup", new Node(
                    parts.grouped(number).<Long>cogroup((key, value, sum) -> sum + value)
                            .cogroup(parts.grouped(number + 1 & 3), (key, value, sum) -> sum + 2 * value)
                            .cogroup(parts.grouped(number + 2 & 3), (key, value, sum) -> value % 4 == 0 ? null : sum + 3 * value)
                            .aggregate(() -> 0L, parts.store(mayCache)),
                    "cogroup(" + number + ")"));
            default -> parts.told("toTable", new Node(parts.input(number).toTable(parts.store(mayCache)), "table(" + number + ")"));
        };
    }

    private Node suppressed(Node one, boolean mayCache) {
        boolean isEager = parts.random.nextBoolean();
        BufferConfig<?> buffer = !isEager ? BufferConfig.unbounded()
                : parts.random.nextBoolean() ? BufferConfig.maxRecords(1 + parts.random.nextInt(3)).emitEarlyWhenFull()
                : BufferConfig.maxBytes(100 + parts.random.nextInt(300)).emitEarlyWhenFull();
        Suppressed<Object> how = Suppressed.untilTimeLimit(Duration.ofMillis(parts.random.nextInt(3) * 25L), buffer);
        KTable<String, Long> table = one.table.suppress(how);
        return parts.told("suppress", new Node(parts.random.nextBoolean() ? table : table.mapValues(value -> value + 1, parts.store(mayCache)),
                "suppress " + (isEager ? "early" : "in time") + "(" + one.text + ")"));
    }

    private Node foreign(int kind, Node one, Node other, boolean mayCache) {
        KTable<String, Long> table = kind == 7
                ? one.table.join(other.table, value -> DslParts.KEYS[(int) (value % DslParts.KEYS.length)], DslParts::both, parts.store(mayCache))
                : one.table.leftJoin(other.table, value -> DslParts.KEYS[(int) (value % DslParts.KEYS.length)], DslParts::both, parts.store(mayCache));
        String name = kind == 7 ? "foreign-key join" : "foreign-key leftJoin";
        return parts.told(name, new Node(table, name + "(" + one.text + ", " + other.text + ")"));
    }

    private Node joined(int kind, Node one, Node other, boolean mayCache) {
        KTable<String, Long> table = kind == 9 ? one.table.join(other.table, DslParts::both, parts.store(mayCache))
                : kind == 10 ? one.table.leftJoin(other.table, DslParts::both, parts.store(mayCache))
                : one.table.outerJoin(other.table, DslParts::both, parts.store(mayCache));
        String name = new String[] {"join", "leftJoin", "outerJoin"}[kind - 9];
        return parts.told(name, new Node(table, name + "(" + one.text + ", " + other.text + ")"));
    }
}

package org.apache.kafka.streams.state.internals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * Plays random cases for every combination of parameters on the released caches of Kafka Streams and checks the
 * promises after each step.
 *
 * <p>Arguments: the seed, the number of cases of each combination, and the number of steps of a long case. Cases are
 * long as long as no short case broke a promise. Prints one JSON object.
 */
public final class StreamCampaign {
    private static final String[] CACHE_OPS = {
        "none", "get", "range", "put", "put_clean", "put_null", "put_if_absent", "delete", "flush", "evict", "clear",
        "close", "resize", "listen", "throws", "absent", "mixed"
    };
    private static final String[] STORE_OPS = {"none", "get", "put", "put_null", "delete", "range", "flush", "reverse", "mixed"};
    private static final String[] MIXED = {"get", "put", "put_null", "delete", "flush", "range"};
    private static final String[] KEYS = {"x", "y", "z"};
    private static final List<Op> CACHE_QUERIES =
            List.of(Op.of("usage", null), Op.of("metrics", "a"), Op.of("metrics", "b"));
    private static final List<Op> STORE_QUERIES = List.of(
            Op.of("usage", null), Op.of("store_all", "s"), Op.of("store_all", "t"), Op.of("store_flush", "s"),
            Op.of("store_flush", "t"), Op.of("store_inner", "s"), Op.of("store_inner", "t"));
    private static final int MAX_STEPS = 14;

    private final StreamsMetricsImpl metrics =
            Era.metrics(new Metrics(new MetricConfig(), List.of(), StandingTime.INSTANCE), StandingTime.INSTANCE);
    private final Endless endless = new Endless();
    private final Random random;
    private final long cases;
    private final int longest;
    private int values;

    private StreamCampaign(long seed, long cases, int longest) {
        random = new Random(seed);
        this.cases = cases;
        this.longest = longest;
        endless.start();
    }

    /** Plays all combinations and prints the result. */
    public static void main(String[] arguments) {
        StreamCampaign campaign = new StreamCampaign(
                Long.parseLong(arguments[0]), Long.parseLong(arguments[1]), Integer.parseInt(arguments[2]));
        List<Cell> cells = new ArrayList<>();
        for (String call : List.of("flush", "eviction")) {
            for (String place : List.of("same", "other")) {
                for (String op : CACHE_OPS) {
                    cells.add(campaign.play(new Cell("cache", call, op, place)));
                }
                for (String op : STORE_OPS) {
                    cells.add(campaign.play(new Cell("store", call, op, place)));
                }
            }
        }
        long steps = cells.stream().mapToLong(each -> each.steps).sum();
        System.out.println("{\"steps\":" + steps + ",\"cpu_millis\":" + ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis() + ",\"cells\":["
                + String.join(",\n", cells.stream().map(Cell::json).toList()) + "]}");
    }

    private Cell play(Cell cell) {
        long endlessCases = 0;
        while (cell.worlds < cases && endlessCases < 5) {
            cell.worlds++;
            values = 0;
            int length = 1 + random.nextInt(cell.worlds % 4 == 0 ? MAX_STEPS : cell.broken.isEmpty() ? longest : 5);
            long size = size(cell);
            List<Op> ops = cell.level.equals("cache") ? cacheOps(cell, length, size) : storeOps(cell, length);
            String promise = cell.level.equals("cache") ? playCache(cell, size, ops) : playStore(cell, size, ops);
            if (promise != null && promise.equals("every step ends")) {
                endlessCases++;
            }
        }
        return cell;
    }

    private long size(Cell cell) {
        return cell.evicts() ? List.of(0L, 50L, 100L, 150L).get(random.nextInt(4)) : 1 << 20;
    }

    private String playCache(Cell cell, long size, List<Op> ops) {
        CacheWorld checker = new CacheWorld(size, metrics, endless, cell.worlds % 2 == 0);
        List<Op> done = new ArrayList<>();
        try {
            for (Op op : ops) {
                done.add(op);
                checker.step(op);
            }
            return null;
        } catch (Broken broken) {
            cell.broke(broken.promise, length(done), json(size, done, CACHE_QUERIES));
            return broken.promise;
        } finally {
            endless.ended();
            cell.steps += checker.steps();
        }
    }

    private String playStore(Cell cell, long size, List<Op> ops) {
        StoreWorld checker = new StoreWorld(size, metrics, cell);
        List<Op> done = new ArrayList<>();
        try {
            for (Op op : ops) {
                done.add(op);
                checker.step(op);
            }
            checker.settle();
            return null;
        } catch (Broken broken) {
            cell.broke(broken.promise, length(done), json(size, done, STORE_QUERIES));
            return broken.promise;
        } finally {
            cell.steps += checker.steps();
        }
    }

    private static int length(List<Op> ops) {
        return ops.stream().mapToInt(op -> 1 + op.inner().size()).sum();
    }

    /** Returns a case of the protocol that ends with queries of the whole state. */
    private static String json(long size, List<Op> done, List<Op> queries) {
        List<Op> ops = new ArrayList<>(done);
        ops.addAll(queries);
        return "{\"system\":\"kafka-streams\",\"config\":{\"max_size_bytes\":" + size + ",\"reentry_budget\":" + CacheWorld.CALLS
                + "},\"steps\":" + Op.json(ops) + "}";
    }

    private List<Op> cacheOps(Cell cell, int length, long size) {
        List<Op> ops = new ArrayList<>();
        for (String place : List.of("a", "b")) {
            if (!cell.op.equals("absent") || random.nextBoolean()) {
                ops.add(listen(cell, place, 2));
            }
        }
        for (int i = 0; i < length; i++) {
            String place = random.nextInt(3) == 0 ? "b" : "a";
            String key = key();
            int draw = random.nextInt(12);
            boolean isPlain = cell.op.equals("none") || cell.op.equals("mixed");
            ops.add(draw < 6 ? Op.write("put", place, key, value(), true)
                    : draw == 6 ? Op.write("put", place, key, null, true)
                    : draw == 7 ? Op.of("get", place, key)
                    : draw == 8 && isPlain ? cacheOp(cell, CACHE_OPS[1 + random.nextInt(12)], place, 0)
                    : draw == 8 ? Op.write("put", place, key, value(), false)
                    : Op.of("flush", place));
        }
        return ops;
    }

    private Op listen(Cell cell, String place, int depth) {
        List<Op> inner = new ArrayList<>();
        boolean isQuiet = List.of("none", "throws", "absent").contains(cell.op);
        for (int left = isQuiet ? 0 : 1 + random.nextInt(2); left > 0; left--) {
            String at = cell.isAtSamePlace() ? place : place.equals("a") ? "b" : "a";
            inner.add(cacheOp(cell, cell.op.equals("mixed") ? CACHE_OPS[1 + random.nextInt(13)] : cell.op, at, depth));
        }
        long fails = cell.op.equals("throws") || cell.op.equals("mixed") && random.nextInt(4) == 0 ? 1 : 0;
        return new Op("listen", place, null, null, false, fails, inner);
    }

    private Op cacheOp(Cell cell, String op, String place, int depth) {
        String key = key();
        return switch (op) {
            case "put" -> Op.write("put", place, key, value(), true);
            case "put_clean" -> Op.write("put", place, key, value(), false);
            case "put_null" -> Op.write("put", place, key, null, true);
            case "put_if_absent" -> Op.write("put_if_absent", place, key, value(), random.nextBoolean());
            case "get", "delete" -> Op.of(op, place, key);
            case "resize" -> new Op("resize", null, null, null, false, random.nextInt(4) * 50, List.of());
            case "listen" -> depth > 0 && random.nextBoolean() ? listen(cell, place, depth - 1)
                    : new Op("listen", place, null, null, false, 0, List.of());
            default -> Op.of(op, place);
        };
    }

    private List<Op> storeOps(Cell cell, int length) {
        List<Op> ops = new ArrayList<>();
        boolean isReverse = cell.op.equals("reverse");
        for (String place : List.of("s", "t")) {
            for (String key : KEYS) {
                if (!cell.op.equals("none") && !isReverse && random.nextInt(3) > 0) {
                    ops.add(onForward(cell, place, key));
                }
            }
        }
        for (int i = 0; i < length; i++) {
            String place = random.nextInt(3) == 0 ? "t" : "s";
            int draw = random.nextInt(12);
            ops.add(draw < 5 ? Op.write("store_put", place, key(), value(), false)
                    : draw == 5 ? Op.write("store_put", place, key(), null, false)
                    : draw == 6 ? Op.of("store_delete", place, key())
                    : draw < 9 ? Op.of("store_get", place, key())
                    : draw == 9 ? Op.of(isReverse ? "store_reverse_all" : "store_all", place)
                    : Op.of("store_flush", place));
        }
        return ops;
    }

    private Op onForward(Cell cell, String place, String key) {
        List<Op> inner = new ArrayList<>();
        for (int left = 1 + random.nextInt(2); left > 0; left--) {
            String at = cell.isAtSamePlace() ? place : place.equals("s") ? "t" : "s";
            String op = cell.op.equals("mixed") ? MIXED[random.nextInt(MIXED.length)] : cell.op;
            inner.add(switch (op) {
                case "put" -> Op.write("store_put", at, key(), value(), false);
                case "put_null" -> Op.write("store_put", at, key(), null, false);
                case "get" -> Op.of("store_get", at, key());
                case "delete" -> Op.of("store_delete", at, key());
                case "range" -> Op.of("store_all", at);
                default -> Op.of("store_flush", at);
            });
        }
        return new Op("on_forward", place, key, null, false, 0, inner);
    }

    private String key() {
        return KEYS[random.nextInt(KEYS.length)];
    }

    /** Returns a value of two characters that differs from those of hundreds of writes before and after it. */
    private String value() {
        values++;
        return "" + (char) ('a' + values / 26 % 26) + (char) ('a' + values % 26);
    }
}

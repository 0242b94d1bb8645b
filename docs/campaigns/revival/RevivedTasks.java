package org.apache.kafka.streams.processor.internals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;

/*
 * Random lives of a task over cached stores: rows, commits, commits that fail, corruption and revival, suspension and
 * resumption, recycling from active to standby and back, and moves to another member of the group whose standby caught
 * up. The tasks, state managers, caches and record collectors are those of the release; TopologyTestDriver makes the
 * first ones, and this program does with them what TaskManager does (the method is named at each step). A broker of a
 * few lines keeps the topics, the transactions and the committed offsets.
 *
 * The same rows also go through one task that only commits. At the end both have to hold the same and to have sent the
 * same downstream; at each commit, the standby that caught up has to hold what the active task does.
 *
 *   java -cp "out:$CP" org.apache.kafka.streams.processor.internals.RevivedTasks FIRST_SEED COUNT [fixed | harm]
 *
 * Prints one JSON object; ends with 1 if a promise is broken that no finding explains. In worlds of even seeds no task is
 * revived, and nothing is excused but a join whose buffer was restored; with the fixes of the findings in front of the release
 * (fixed) nothing is. With harm, caches are cleared before a commit now and then: what the campaign must see. With
 * -Dshape=processor -Dalso=init,close every world has the processor, and it also puts when it begins and when it ends.
 * Stores on disk need RocksDB.
 */
public final class RevivedTasks {
    private static final String[] KEYS = {"k0", "k1", "k2"};
    private static final long[] CACHES = {0, 150, 700, 10_485_760};
    private static final String[] SHAPES = {"table", "count", "windows", "windows kept for short", "sessions", "sliding windows",
        "closed windows", "suppress", "final windows", "versioned join", "stream join", "processor"};
    /** Those of which a row may be taken twice without harm: what at-least-once is asked of. */
    private static final Set<String> IDEMPOTENT = Set.of("table", "processor");
    private static final Set<String> REVIVALS = Set.of("corrupt", "timeout");
    /** Those that look at the time of the stream. */
    private static final Set<String> TIMELESS = Set.of("table", "count", "processor", "stream join");
    private static final String TIME = "kafka-revived-task-keeps-stream-time";
    private static final String BUFFER = "kafka-join-buffer-restored-wrong";

    static final Map<String, Integer> PLAYED = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        String mode = arguments.length > 2 ? arguments[2] : "";
        Map<String, Integer> shapes = new TreeMap<>();
        Map<String, Integer> explained = new TreeMap<>();
        List<String> differences = new ArrayList<>();
        for (long seed = first; seed < first + count; seed++) {
            Random random = new Random(seed * 0x9E3779B97F4A7C15L);
            String drawn = SHAPES[random.nextInt(SHAPES.length)];
            String shape = System.getProperty("shape", drawn);
            boolean isExact = !IDEMPOTENT.contains(shape) || random.nextBoolean();
            Plan plan = new Plan(shape, CACHES[random.nextInt(CACHES.length)], random.nextInt(4) == 0, isExact);
            List<String> steps = steps(random, seed % 2 != 0);
            shapes.merge(shape + (isExact ? "" : ", at least once"), 1, Integer::sum);
            List<String> broken = broken(plan, steps, mode.equals("harm"));
            if (broken.isEmpty()) {
                continue;
            }
            boolean isRevived = steps.stream().anyMatch(REVIVALS::contains);
            String known = mode.equals("fixed") ? null : shape.equals("versioned join") ? BUFFER : isRevived && !TIMELESS.contains(shape) ? TIME : null;
            if (known != null) {
                explained.merge(known, 1, Integer::sum);
            } else {
                differences.add("seed " + seed + ", " + plan + ", " + steps + ": " + broken);
            }
        }
        System.out.println("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"shapes\": " + json(shapes) + ", \"asked\": "
                + json(PLAYED) + ", \"explained\": " + json(explained) + ", \"differences\": ["
                + String.join(", ", differences.stream().limit(Integer.getInteger("told", 20)).map(RevivedTasks::quoted).toList()) + "]}");
        System.out.flush();
        Runtime.getRuntime().halt(differences.isEmpty() ? 0 : 1);
    }

    private static List<String> broken(Plan plan, List<String> steps, boolean isHarmed) {
        try {
            World calm = new World(plan, steps.stream().filter(step -> step.equals("commit") || step.startsWith("row ")).toList(), false, false);
            World lived = new World(plan, steps, true, isHarmed);
            List<String> broken = new ArrayList<>(lived.broken);
            if (!calm.held.equals(lived.held)) {
                broken.add("it holds " + lived.held + ", a task that only commits " + calm.held);
            }
            if (!calm.sent.equals(lived.sent)) {
                broken.add("it sent " + lived.sent + ", a task that only commits " + calm.sent);
            }
            return broken;
        } catch (Exception error) {
            Throwable cause = error;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return List.of("throws " + cause + " at " + cause.getStackTrace()[0]);
        }
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "/").replace("\"", "'").replace("\n", " ") + "\"";
    }

    private static String json(Map<String, Integer> counts) {
        return "{" + String.join(", ", counts.entrySet().stream().map(each -> quoted(each.getKey()) + ": " + each.getValue()).toList()) + "}";
    }

    /** Rows of which none is ever late, and what happens to the task between them. */
    private static List<String> steps(Random random, boolean mayRevive) {
        List<String> steps = new ArrayList<>();
        long now = 100;
        int number = 5 + random.nextInt(40);
        for (int at = 0; at < number; at++) {
            int kind = random.nextInt(22);
            if (kind < 12) {
                now += random.nextInt(4) == 0 ? random.nextInt(60) : random.nextInt(5);
                long time = random.nextInt(3) == 0 ? now - random.nextInt(20) : now;
                steps.add("row " + random.nextInt(2) + " " + KEYS[random.nextInt(KEYS.length)] + " " + (1 + random.nextInt(9)) + " " + time);
            } else {
                String step = List.of("commit", "commit", "corrupt", "timeout", "resume", "recycle", "move", "catch up", "catch up", "tick")
                        .get(kind - 12);
                steps.add(REVIVALS.contains(step) && !mayRevive ? "recycle" : step);
            }
        }
        steps.add("commit");
        for (int far = 1; far <= 3; far++) {
            steps.add("row 0 k9 1 " + (now + far * 1_000));
            steps.add("row 1 k9 1 " + (now + far * 1_000));
            steps.add("commit");
        }
        return steps;
    }

    record Plan(String shape, long cacheBytes, boolean isOnDisk, boolean isExact) {}

    /** The same rows through a group of two members or, where nothing happens, through one. */
    private static final class World {
        final List<String> broken = new ArrayList<>();
        final Map<String, String> held;
        final Object sent;
        private final GroupBroker broker = new GroupBroker();
        private final List<GroupBroker.Row> rows = new ArrayList<>();
        private final List<GroupMember> members = new ArrayList<>();
        private GroupMember active;

        World(Plan plan, List<String> steps, boolean isLived, boolean isHarmed) throws Exception {
            List<Path> folders = new ArrayList<>();
            for (int at = 0; at < (isLived ? 2 : 1); at++) {
                folders.add(Files.createTempDirectory("revived"));
                members.add(new GroupMember(broker, plan, folders.get(at)));
            }
            active = members.get(0);
            active.toActive();
            for (int at = 0; at < steps.size(); at++) {
                String step = steps.get(at);
                if (isHarmed && step.equals("commit") && at % 2 == 0) {
                    active.clearCaches();
                }
                if (step.startsWith("row ")) {
                    take(step.split(" "));
                } else if (play(step)) {
                    again();
                }
                if (isLived) {
                    PLAYED.merge(step.split(" ")[0], 1, Integer::sum);
                    if (step.equals("commit") && !plan.shape.equals("windows kept for short")) {
                        compare(steps.subList(0, at + 1).toString());
                    }
                }
            }
            held = plan.shape.equals("windows kept for short") ? Map.of() : active.holds();
            held.keySet().removeIf(key -> key.endsWith(" close") || key.endsWith(" init") || key.endsWith(" tick"));
            sent = sent(plan.shape);
            for (GroupMember member : members) {
                member.close();
            }
            for (Path folder : folders) {
                delete(folder);
            }
        }

        private void take(String[] cells) throws Exception {
            String topic = "in" + cells[1];
            if (!active.reads(topic)) {
                topic = "in0";
            }
            GroupBroker.Row row = new GroupBroker.Row(topic, broker.offset(topic), Long.parseLong(cells[4]),
                    Serdes.String().serializer().serialize(topic, cells[2]), Serdes.Long().serializer().serialize(topic, Long.valueOf(cells[3])), new RecordHeaders());
            rows.add(row);
            active.process(row);
        }

        /** Whether the task reads from the committed offsets after it. */
        private boolean play(String step) throws Exception {
            switch (step) {
                case "commit" -> active.commit();
                case "corrupt" -> active.corrupt();
                case "timeout" -> active.timeout();
                case "resume" -> {
                    active.revoke();
                    active.resume();
                }
                case "recycle", "move" -> {
                    active.toStandby();
                    active.catchUp();
                    active = step.equals("move") ? other() : active;
                    active.catchUp();
                    active.toActive();
                }
                case "catch up" -> other().catchUp();
                case "tick" -> active.tick();
                default -> throw new IllegalArgumentException(step);
            }
            return !step.equals("commit") && !step.equals("catch up") && !step.equals("tick");
        }

        private GroupMember other() {
            return members.get(1 - members.indexOf(active));
        }

        private void again() throws Exception {
            for (GroupBroker.Row row : rows) {
                if (row.offset() >= broker.next(row.topic())) {
                    PLAYED.merge("row again", 1, Integer::sum);
                    active.process(row);
                }
            }
        }

        private void compare(String when) {
            other().catchUp();
            Map<String, String> restored = other().holds();
            Map<String, String> holds = active.holds();
            PLAYED.merge("rows compared", holds.size(), Integer::sum);
            if (!holds.equals(restored)) {
                broken.add("after " + when + " it holds " + holds + ", its standby " + restored);
            }
        }

        /** The last row of each key, or each row where none may come twice. */
        private Object sent(String shape) {
            Map<String, String> last = new TreeMap<>();
            List<String> every = new ArrayList<>();
            for (GroupBroker.Row row : broker.rows("out")) {
                String key = new String(row.key(), StandardCharsets.UTF_8);
                String value = String.valueOf(Serdes.Long().deserializer().deserialize("out", row.value()));
                if (!key.contains("k9")) {
                    last.put(key, value);
                    every.add(key + " " + value);
                }
                last.values().remove("null");
            }
            every.sort(null);
            return Shapes.ONCE.contains(shape) ? every : last;
        }

        private static void delete(Path folder) throws Exception {
            try (Stream<Path> paths = Files.walk(folder)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(path);
                }
            }
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;

/*
 * Random requests for read permits through the released limiter: none, all, more than all; callbacks that
 * throw, that give back or ask at once; timeouts; a full queue. One thread; waiters are made older by the program,
 * the clock decides nothing. Arguments: the first seed, and how many worlds. Prints one JSON object.
 *
 * What is held after each step:
 *   permits   what is free and what is handed out is the limit, and neither is below 0
 *   idle      nobody waits who could be served: the head of the queue does not fit
 *   queue     no more wait than may
 * and at the end, when everything was given back and the queue has timed out:
 *   answered  each request was answered once, at once or by its callback
 *   order     those that waited were answered in the order in which they came
 */
public final class Limiter {
    private static final long AGES = 1_000_000;
    private static final int QUEUE = 5;

    private final Random random;
    private final boolean throwing;
    private final StringBuilder history = new StringBuilder();
    private final List<InflightReadsLimiter.Handle> out = new ArrayList<>();
    private final List<int[]> answers = new ArrayList<>();
    private final List<Integer> waited = new ArrayList<>();
    private final List<Integer> answered = new ArrayList<>();
    private final ArrayDeque<Runnable> timeouts = new ArrayDeque<>();
    private final Map<String, Integer> broken = new TreeMap<>();
    private final long limit;
    private InflightReadsLimiter limiter;
    private int steps;

    private Limiter(long seed) {
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        throwing = random.nextInt(4) == 0;
        limit = 1 + random.nextInt(12);
    }

    public static void main(String[] arguments) throws Exception {
        long first = Long.parseLong(arguments[0]);
        long count = Long.parseLong(arguments[1]);
        Map<String, int[]> told = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        long steps = 0;
        for (long seed = first; seed < first + count; seed++) {
            Limiter world = new Limiter(seed);
            try {
                world.live();
            } catch (RuntimeException thrown) {
                world.broken.put("throws", 1);
            }
            steps += world.steps;
            String mode = world.throwing ? "throwing callback" : "plain";
            told.computeIfAbsent("worlds: " + mode, key -> new int[1])[0]++;
            for (var one : world.broken.entrySet()) {
                String key = mode + ": " + one.getKey();
                told.computeIfAbsent(key, name -> new int[1])[0]++;
                examples.putIfAbsent(key, "seed " + seed + ": " + world.history);
            }
        }
        StringBuilder json = new StringBuilder("{\"first_seed\": " + first + ", \"worlds\": " + count + ", \"steps\": " + steps);
        json.append(", \"met\": {");
        String between = "";
        for (var one : told.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": ").append(one.getValue()[0]);
            between = ", ";
        }
        json.append("}, \"examples\": {");
        between = "";
        for (var one : examples.entrySet()) {
            json.append(between).append('"').append(one.getKey()).append("\": \"").append(one.getValue()).append('"');
            between = ", ";
        }
        System.out.println(json.append("}}"));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private void live() throws Exception {
        var executor = (ScheduledExecutorService) Proxy.newProxyInstance(
                Limiter.class.getClassLoader(), new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, given) -> {
            timeouts.add((Runnable) given[0]);
            return null;
        });
        limiter = new InflightReadsLimiter(limit, QUEUE, AGES / 2, executor, OpenTelemetry.noop());
        history.append("limit ").append(limit);
        for (int step = random.nextInt(40) + 5; step > 0; step--) {
            switch (random.nextInt(6)) {
                case 0, 1, 2 -> acquire(random.nextInt(5) == 0 ? limit + random.nextInt(3) : random.nextInt((int) limit + 1));
                case 3, 4 -> giveBack();
                default -> timeOut();
            }
            look();
        }
        for (int rest = 0; rest < 1_000 && !out.isEmpty(); rest++) {
            giveBack();
        }
        timeOut();
        for (int request = 0; request < answers.size(); request++) {
            if (answers.get(request)[0] != 1) {
                broken.put(answers.get(request)[0] == 0 ? "answered never" : "answered twice", 1);
            }
        }
        if (!answered.equals(waited)) {
            broken.put("order", 1);
        }
    }

    private void acquire(long permits) {
        steps++;
        int request = answers.size();
        answers.add(new int[1]);
        history.append("; ").append(request).append(" acquires ").append(permits);
        boolean fails = throwing && random.nextInt(3) == 0;
        boolean returns = random.nextInt(4) == 0;
        Optional<InflightReadsLimiter.Handle> now = limiter.acquire(permits, handle -> {
            answers.get(request)[0]++;
            answered.add(request);
            history.append(" [").append(request).append(handle.success() ? " served" : " timed out").append(']');
            if (fails) {
                throw new IllegalStateException("callback");
            }
            if (handle.success()) {
                out.add(handle);
                if (returns) {
                    out.remove(handle);
                    limiter.release(handle);
                }
            }
        });
        if (now.isPresent()) {
            answers.get(request)[0]++;
            if (now.get().success()) {
                out.add(now.get());
            } else if (waiting().size() < QUEUE) {
                broken.put("refused with a place in the queue", 1);
            }
        } else {
            waited.add(request);
        }
    }

    private void giveBack() {
        if (out.isEmpty()) {
            return;
        }
        steps++;
        InflightReadsLimiter.Handle handle = out.remove(random.nextInt(out.size()));
        history.append("; ").append(handle.permits()).append(" given back");
        limiter.release(handle);
    }

    /** Some of those who wait, the oldest, get old enough; then the check runs that the limiter had scheduled. */
    private void timeOut() throws Exception {
        steps++;
        Queue<InflightReadsLimiter.QueuedHandle> queue = waiting();
        int old = out.isEmpty() ? queue.size() : random.nextInt(queue.size() + 1);
        history.append("; the check finds ").append(old).append(" of ").append(queue.size()).append(" old");
        for (int left = queue.size(), at = 0; left > 0; left--, at++) {
            var waiting = queue.poll();
            var handle = waiting.handle();
            queue.add(at >= old ? waiting : new InflightReadsLimiter.QueuedHandle(
                    new InflightReadsLimiter.Handle(handle.permits(), handle.creationTime() - AGES, true), waiting.callback()));
        }
        if (!queue.isEmpty() && timeouts.isEmpty()) {
            broken.put("nothing scheduled", 1);
        }
        if (!timeouts.isEmpty()) {
            timeouts.poll().run();
        }
    }

    private void look() {
        long free = limiter.getRemainingBytes();
        long given = out.stream().mapToLong(InflightReadsLimiter.Handle::permits).sum();
        if (free < 0 || free > limit || free + given != limit) {
            broken.put("permits", 1);
        }
        var head = waiting().peek();
        if (head != null && (head.handle().permits() <= free || head.handle().permits() > limit && free == limit)) {
            broken.put("idle", 1);
        }
        if (waiting().size() > QUEUE) {
            broken.put("queue", 1);
        }
    }

    @SuppressWarnings("unchecked")
    private Queue<InflightReadsLimiter.QueuedHandle> waiting() {
        try {
            Field field = InflightReadsLimiter.class.getDeclaredField("queuedHandles");
            field.setAccessible(true);
            return (Queue<InflightReadsLimiter.QueuedHandle>) field.get(limiter);
        } catch (ReflectiveOperationException missing) {
            throw new IllegalStateException(missing);
        }
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;

/*
 * A request for read permits that heads the queue times out. The one behind it fits into what is free, and waits on.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out TimeoutServesNobodyTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.TimeoutServesNobodyTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class TimeoutServesNobodyTest {
    private static Runnable check;

    public static void main(String[] arguments) throws Exception {
        var executor = (ScheduledExecutorService) Proxy.newProxyInstance(TimeoutServesNobodyTest.class.getClassLoader(),
                new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, given) -> {
            check = (Runnable) given[0];
            return null;
        });
        InflightReadsLimiter limiter = new InflightReadsLimiter(10, 100, 1_000_000, executor, OpenTelemetry.noop());
        List<String> answered = new ArrayList<>();
        limiter.acquire(4, handle -> { });
        var two = limiter.acquire(2, handle -> { }).get();
        limiter.acquire(8, handle -> answered.add("eight " + handle.success()));
        limiter.acquire(5, handle -> answered.add("five " + handle.success()));
        limiter.release(two);
        expect("nobody is answered while eight wait and six are free", List.of(), answered);
        makeOlder(limiter);
        check.run();
        expect("answered once the eight have timed out and six are free", List.of("eight false", "five true"), answered);
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** The head of the queue has waited for longer than the timeout. */
    @SuppressWarnings("unchecked")
    private static void makeOlder(InflightReadsLimiter limiter) throws Exception {
        Field field = InflightReadsLimiter.class.getDeclaredField("queuedHandles");
        field.setAccessible(true);
        var queue = (Deque<InflightReadsLimiter.QueuedHandle>) field.get(limiter);
        var head = queue.poll();
        var old = new InflightReadsLimiter.Handle(
                head.handle().permits(), head.handle().creationTime() - 2_000_000, true);
        queue.addFirst(new InflightReadsLimiter.QueuedHandle(old, head.callback()));
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

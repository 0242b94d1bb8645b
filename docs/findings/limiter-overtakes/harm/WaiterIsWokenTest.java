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
 * A large request waits, and a small one that would fit comes after it. Once the large one has timed out, the small one is
 * answered, at once or then: a repair that lets the small one wait behind the large one must wake it.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out WaiterIsWokenTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.WaiterIsWokenTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class WaiterIsWokenTest {
    private static Runnable check;

    public static void main(String[] arguments) throws Exception {
        var executor = (ScheduledExecutorService) Proxy.newProxyInstance(WaiterIsWokenTest.class.getClassLoader(),
                new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, given) -> {
            check = (Runnable) given[0];
            return null;
        });
        InflightReadsLimiter limiter = new InflightReadsLimiter(10, 100, 1_000_000, executor, OpenTelemetry.noop());
        List<String> answered = new ArrayList<>();
        limiter.acquire(6, handle -> { });
        limiter.acquire(8, handle -> answered.add("eight " + handle.success()));
        limiter.acquire(3, handle -> answered.add("three " + handle.success()))
                .ifPresent(handle -> answered.add("three " + handle.success()));
        makeOlder(limiter);
        check.run();
        expect("the three is answered once the eight have timed out", true, answered.contains("three true"));
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

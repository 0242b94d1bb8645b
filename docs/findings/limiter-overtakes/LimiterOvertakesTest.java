package org.apache.bookkeeper.mledger.impl.cache;

import io.opentelemetry.api.OpenTelemetry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/*
 * A request for read permits that fits is served at once even when others wait: small reads overtake a
 * large one for as long as they keep coming.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out LimiterOvertakesTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.LimiterOvertakesTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class LimiterOvertakesTest {
    public static void main(String[] arguments) throws Exception {
        InflightReadsLimiter limiter = new InflightReadsLimiter(10, 100, 0, null, OpenTelemetry.noop());
        List<String> granted = new ArrayList<>();
        expect("6 of 10 are free for the first", true, limiter.acquire(6, handle -> granted.add("first")).isPresent());
        expect("8 more are not", false, limiter.acquire(8, handle -> granted.add("second")).isPresent());
        expect("a third is served before the second", false, limiter.acquire(4, handle -> granted.add("third")).isPresent());
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

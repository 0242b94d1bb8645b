package org.apache.bookkeeper.mledger.impl.cache;

import java.lang.reflect.Method;
import java.util.Objects;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;

/*
 * The setting that keeps caching added entries after the last active cursor has left cannot be given
 * to a managed ledger.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out GracePeriodCannotBeSetTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.GracePeriodCannotBeSetTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class GracePeriodCannotBeSetTest {
    public static void main(String[] arguments) throws Exception {
        boolean found = false;
        for (Method method : ManagedLedgerConfig.class.getMethods()) {
            found |= method.getName().equals("setContinueCachingAddedEntriesAfterLastActiveCursorLeavesMillis");
        }
        expect("ManagedLedgerConfig takes the grace period", true, found);
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

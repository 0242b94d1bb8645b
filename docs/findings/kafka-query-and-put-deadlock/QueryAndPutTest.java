package findings;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only. One thread puts into a store in memory, as the stream thread does; another asks it by an interactive
 * query: each holds the monitor that the other waits for.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out QueryAndPutTest.java
 *   java -cp "out:$CP" findings.QueryAndPutTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class QueryAndPutTest {
    private static final int PUTS = 3_000_000;

    public static void main(String[] arguments) throws Exception {
        KeyValueStore<Bytes, byte[]> store = Stores.inMemoryKeyValueStore("s").get();
        store.init(new MockProcessorContext<Void, Void>().getStateStoreContext(), store);
        Bytes x = Bytes.wrap(new byte[] {1});
        Thread putting = new Thread(() -> {
            for (int put = 0; put < PUTS; put++) {
                store.put(x, new byte[] {1});
            }
        }, "putting");
        Thread asking = new Thread(() -> {
            while (putting.isAlive()) {
                store.query(KeyQuery.<Bytes, byte[]>withKey(x), PositionBound.unbounded(), new QueryConfig(false));
            }
        }, "asking");
        putting.setDaemon(true);
        asking.setDaemon(true);
        putting.start();
        asking.start();
        while (putting.isAlive() || asking.isAlive()) {
            long[] deadlocked = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
            if (deadlocked != null) {
                fail("deadlock: " + Arrays.stream(ManagementFactory.getThreadMXBean().getThreadInfo(deadlocked))
                        .map(each -> each.getThreadName() + " waits for " + each.getLockInfo().getClassName()
                                + " of " + each.getLockOwnerName())
                        .sorted()
                        .collect(Collectors.joining(", ")));
            }
            putting.join(1);
            asking.join(1);
        }
        conforms();
    }

    private static void conforms() {
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            fail(what + ": expected " + expected + ", got " + got);
        }
    }

    private static void fail(String message) {
        System.out.println(message.replace('\n', ' '));
        System.out.flush();
        Runtime.getRuntime().halt(1);
    }
}

package findings;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/*
 * Public API only. A store of Stores.lruMap that is closed and initialised again, as a task does that is revived, is not
 * open and still holds what it held; a store of Stores.inMemoryKeyValueStore is open and empty.
 *
 * Class path CP: org.apache.kafka:kafka-streams and kafka-streams-test-utils and their dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out LruStoreAfterCloseTest.java
 *   java -cp "out:$CP" findings.LruStoreAfterCloseTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class LruStoreAfterCloseTest {
    public static void main(String[] arguments) {
        expect("a store in memory after close and init", "open true, x null", reopened(Stores.inMemoryKeyValueStore("s")));
        expect("an LRU store after close and init", "open true, x null", reopened(Stores.lruMap("s", 10)));
        conforms();
    }

    private static String reopened(KeyValueBytesStoreSupplier supplier) {
        Bytes x = Bytes.wrap("x".getBytes(StandardCharsets.UTF_8));
        KeyValueStore<Bytes, byte[]> store = supplier.get();
        store.init(new MockProcessorContext<Void, Void>().getStateStoreContext(), store);
        store.put(x, "1".getBytes(StandardCharsets.UTF_8));
        store.close();
        store.init(new MockProcessorContext<Void, Void>().getStateStoreContext(), store);
        byte[] found = store.get(x);
        return "open " + store.isOpen() + ", x " + (found == null ? null : new String(found, StandardCharsets.UTF_8));
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

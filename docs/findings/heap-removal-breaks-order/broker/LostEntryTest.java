import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.PulsarMockBookKeeper;
import org.apache.bookkeeper.common.util.OrderedExecutor;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedCursor;
import org.apache.bookkeeper.mledger.ManagedLedgerConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;
import org.apache.pulsar.metadata.api.MetadataStoreConfig;
import org.apache.pulsar.metadata.api.extended.MetadataStoreExtended;

/*
 * A durable subscription that has acknowledged nothing loses an entry, as two other subscriptions are deleted. Nobody
 * asks for a trim: the ledger does it after a deletion and as positions move.
 *
 * Class path CP: org.apache.pulsar:pulsar-broker:4.2.4 with its dependencies, and org.apache.pulsar:testmocks:4.0.8 for
 * the BookKeeper in memory, which is not published of 4.2.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out LostEntryTest.java
 *   java -cp "out:$CP" LostEntryTest
 *
 * Prints "conforms" and ends with status 0, or prints what was lost and ends with status 1.
 */
public final class LostEntryTest {
    private static final long QUIET_MILLIS = 200;

    public static void main(String[] arguments) throws Exception {
        ManagedLedgerFactoryImpl factory = new ManagedLedgerFactoryImpl(
                MetadataStoreExtended.create("memory:local", MetadataStoreConfig.builder().build()),
                new PulsarMockBookKeeper(OrderedExecutor.newBuilder().numThreads(1).name("test").build()));
        ManagedLedgerConfig config = new ManagedLedgerConfig()
                .setMaxEntriesPerLedger(1)
                .setRetentionTime(0, TimeUnit.SECONDS)
                .setRetentionSizeInMB(0);
        config.setThrottleMarkDelete(0);
        config.setMinimumRolloverTime(0, TimeUnit.SECONDS);
        ManagedLedgerImpl ledger = (ManagedLedgerImpl) factory.open("topic", config);
        Map<String, ManagedCursor> cursors = new HashMap<>();
        for (String name : List.of("a", "b", "c", "d", "e", "f")) {
            cursors.put(name, ledger.openCursor(name));
        }
        List<Position> added = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            added.add(ledger.addEntry(("entry " + i).getBytes(StandardCharsets.UTF_8)));
            Thread.sleep(QUIET_MILLIS);
        }

        cursors.get("e").markDelete(added.get(2));
        cursors.get("b").markDelete(added.get(0));
        cursors.get("d").markDelete(added.get(2));
        ledger.deleteCursor("d");
        ledger.deleteCursor("a");
        cursors.get("c").markDelete(added.get(1));
        for (String name : List.of("e", "b", "c")) {
            cursors.get(name).markDelete(added.get(3));
        }
        Thread.sleep(QUIET_MILLIS);

        String slowest = ledger.getSlowestConsumer().getName();
        List<String> read = new ArrayList<>();
        for (Entry entry : cursors.get("f").readEntries(10)) {
            read.add(new String(entry.getData(), StandardCharsets.UTF_8));
            entry.release();
        }
        System.out.println("subscription f has acknowledged nothing; its mark-delete position is "
                + cursors.get("f").getMarkDeletedPosition() + ", ledgers left: " + ledger.getLedgersInfo().keySet()
                + "; the slowest consumer, which a backlog quota acts on, is told to be " + slowest);
        System.out.println("f reads " + read);
        boolean isWhole = read.size() == added.size();
        System.out.println(isWhole ? "conforms" : "expected 5 entries, the first one is lost");
        System.out.flush();
        Runtime.getRuntime().halt(isWhole ? 0 : 1);
    }
}

package org.apache.bookkeeper.bookie.storage.ldb;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Objects;

/*
 * An entry that is longer than a segment is left out of the read cache, and the entries that are cached stay.
 *
 * Class path CP: org.apache.bookkeeper:bookkeeper-server and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out LongEntryThrowsTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.bookie.storage.ldb.LongEntryThrowsTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class LongEntryThrowsTest {
    private static final long LEDGER = 1;

    public static void main(String[] arguments) throws Exception {
        ReadCache cache = new ReadCache(UnpooledByteBufAllocator.DEFAULT, 256); // two segments of 128 bytes
        expect("an entry that fits is put", "no exception", put(cache, 0, 10));
        expect("an entry that is longer than a segment is put", "no exception", put(cache, 1, 129));
        expect("the entry that fits is cached", true, isCached(cache, 0));
        expect("the longer entry is cached", false, isCached(cache, 1));
        System.out.println("conforms");
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static String put(ReadCache cache, long entry, int size) {
        ByteBuf data = Unpooled.buffer(size).writeZero(size);
        try {
            cache.put(LEDGER, entry, data);
            return "no exception";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        } finally {
            data.release();
        }
    }

    private static boolean isCached(ReadCache cache, long entry) {
        ByteBuf found = cache.get(LEDGER, entry);
        if (found != null) {
            found.release();
        }
        return found != null;
    }

    private static void expect(String what, Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            System.out.println(what + ": expected " + expected + ", got " + got);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }
}

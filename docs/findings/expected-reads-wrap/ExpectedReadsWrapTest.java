package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.Unpooled;
import org.apache.bookkeeper.mledger.impl.EntryImpl;
import org.apache.bookkeeper.mledger.impl.EntryReadCountHandlerImpl;

/*
 * One more expected read than an int holds makes the count negative.
 *
 * Class path CP: org.apache.pulsar:managed-ledger and its dependencies.
 *
 *   javac -encoding UTF-8 -cp "$CP" -d out ExpectedReadsWrapTest.java
 *   java -cp "out:$CP" org.apache.bookkeeper.mledger.impl.cache.ExpectedReadsWrapTest
 *
 * Prints "conforms" and ends with status 0, or prints the first difference and ends with status 1.
 */
public final class ExpectedReadsWrapTest {
    public static void main(String[] arguments) {
        EntryImpl entry = EntryImpl.create(1, 0, Unpooled.wrappedBuffer(new byte[10]), Integer.MAX_VALUE);
        entry.getReadCountHandler().incrementExpectedReadCount();
        long got = ((EntryReadCountHandlerImpl) entry.getReadCountHandler()).getExpectedReadCount();
        boolean conforms = got > 0;
        System.out.println(conforms ? "conforms" : "expected reads: expected above 0, got " + got);
        System.out.flush();
        Runtime.getRuntime().halt(conforms ? 0 : 1);
    }
}

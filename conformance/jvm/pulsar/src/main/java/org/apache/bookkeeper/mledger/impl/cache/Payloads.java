package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The buffers of one run: each entry has one of its own, of really that many readable bytes, that carries a token.
 *
 * <p>The token is the first eight readable bytes. An entry of fewer bytes has it in eight bytes of the same buffer in
 * front of the readable ones: so its length stays what the step says. All buffers are remembered until their last
 * reference is gone, to tell at the end what has leaked.
 */
final class Payloads {
    /** Longer entries share their zeroes. */
    private static final int OWN_BYTES = 4096;

    private static final int FEWEST_REMEMBERED = 1024;
    private static final ByteBuf ZEROES = zeroes();

    private final List<ByteBuf> made = new ArrayList<>();
    private int next = FEWEST_REMEMBERED;

    /** A buffer with one reference, which is the caller's. */
    ByteBuf of(int size, long token) {
        int front = front(size);
        int own = size <= OWN_BYTES ? front + size : Long.BYTES;
        ByteBuf first = Unpooled.wrappedBuffer(new byte[own]).setLong(0, token);
        ByteBuf buffer = own == front + size
                ? first
                : Unpooled.wrappedBuffer(first, ZEROES.retainedSlice(0, size - own));
        remember(buffer);
        return buffer.readerIndex(front);
    }

    /** The token that a buffer carries, whatever view of it the cache hands out. */
    static long token(ByteBuf buffer) {
        return buffer.getLong(buffer.readerIndex() - front(buffer.readableBytes()));
    }

    /** The references that are still held. */
    long held() {
        return made.stream().mapToLong(ByteBuf::refCnt).sum();
    }

    private static int front(int size) {
        return size < Long.BYTES ? Long.BYTES : 0;
    }

    /** Forgets what is free whenever twice as much has come together. */
    private void remember(ByteBuf buffer) {
        made.add(buffer);
        if (made.size() >= next) {
            made.removeIf(each -> each.refCnt() == 0);
            next = Math.max(FEWEST_REMEMBERED, 2 * made.size());
        }
    }

    /** As long as a buffer can be, and no memory: one block of zeroes, over and over. */
    private static ByteBuf zeroes() {
        byte[] block = new byte[1 << 20];
        ByteBuf[] blocks = new ByteBuf[1 << 11];
        Arrays.setAll(blocks, i -> Unpooled.wrappedBuffer(block));
        blocks[blocks.length - 1] = Unpooled.wrappedBuffer(block, 0, block.length - 1);
        return Unpooled.wrappedBuffer(blocks.length, blocks);
    }
}

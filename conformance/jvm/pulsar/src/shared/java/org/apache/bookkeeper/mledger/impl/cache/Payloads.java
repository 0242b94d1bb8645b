package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.pulsar.common.api.proto.MessageMetadata;

/**
 * The buffers of one run: each entry has one of its own, of really that many readable bytes, that carries a token.
 *
 * <p>The token is the eight bytes up to the entry's last one. Of an entry of fewer than eight bytes it begins in front
 * of the readable ones, in the same buffer: so its length stays what the step says. All buffers are remembered until
 * their last reference is gone, to tell at the end what has leaked.
 */
final class Payloads {
    /** Longer entries share their zeroes. */
    private static final int OWN_BYTES = 4096;

    private static final int FEWEST_REMEMBERED = 1024;
    private static final ByteBuf ZEROES = zeroes();

    /** The beginning of a message: the length of its metadata, and metadata with nothing in it that is not required. */
    private static final byte[] METADATA = metadata();

    private final List<ByteBuf> made = new ArrayList<>();
    private int next = FEWEST_REMEMBERED;

    /** A buffer with one reference, which is the caller's. */
    ByteBuf of(int size, long token) {
        return of(new byte[0], size, token);
    }

    /** The same, and a message that can be parsed, unless it is too short for one. */
    ByteBuf message(int size, long token) {
        return of(size < METADATA.length + Long.BYTES ? new byte[0] : METADATA, size, token);
    }

    /** The token that a buffer carries, whatever view of it the cache hands out. */
    static long token(ByteBuf buffer) {
        return buffer.getLong(buffer.writerIndex() - Long.BYTES);
    }

    /** The references that are still held. */
    long held() {
        return made.stream().mapToLong(ByteBuf::refCnt).sum();
    }

    private ByteBuf of(byte[] beginning, int size, long token) {
        ByteBuf buffer;
        if (size <= OWN_BYTES) {
            byte[] bytes = new byte[Math.max(size, Long.BYTES)];
            System.arraycopy(beginning, 0, bytes, 0, beginning.length);
            buffer = Unpooled.wrappedBuffer(bytes).setLong(bytes.length - Long.BYTES, token);
        } else {
            buffer = Unpooled.wrappedBuffer(
                    Unpooled.wrappedBuffer(beginning),
                    ZEROES.retainedSlice(0, size - beginning.length - Long.BYTES),
                    Unpooled.wrappedBuffer(new byte[Long.BYTES]).setLong(0, token));
        }
        remember(buffer);
        return buffer.readerIndex(buffer.writerIndex() - size);
    }

    /** Forgets what is free whenever twice as much has come together. */
    private void remember(ByteBuf buffer) {
        made.add(buffer);
        if (made.size() >= next) {
            made.removeIf(each -> each.refCnt() == 0);
            next = Math.max(FEWEST_REMEMBERED, 2 * made.size());
        }
    }

    private static byte[] metadata() {
        MessageMetadata metadata =
                new MessageMetadata().setProducerName("").setSequenceId(0).setPublishTime(0);
        int length = metadata.getSerializedSize();
        ByteBuf bytes = Unpooled.buffer(Integer.BYTES + length).writeInt(length);
        metadata.writeTo(bytes);
        return bytes.array();
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

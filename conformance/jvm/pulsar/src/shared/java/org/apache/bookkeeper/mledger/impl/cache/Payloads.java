package org.apache.bookkeeper.mledger.impl.cache;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.pulsar.common.api.proto.MessageMetadata;

/**
 * The buffers of one run. Each entry has its own buffer of exactly that many readable bytes, which carries a token.
 *
 * <p>The token is in the last eight bytes of the entry. If the entry has fewer than eight bytes, the token begins
 * before the readable bytes in the same buffer, so the entry keeps the size that the step names. Each buffer is
 * remembered until its last reference is released, so that the run can report leaks at its end.
 */
final class Payloads {
    /** The largest size of an entry with bytes of its own; larger entries share their zeroes. */
    private static final int OWN_BYTES = 4096;

    private static final int FEWEST_REMEMBERED = 1024;
    private static final ByteBuf ZEROES = zeroes();

    /** The beginning of a message: the length of its metadata, and metadata with only the required fields. */
    private static final byte[] METADATA = metadata();

    private final List<ByteBuf> buffers = new ArrayList<>();
    private int next = FEWEST_REMEMBERED;

    /** Returns a buffer with one reference, which the caller owns. */
    ByteBuf of(int size, long token) {
        return of(new byte[0], size, token);
    }

    /** Returns such a buffer that holds a parsable message, unless it is too short for one. */
    ByteBuf message(int size, long token) {
        return of(size < METADATA.length + Long.BYTES ? new byte[0] : METADATA, size, token);
    }

    /** Returns the token of a buffer, for any view of the buffer that the cache returns. */
    static long token(ByteBuf buffer) {
        return buffer.getLong(buffer.writerIndex() - Long.BYTES);
    }

    /** Returns the number of references that are still held. */
    long held() {
        return buffers.stream().mapToLong(ByteBuf::refCnt).sum();
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

    /** Remembers a buffer, and forgets the released buffers whenever the list has doubled. */
    private void remember(ByteBuf buffer) {
        buffers.add(buffer);
        if (buffers.size() >= next) {
            buffers.removeIf(each -> each.refCnt() == 0);
            next = Math.max(FEWEST_REMEMBERED, 2 * buffers.size());
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

    /** Returns a buffer of the maximum length that repeats one block of zeroes and so takes little memory. */
    private static ByteBuf zeroes() {
        byte[] block = new byte[1 << 20];
        ByteBuf[] blocks = new ByteBuf[1 << 11];
        Arrays.setAll(blocks, i -> Unpooled.wrappedBuffer(block));
        blocks[blocks.length - 1] = Unpooled.wrappedBuffer(block, 0, block.length - 1);
        return Unpooled.wrappedBuffer(blocks.length, blocks);
    }
}

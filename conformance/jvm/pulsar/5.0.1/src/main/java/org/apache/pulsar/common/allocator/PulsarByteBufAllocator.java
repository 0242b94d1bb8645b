package org.apache.pulsar.common.allocator;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;

/**
 * A stand-in for a class of pulsar-common 5.0.1, which is not published; 5.0.0-M1's class has no {@code getOrCreate}.
 *
 * <p>The cache only uses it to allocate the buffers of entries that it copies.
 */
public final class PulsarByteBufAllocator {
    public static final ByteBufAllocator DEFAULT = PooledByteBufAllocator.DEFAULT;

    private PulsarByteBufAllocator() {}

    /** Returns the same allocator for every name. */
    public static ByteBufAllocator getOrCreate(String name) {
        return DEFAULT;
    }
}

package org.apache.pulsar.common.allocator;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;

/**
 * Stands in for a class of pulsar-common 5.0.1, which is not published: 5.0.0-M1's has no {@code getOrCreate}.
 *
 * <p>The cache takes from it the buffers of entries that it copies, and nothing else.
 */
public final class PulsarByteBufAllocator {
    public static final ByteBufAllocator DEFAULT = PooledByteBufAllocator.DEFAULT;

    private PulsarByteBufAllocator() {}

    /** The same allocator under every name. */
    public static ByteBufAllocator getOrCreate(String name) {
        return DEFAULT;
    }
}

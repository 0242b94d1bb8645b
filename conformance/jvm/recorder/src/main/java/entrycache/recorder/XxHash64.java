package entrycache.recorder;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** XXH64 with the seed 42, as Spark's {@code xxhash64}, so that a key's name can be looked up in a trace. */
public final class XxHash64 {
    private static final long SEED = 42;
    private static final long P1 = 0x9E3779B185EBCA87L;
    private static final long P2 = 0xC2B2AE3D27D4EB4FL;
    private static final long P3 = 0x165667B19E3779F9L;
    private static final long P4 = 0x85EBCA77C2B2AE63L;
    private static final long P5 = 0x27D4EB2F165667C5L;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private XxHash64() { }

    /** Returns the hash of the bytes. */
    public static long of(byte[] bytes) {
        int at = 0;
        long hash;
        if (bytes.length >= 32) {
            long a = SEED + P1 + P2;
            long b = SEED + P2;
            long c = SEED;
            long d = SEED - P1;
            for (; at <= bytes.length - 32; at += 32) {
                a = round(a, (long) LONGS.get(bytes, at));
                b = round(b, (long) LONGS.get(bytes, at + 8));
                c = round(c, (long) LONGS.get(bytes, at + 16));
                d = round(d, (long) LONGS.get(bytes, at + 24));
            }
            hash = Long.rotateLeft(a, 1) + Long.rotateLeft(b, 7) + Long.rotateLeft(c, 12) + Long.rotateLeft(d, 18);
            hash = merged(merged(merged(merged(hash, a), b), c), d);
        } else {
            hash = SEED + P5;
        }
        return finished(bytes, at, hash + bytes.length);
    }

    private static long finished(byte[] bytes, int from, long initial) {
        int at = from;
        long hash = initial;
        for (; at <= bytes.length - 8; at += 8) {
            hash = Long.rotateLeft(hash ^ round(0, (long) LONGS.get(bytes, at)), 27) * P1 + P4;
        }
        if (at <= bytes.length - 4) {
            hash = Long.rotateLeft(hash ^ ((int) INTS.get(bytes, at) & 0xffffffffL) * P1, 23) * P2 + P3;
            at += 4;
        }
        for (; at < bytes.length; at++) {
            hash = Long.rotateLeft(hash ^ (bytes[at] & 0xff) * P5, 11) * P1;
        }
        hash = (hash ^ hash >>> 33) * P2;
        hash = (hash ^ hash >>> 29) * P3;
        return hash ^ hash >>> 32;
    }

    private static long round(long sum, long lane) {
        return Long.rotateLeft(sum + lane * P2, 31) * P1;
    }

    private static long merged(long hash, long sum) {
        return (hash ^ round(0, sum)) * P1 + P4;
    }
}

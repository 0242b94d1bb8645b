package entrycache.recorder;

import java.nio.charset.StandardCharsets;

/** Rows as lines of JSON. They are written into a byte array by hand, without allocation, and nulls are left out. */
final class Lines {
    private static final byte[][] OPS = labels(",\"op\":\"", Op.ALL);
    private static final byte[][] CAUSES = labels(",\"cause\":\"", Cause.EACH);
    private static final byte[][] ORIGINS = labels(",\"origin\":\"", Cause.EACH);
    private static final byte[] TIME = ascii(",\"ts_ns\":");
    private static final byte[] CACHE = ascii(",\"cache\":");
    private static final byte[] CURSOR = ascii(",\"cursor\":");
    private static final byte[] VALUE = ascii(",\"value\":");
    private static final byte[] KIND = ascii(",\"store_kind\":");
    private static final byte[] TRUE = ascii("true");
    private static final byte[] FALSE = ascii("false");
    private static final byte[][] FLAGS = {
        ascii(",\"accessed\":"), ascii(",\"extend_accessed\":"), ascii(",\"dirty\":"),
    };

    /** The space reserved for a row without its texts, which takes about 1,000 bytes at most. */
    private static final int ROW_BYTES = 1_280;

    private final byte[] begin;
    private String name;
    private byte[] quoted;

    byte[] bytes = new byte[1 << 20];
    int length;

    Lines(String broker) {
        begin = ascii("{\"broker\":" + quote(broker) + ",\"seq\":");
    }

    /** Adds the line of one row. */
    void add(Chunk chunk, int row) {
        long[] numbers = chunk.numbers;
        int at = row * Chunk.WIDTH;
        reserve(ROW_BYTES + begin.length);
        raw(begin);
        number(numbers[at + Chunk.SEQ]);
        raw(TIME);
        number(numbers[at + Chunk.TIME]);
        codes(numbers[at + Chunk.CODES]);
        for (int i = 0; i < Column.ALL.length; i++) {
            long value = numbers[at + Chunk.FIRST + i];
            if (value != Column.NULL) {
                raw(Column.ALL[i].label);
                number(value);
            }
        }
        int texts = row * Chunk.TEXTS;
        cache(chunk.texts[texts + Chunk.CACHE]);
        text(CURSOR, chunk.texts[texts + Chunk.CURSOR]);
        text(VALUE, chunk.texts[texts + Chunk.VALUE]);
        text(KIND, chunk.texts[texts + Chunk.KIND]);
        reserve(2);
        bytes[length++] = '}';
        bytes[length++] = '\n';
    }

    private void codes(long codes) {
        raw(OPS[(int) codes & 0xff]);
        int cause = (int) (codes >> 8) & 0xff;
        if (cause != 0) {
            raw(CAUSES[cause]);
        }
        int origin = (int) (codes >> 16) & 0xff;
        if (origin != 0) {
            raw(ORIGINS[origin]);
        }
        for (int i = 0; i < FLAGS.length; i++) {
            int flag = (int) (codes >> (24 + 2 * i)) & 3;
            if (flag != 0) {
                raw(FLAGS[i]);
                raw(flag == 3 ? TRUE : FALSE);
            }
        }
    }

    /** Adds the cache's name and keeps its quoted form, because consecutive rows are mostly about the same cache. */
    private void cache(String text) {
        if (text == null) {
            return;
        }
        if (text != name) {
            name = text;
            quoted = ascii(quote(text));
        }
        reserve(CACHE.length + quoted.length);
        raw(CACHE);
        raw(quoted);
    }

    private void text(byte[] label, String text) {
        if (text != null) {
            byte[] quotedText = ascii(quote(text));
            reserve(label.length + quotedText.length);
            raw(label);
            raw(quotedText);
        }
    }

    private void raw(byte[] part) {
        System.arraycopy(part, 0, bytes, length, part.length);
        length += part.length;
    }

    private void number(long value) {
        long rest = value;
        if (rest < 0) {
            bytes[length++] = '-';
            rest = -rest;
        }
        int digits = 1;
        for (long more = rest; more >= 10; more /= 10) {
            digits++;
        }
        for (int i = length + digits - 1; i >= length; i--) {
            bytes[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        length += digits;
    }

    private void reserve(int more) {
        if (length + more > bytes.length) {
            bytes = java.util.Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
        }
    }

    /** Returns a text as JSON, in ASCII. */
    static String quote(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char mark = text.charAt(i);
            if (mark == '"' || mark == '\\') {
                out.append('\\').append(mark);
            } else if (mark < ' ' || mark > '~') {
                out.append(String.format("\\u%04x", (int) mark));
            } else {
                out.append(mark);
            }
        }
        return out.append('"').toString();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[][] labels(String label, Enum<?>[] names) {
        byte[][] result = new byte[names.length][];
        for (Enum<?> each : names) {
            result[each.ordinal()] = ascii(label + each.name() + "\"");
        }
        return result;
    }
}

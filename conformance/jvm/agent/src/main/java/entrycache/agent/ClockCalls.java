package entrycache.agent;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * Turns the clock calls of one class file into calls of {@link Clock}.
 *
 * <p>A call names its target through a method reference of the constant pool. Giving that reference another class is
 * enough: name and descriptor are the same, so no instruction and no stack map changes.
 */
final class ClockCalls {
    private static final String FROM = "java/lang/System";
    private static final String TO = "entrycache/agent/Clock";
    private static final Set<String> METHODS = Set.of("nanoTime()J", "currentTimeMillis()J");

    private static final int UTF8 = 1;
    private static final int LONG = 5;
    private static final int DOUBLE = 6;
    private static final int CLASS = 7;
    private static final int METHOD_REFERENCE = 10;
    private static final int METHOD_HANDLE = 15;

    private static final int WIDE = 0xc4;
    private static final int IINC = 0x84;
    private static final int TABLESWITCH = 0xaa;
    private static final int LOOKUPSWITCH = 0xab;
    private static final int INVOKESTATIC = 0xb8;

    /** The number of bytes of each instruction, by opcode. It is 0 for the three instructions of variable length. */
    private static final byte[] LENGTHS = lengths();

    /** The rewritten class file, or the given one if the class never reads the clock. */
    final byte[] bytes;

    /** The number of instructions and method handles that now read the virtual clock. */
    final int sites;

    private final ByteBuffer in;
    private final int[] constants;

    ClockCalls(byte[] classFile) {
        in = ByteBuffer.wrap(classFile);
        in.position(8);
        constants = new int[u2()];
        for (int i = 1; i < constants.length; i++) {
            constants[i] = in.position();
            int tag = u1();
            skip(constantLength(tag));
            if (tag == LONG || tag == DOUBLE) {
                i++;
            }
        }
        int endOfPool = in.position();
        Set<Integer> calls = clockReferences();
        sites = calls.isEmpty() ? 0 : handles(calls) + instructions(endOfPool, calls);
        bytes = calls.isEmpty() ? classFile : redirected(classFile, endOfPool, calls);
    }

    private int constantLength(int tag) {
        return switch (tag) {
            case UTF8 -> u2();
            case LONG, DOUBLE -> 8;
            case CLASS, 8, 16, 19, 20 -> 2;
            case METHOD_HANDLE -> 3;
            case 3, 4, 9, METHOD_REFERENCE, 11, 12, 17, 18 -> 4;
            default -> throw new IllegalArgumentException("unknown constant pool tag " + tag);
        };
    }

    private Set<Integer> clockReferences() {
        Set<Integer> found = new HashSet<>();
        for (int i = 1; i < constants.length; i++) {
            if (tag(i) == METHOD_REFERENCE && FROM.equals(text(reference(reference(i, 1), 1)))) {
                int nameAndType = reference(i, 3);
                if (METHODS.contains(text(reference(nameAndType, 1)) + text(reference(nameAndType, 3)))) {
                    found.add(i);
                }
            }
        }
        return found;
    }

    private int handles(Set<Integer> calls) {
        int found = 0;
        for (int i = 1; i < constants.length; i++) {
            if (tag(i) == METHOD_HANDLE && calls.contains(reference(i, 2))) {
                found++;
            }
        }
        return found;
    }

    private int instructions(int endOfPool, Set<Integer> calls) {
        in.position(endOfPool + 6);
        skip(2 * u2());
        skipMembers();
        int found = 0;
        for (int methods = u2(); methods > 0; methods--) {
            skip(6);
            for (int attributes = u2(); attributes > 0; attributes--) {
                boolean code = "Code".equals(text(u2()));
                int end = in.getInt() + in.position();
                if (code) {
                    skip(4);
                    found += inCode(in.getInt(), calls);
                }
                in.position(end);
            }
        }
        return found;
    }

    private void skipMembers() {
        for (int members = u2(); members > 0; members--) {
            skip(6);
            for (int attributes = u2(); attributes > 0; attributes--) {
                skip(2);
                skip(in.getInt());
            }
        }
    }

    private int inCode(int length, Set<Integer> calls) {
        int start = in.position();
        int found = 0;
        while (in.position() < start + length) {
            int at = in.position();
            int opcode = u1();
            if (opcode == INVOKESTATIC && calls.contains(u2())) {
                found++;
            }
            in.position(at + instructionLength(opcode, at, start));
        }
        return found;
    }

    private int instructionLength(int opcode, int at, int start) {
        int aligned = at + 4 - (at - start) % 4;
        return switch (opcode) {
            case WIDE -> (in.get(at + 1) & 0xff) == IINC ? 6 : 4;
            case TABLESWITCH -> aligned - at + 12 + 4 * (in.getInt(aligned + 8) - in.getInt(aligned + 4) + 1);
            case LOOKUPSWITCH -> aligned - at + 8 + 8 * in.getInt(aligned + 4);
            default -> LENGTHS[opcode];
        };
    }

    /**
     * Returns the class file with two more constants, the new class and its name, and points the references to them.
     */
    private byte[] redirected(byte[] classFile, int endOfPool, Set<Integer> calls) {
        byte[] changed = classFile.clone();
        ByteBuffer pool = ByteBuffer.wrap(changed);
        pool.putShort(8, (short) (constants.length + 2));
        for (int call : calls) {
            pool.putShort(constants[call] + 1, (short) constants.length);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(changed, 0, endOfPool);
        try (DataOutputStream added = new DataOutputStream(out)) {
            added.writeByte(CLASS);
            added.writeShort(constants.length + 1);
            added.writeByte(UTF8);
            added.writeUTF(TO);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        out.write(changed, endOfPool, changed.length - endOfPool);
        return out.toByteArray();
    }

    private int tag(int constant) {
        return constants[constant] == 0 ? 0 : in.get(constants[constant]);
    }

    private int reference(int constant, int offset) {
        return in.getShort(constants[constant] + offset) & 0xffff;
    }

    private String text(int constant) {
        int at = constants[constant];
        return new String(in.array(), at + 3, in.getShort(at + 1) & 0xffff, StandardCharsets.UTF_8);
    }

    private int u1() {
        return in.get() & 0xff;
    }

    private int u2() {
        return in.getShort() & 0xffff;
    }

    private void skip(int count) {
        in.position(in.position() + count);
    }

    private static byte[] lengths() {
        byte[] lengths = new byte[256];
        // Each pair holds the first opcode of a range and the number of bytes of every instruction in that range.
        int[][] from = {
            {0x00, 1}, {0x10, 2}, {0x11, 3}, {0x12, 2}, {0x13, 3}, {0x15, 2}, {0x1a, 1}, {0x36, 2}, {0x3b, 1},
            {0x84, 3}, {0x85, 1}, {0x99, 3}, {0xa9, 2}, {0xaa, 0}, {0xac, 1}, {0xb2, 3}, {0xb9, 5}, {0xbb, 3},
            {0xbc, 2}, {0xbd, 3}, {0xbe, 1}, {0xc0, 3}, {0xc2, 1}, {0xc4, 0}, {0xc5, 4}, {0xc6, 3}, {0xc8, 5},
            {0xca, 1},
        };
        for (int[] step : from) {
            for (int opcode = step[0]; opcode < lengths.length; opcode++) {
                lengths[opcode] = (byte) step[1];
            }
        }
        return lengths;
    }
}

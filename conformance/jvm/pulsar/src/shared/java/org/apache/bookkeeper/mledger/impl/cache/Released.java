package org.apache.bookkeeper.mledger.impl.cache;

import entrycache.protocol.MissingPart;
import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Access to released objects: making them without their constructors, and reading and setting their fields. */
final class Released {
    private static final Unsafe UNSAFE = (Unsafe) get(field(Unsafe.class, "theUnsafe"), null);

    private Released() {}

    static Field field(Class<?> owner, String name) {
        try {
            Field field = owner.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new MissingPart(owner.getName() + " has no field " + name);
        }
    }

    static Object get(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    static void set(Field field, Object owner, Object value) {
        try {
            field.set(owner, value);
        } catch (IllegalArgumentException e) {
            throw new MissingPart(field + " has another type than the adapter expects");
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes an object without its constructor; no field initialiser runs. */
    static <T> T allocate(Class<T> type) {
        try {
            return type.cast(UNSAFE.allocateInstance(type));
        } catch (InstantiationException e) {
            throw new IllegalStateException(e);
        }
    }
}

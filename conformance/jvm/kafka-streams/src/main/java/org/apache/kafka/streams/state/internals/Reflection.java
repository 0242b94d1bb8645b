package org.apache.kafka.streams.state.internals;

import entrycache.protocol.MissingPart;
import java.lang.reflect.Field;

/** Access to fields of released classes that no method returns. */
final class Reflection {
    private Reflection() {}

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
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}

package entrycache.recorder;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

/** Handles of private members of released classes and of the fields that the recorder adds to them. */
public final class Handles {
    private Handles() { }

    /** Returns the handle of a field. */
    public static VarHandle field(Class<?> owner, String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the handle of a method. */
    public static MethodHandle method(Class<?> owner, String name, Class<?> result, Class<?>... taken) {
        try {
            MethodHandles.Lookup inside = MethodHandles.privateLookupIn(owner, MethodHandles.lookup());
            return inside.findVirtual(owner, name, MethodType.methodType(result, taken));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}

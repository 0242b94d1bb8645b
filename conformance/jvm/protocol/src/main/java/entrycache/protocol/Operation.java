package entrycache.protocol;

import com.google.gson.JsonObject;
import java.util.function.BiFunction;

/**
 * One op of a system.
 *
 * @param name the op's name in the protocol
 * @param calls the released method that it is
 * @param perform does one step on a run and answers its outcome
 */
public record Operation<R>(String name, String calls, BiFunction<R, Args, JsonObject> perform) {}

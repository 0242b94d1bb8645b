package entrycache.protocol;

import com.google.gson.JsonObject;
import java.util.function.BiFunction;

/**
 * One operation of a system.
 *
 * @param name the operation's name in the protocol
 * @param calls the released method that it calls
 * @param perform performs one step on a run and returns its outcome
 */
public record Operation<R>(String name, String calls, BiFunction<R, Args, JsonObject> perform) {}

package entrycache.protocol;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.NoSuchElementException;

/** The arguments of a step, or the keys of a config. Its methods throw with a message that names a missing argument. */
public record Args(JsonObject json) {
    /** Returns whether the argument is present and not null. */
    public boolean has(String name) {
        JsonElement value = json.get(name);
        return value != null && !value.isJsonNull();
    }

    /** Returns a text. */
    public String text(String name) {
        return required(name).getAsString();
    }

    /** Returns a boolean. */
    public boolean flag(String name) {
        return required(name).getAsBoolean();
    }

    /** Returns a boolean, or the default if it is absent. */
    public boolean flag(String name, boolean absent) {
        return has(name) ? flag(name) : absent;
    }

    /** Returns an integer. */
    public long number(String name) {
        return required(name).getAsLong();
    }

    /** Returns an integer, or the default if it is absent. */
    public long number(String name, long absent) {
        return has(name) ? number(name) : absent;
    }

    /** Returns a fraction, or the default if it is absent. */
    public double fraction(String name, double absent) {
        return has(name) ? required(name).getAsDouble() : absent;
    }

    /** Returns a list. */
    public JsonArray list(String name) {
        return required(name).getAsJsonArray();
    }

    private JsonElement required(String name) {
        if (!has(name)) {
            throw new NoSuchElementException("'" + name + "' is missing in " + json);
        }
        return json.get(name);
    }
}

package entrycache.protocol;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.NoSuchElementException;

/** The arguments of a step, or the keys of a config, with a message that names the one that is missing. */
public record Args(JsonObject json) {
    /** Whether it is there and not null. */
    public boolean has(String name) {
        JsonElement value = json.get(name);
        return value != null && !value.isJsonNull();
    }

    /** A text. */
    public String text(String name) {
        return required(name).getAsString();
    }

    /** A truth value. */
    public boolean flag(String name) {
        return required(name).getAsBoolean();
    }

    /** A truth value with a default. */
    public boolean flag(String name, boolean absent) {
        return has(name) ? flag(name) : absent;
    }

    /** An integer. */
    public long number(String name) {
        return required(name).getAsLong();
    }

    /** An integer with a default. */
    public long number(String name, long absent) {
        return has(name) ? number(name) : absent;
    }

    /** A fraction with a default. */
    public double fraction(String name, double absent) {
        return has(name) ? required(name).getAsDouble() : absent;
    }

    /** A list. */
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

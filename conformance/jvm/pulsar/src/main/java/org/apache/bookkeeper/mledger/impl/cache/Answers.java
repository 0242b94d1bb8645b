package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;

/** Arguments of the steps of Pulsar's caches, and the shapes of their outcomes. */
final class Answers {
    private Answers() {}

    static Position position(Args step, String name) {
        JsonArray pair = step.list(name);
        return PositionFactory.create(pair.get(0).getAsLong(), pair.get(1).getAsLong());
    }

    static boolean reversed(Position first, Position last) {
        return first.compareTo(last) > 0;
    }

    static JsonArray json(Position position) {
        JsonArray pair = new JsonArray(2);
        pair.add(position.getLedgerId());
        pair.add(position.getEntryId());
        return pair;
    }

    static JsonObject done() {
        return new JsonObject();
    }

    static JsonObject amount(long entries, long bytes) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty("entries", entries);
        outcome.addProperty("bytes", bytes);
        return outcome;
    }

    static JsonObject flag(String name, boolean value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(name, value);
        return outcome;
    }

    static JsonObject number(String name, long value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(name, value);
        return outcome;
    }

    static JsonObject nullable(String name, Number value) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty(name, value);
        return outcome;
    }

    static JsonObject nullable(String name, Position value) {
        JsonObject outcome = new JsonObject();
        outcome.add(name, value == null ? JsonNull.INSTANCE : json(value));
        return outcome;
    }
}

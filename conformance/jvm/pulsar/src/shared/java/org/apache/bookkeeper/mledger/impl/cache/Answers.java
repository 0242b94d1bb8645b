package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import entrycache.protocol.Coordinates;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.Position;

/** The JSON shapes of the answers of the drivers of Pulsar's caches. */
final class Answers {
    private Answers() {}

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

    /** Returns the delivered entries, with hits and fills apart, and the tokens in that order. */
    static JsonObject served(List<Entry> delivered, Predicate<Entry> isFromStorage) {
        JsonArray hits = new JsonArray();
        JsonArray fills = new JsonArray();
        JsonArray tokens = new JsonArray();
        JsonArray tokensOfFills = new JsonArray();
        for (Entry entry : delivered) {
            boolean filled = isFromStorage.test(entry);
            (filled ? fills : hits).add(json(entry.getPosition()));
            (filled ? tokensOfFills : tokens).add(Payloads.token(entry.getDataBuffer()));
        }
        tokens.addAll(tokensOfFills);
        JsonObject outcome = new JsonObject();
        outcome.add("hits", hits);
        outcome.add("fills", fills);
        outcome.add("tokens", tokens);
        return outcome;
    }

    /** Returns the description of the implementation under test, including its stand-ins. */
    static JsonObject implementation(String standIns) {
        Class<?> released = RangeEntryCacheManagerImpl.class;
        JsonObject implementation = new JsonObject();
        implementation.addProperty("name", "Apache Pulsar managed-ledger");
        implementation.addProperty(
                "version", Objects.requireNonNullElse(released.getPackage().getImplementationVersion(), "unknown"));
        implementation.addProperty("language", "Java");
        implementation.addProperty("source", Coordinates.of(released, "org.apache.pulsar:managed-ledger") + standIns);
        return implementation;
    }

    static JsonArray strings(List<String> values) {
        JsonArray array = new JsonArray();
        values.forEach(array::add);
        return array;
    }
}

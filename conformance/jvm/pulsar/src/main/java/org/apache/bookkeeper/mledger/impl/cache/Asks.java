package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.mledger.Entry;

/**
 * The reads of storage that a step answers, and what each step reports: the reads that were sent to storage, and the
 * reads of callers that ended.
 */
final class Asks {
    /** A read of storage that was not answered yet; {@code entries} makes an answer of its first few entries. */
    private record Ask(boolean isManaged, long length, LongFunction<LedgerEntries> entries, CompletableFuture<LedgerEntries> answer) {}

    private final Map<Long, Ask> open = new TreeMap<>();
    private final Map<String, JsonObject> ended = new TreeMap<>();
    private JsonArray sent = new JsonArray();
    private long next;

    /** True if storage has given a managed ledger fewer entries than it was asked for. */
    private boolean wasShort;

    static Operation<Pip430Run> operation() {
        return new Operation<>("storage_answer", "ReadHandle.readAsync, completed", (run, step) -> {
            run.asks.answer(step);
            return Answers.done();
        });
    }

    /** Sends a read to storage. {@code cache} is null for a read that belongs to no managed ledger. */
    CompletableFuture<LedgerEntries> send(
            String cache, long ledger, long first, long last, LongFunction<LedgerEntries> entries) {
        JsonObject ask = new JsonObject();
        ask.addProperty("ask", next);
        if (cache != null) {
            ask.addProperty("cache", cache);
        }
        ask.addProperty("ledger", ledger);
        ask.addProperty("first", first);
        ask.addProperty("last", last);
        sent.add(ask);
        CompletableFuture<LedgerEntries> answer = new CompletableFuture<>();
        open.put(next++, new Ask(cache != null, last - first + 1, entries, answer));
        return answer;
    }

    private void answer(Args step) {
        Ask ask = open.get(step.number("ask"));
        Refused.unless(ask != null, "no such ask is open");
        JsonPrimitive answer = step.json().get("answer").getAsJsonPrimitive();
        Refused.unless(
                !answer.isNumber() || answer.getAsLong() > 0 && answer.getAsLong() < ask.length,
                "not fewer entries than all");
        open.remove(step.number("ask"));
        if (answer.isNumber()) {
            wasShort |= ask.isManaged;
            ask.answer.complete(ask.entries.apply(answer.getAsLong()));
        } else if (answer.getAsString().equals("all")) {
            ask.answer.complete(ask.entries.apply(ask.length));
        } else {
            ask.answer.completeExceptionally(BKException.create(
                    answer.getAsString().equals("busy")
                            ? BKException.Code.TooManyRequestsException
                            : BKException.Code.ReadException));
        }
    }

    /** Remembers that a read ended with these entries. */
    void delivered(String read, List<Entry> entries) {
        JsonArray positions = new JsonArray();
        entries.forEach(entry -> positions.add(Answers.json(entry.getPosition())));
        end(read, "entries", positions);
    }

    /** Remembers that a read failed. */
    void failed(String read) {
        end(read, "error", new JsonPrimitive("read-failed"));
    }

    private void end(String read, String key, JsonElement value) {
        JsonObject end = new JsonObject();
        end.addProperty("read", read);
        end.add(key, value);
        ended.put(read, end);
    }

    /** Adds what the step has to report to its outcome. */
    void report(JsonObject outcome) {
        if (!sent.isEmpty()) {
            outcome.add("asked", sent);
            sent = new JsonArray();
        }
        if (!ended.isEmpty()) {
            JsonArray done = new JsonArray();
            ended.values().forEach(done::add);
            outcome.add("done", done);
            ended.clear();
        }
    }

    /** Returns whether storage has given a managed ledger fewer entries than it was asked for. */
    boolean wasShort() {
        return wasShort;
    }

    /** Answers every ask with all of its entries; returns whether there was one. */
    boolean answerAll() {
        List<Ask> asks = new ArrayList<>(open.values());
        open.clear();
        asks.forEach(ask -> ask.answer.complete(ask.entries.apply(ask.length)));
        return !asks.isEmpty();
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.json;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.reversed;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import entrycache.protocol.Args;
import entrycache.protocol.MissingPart;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.bookkeeper.client.BKException;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.client.impl.LedgerEntriesImpl;
import org.apache.bookkeeper.client.impl.LedgerEntryImpl;
import org.apache.bookkeeper.mledger.AsyncCallbacks;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.bookkeeper.mledger.ManagedLedgerException;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerFactoryImpl;
import org.apache.bookkeeper.mledger.impl.ManagedLedgerImpl;

/**
 * The operations of level {@code pending}: the released table of pending reads, over storage that answers when a step
 * says so.
 *
 * <p>The table belongs to a cache of its own, which stays empty because no read expects another one.
 */
final class PendingOps {
    private static final Field TABLE = Released.field(RangeEntryCacheImpl.class, "pendingReadsManager");
    private static final long ANY_TTL = 1_000_000_000;
    private static final int ENTRY_SIZE = 1;

    /** A read of storage that was not answered yet. */
    private record Ask(long ledger, long first, long last, CompletableFuture<LedgerEntries> answer) {}

    private final Payloads payloads;
    private final List<Ask> asks = new ArrayList<>();
    private final Set<Integer> open = new HashSet<>();
    private final Set<String> reads = new HashSet<>();
    private final Map<Long, ReadHandle> handles = new TreeMap<>();
    private JsonArray asked = new JsonArray();
    private Map<String, JsonObject> done = new TreeMap<>();
    private PendingReadsManager table;

    PendingOps(Payloads payloads) {
        this.payloads = payloads;
    }

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("fetch", "PendingReadsManager.readEntries", (run, step) -> run.pending.fetch(step)),
                new Operation<>(
                        "storage_answer", "ReadHandle.readAsync, completed", (run, step) -> run.pending.answer(step)));
    }

    private JsonObject fetch(Args step) {
        Position first = position(step, "first");
        Position last = position(step, "last");
        String name = step.text("read");
        Refused.unless(first.getLedgerId() == last.getLedgerId(), "a read over two ledgers");
        Refused.unless(!reversed(first, last), "the range is reversed");
        Refused.unless(reads.add(name), "the read has not ended");
        ReadHandle handle = handles.computeIfAbsent(first.getLedgerId(), this::handle);
        Era.readPending(
                table(), handle, first.getEntryId(), last.getEntryId(), () -> Era.NO_COUNT, new Fetched(name));
        return report();
    }

    private JsonObject answer(Args step) {
        int number = Math.toIntExact(step.number("ask"));
        Refused.unless(open.contains(number), "no such ask is open");
        Ask ask = asks.get(number);
        JsonElement answer = step.json().get("answer");
        boolean isNumber = answer.getAsJsonPrimitive().isNumber();
        long length = ask.last - ask.first + 1;
        Refused.unless(
                !isNumber || (answer.getAsLong() > 0 && answer.getAsLong() < length), "not fewer entries than all");
        open.remove(number);
        if (!isNumber && !answer.getAsString().equals("all")) {
            ask.answer.completeExceptionally(BKException.create(
                    answer.getAsString().equals("busy")
                            ? BKException.Code.TooManyRequestsException
                            : BKException.Code.ReadException));
        } else {
            ask.answer.complete(entries(ask, isNumber ? answer.getAsLong() : length));
        }
        return report();
    }

    /** Answers all open asks, so that no read keeps what it was given. */
    void finish() {
        for (int number : List.copyOf(open)) {
            Ask ask = asks.get(number);
            ask.answer.complete(entries(ask, ask.last - ask.first + 1));
        }
    }

    private JsonObject report() {
        JsonObject outcome = new JsonObject();
        if (!asked.isEmpty()) {
            outcome.add("asked", asked);
        }
        if (!done.isEmpty()) {
            JsonArray ended = new JsonArray();
            done.values().forEach(ended::add);
            outcome.add("done", ended);
        }
        asked = new JsonArray();
        done = new TreeMap<>();
        return outcome;
    }

    /** Makes the table when it is first needed, because each manager of caches allocates a large queue. */
    private PendingReadsManager table() {
        if (table == null) {
            ManagedLedgerFactoryImpl factory = Neighbours.factory(new ManagedLedgerFactoryConfig(), ANY_TTL);
            RangeEntryCacheManagerImpl manager = new RangeEntryCacheManagerImpl(factory, null, OpenTelemetry.noop());
            ManagedLedgerImpl ledger = Neighbours.ledger("pending", factory);
            Era.complete(ledger);
            EntryCache cache = manager.getEntryCache(ledger);
            table = (PendingReadsManager) Released.get(TABLE, cache);
        }
        return table;
    }

    private ReadHandle handle(long ledger) {
        return (ReadHandle) Proxy.newProxyInstance(
                PendingOps.class.getClassLoader(), new Class<?>[] {ReadHandle.class}, (proxy, method, given) -> {
                    switch (method.getName()) {
                        case "getId":
                            return ledger;
                        case "readAsync":
                            return ask(ledger, (Long) given[0], (Long) given[1]);
                        case "closeAsync":
                            return CompletableFuture.completedFuture(null);
                        case "toString":
                            return "ledger " + ledger;
                        default:
                            throw new MissingPart("the adapter has no " + method);
                    }
                });
    }

    private CompletableFuture<LedgerEntries> ask(long ledger, long first, long last) {
        Ask ask = new Ask(ledger, first, last, new CompletableFuture<>());
        JsonObject sent = new JsonObject();
        sent.addProperty("ask", asks.size());
        sent.addProperty("ledger", ledger);
        sent.addProperty("first", first);
        sent.addProperty("last", last);
        asked.add(sent);
        open.add(asks.size());
        asks.add(ask);
        return ask.answer;
    }

    private LedgerEntries entries(Ask ask, long count) {
        List<LedgerEntry> entries = new ArrayList<>();
        for (long id = ask.first; id < ask.first + count; id++) {
            entries.add(LedgerEntryImpl.create(ask.ledger, id, ENTRY_SIZE, payloads.message(ENTRY_SIZE, id)));
        }
        return LedgerEntriesImpl.create(entries);
    }

    /** The end of a read. */
    private final class Fetched implements AsyncCallbacks.ReadEntriesCallback {
        private final String name;

        Fetched(String name) {
            this.name = name;
        }

        @Override
        public void readEntriesComplete(List<Entry> entries, Object context) {
            JsonArray positions = new JsonArray();
            entries.forEach(entry -> positions.add(json(entry.getPosition())));
            entries.forEach(Entry::release);
            end("entries", positions);
        }

        @Override
        public void readEntriesFailed(ManagedLedgerException failure, Object context) {
            end("error", new JsonPrimitive("read-failed"));
        }

        private void end(String key, JsonElement value) {
            JsonObject ended = new JsonObject();
            ended.addProperty("read", name);
            ended.add(key, value);
            reads.remove(name);
            done.put(name, ended);
        }
    }
}

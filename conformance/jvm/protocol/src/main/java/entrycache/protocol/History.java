package entrycache.protocol;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;

/**
 * One history: the steps before, the steps of each client on its own thread, and the steps after.
 *
 * <p>The steps before belong to client -1. The steps after belong to the client whose number follows the last one. One
 * shared counter is incremented before and after each step.
 */
final class History<R> {
    private static final long STACK_BYTES = 1L << 24;

    /** The number of spins after which a client that waits for the others begins to yield its processor. */
    private static final int SPINS = 100_000;

    private final R run;
    private final BiFunction<R, Args, JsonObject> perform;
    private final AtomicLong clock = new AtomicLong();
    private final AtomicReference<Failure> failure = new AtomicReference<>();

    /** The first step that threw an exception that the protocol does not name. */
    private record Failure(int client, int step, String op, Throwable thrown) {}

    History(R run, BiFunction<R, Args, JsonObject> perform) {
        this.run = run;
        this.perform = perform;
    }

    /** Plays the history and returns its events, client by client. */
    JsonArray play(Args request) throws InterruptedException {
        JsonArray clients = request.list("clients");
        JsonArray events = new JsonArray();
        play(-1, request.list("before"), events);
        together(clients, events);
        play(clients.size(), request.list("after"), events);
        return events;
    }

    private void together(JsonArray clients, JsonArray events) throws InterruptedException {
        AtomicInteger awaited = new AtomicInteger(clients.size());
        List<JsonArray> parts = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < clients.size(); number++) {
            int client = number;
            JsonArray part = new JsonArray();
            parts.add(part);
            Runnable steps = () -> {
                awaited.decrementAndGet();
                for (int spins = 0; awaited.get() > 0; spins++) {
                    if (spins < SPINS) {
                        Thread.onSpinWait();
                    } else {
                        Thread.yield();
                    }
                }
                play(client, clients.get(client).getAsJsonArray(), part);
            };
            threads.add(new Thread(null, steps, "client " + client, STACK_BYTES));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        parts.forEach(events::addAll);
    }

    private void play(int client, JsonArray steps, JsonArray events) {
        for (int number = 0; number < steps.size() && failure.get() == null; number++) {
            Args step = new Args(steps.get(number).getAsJsonObject());
            JsonObject event = new JsonObject();
            event.addProperty("client", client);
            event.addProperty("step", number);
            event.addProperty("start", clock.incrementAndGet());
            JsonElement outcome;
            try {
                outcome = perform.apply(run, step);
            } catch (Throwable thrown) {
                failure.compareAndSet(null, new Failure(client, number, step.text("op"), thrown));
                return;
            }
            event.addProperty("end", clock.incrementAndGet());
            event.add("outcome", outcome);
            events.add(event);
        }
    }

    /** Returns the exception that the protocol does not name, or null if no step threw one. */
    Throwable thrown() {
        return failure.get() == null ? null : failure.get().thrown();
    }

    /** Returns a message that names the step that threw and its exception. */
    String failed() {
        Failure first = failure.get();
        return "client " + first.client() + ", step " + first.step() + " (" + first.op() + "): " + first.thrown();
    }
}

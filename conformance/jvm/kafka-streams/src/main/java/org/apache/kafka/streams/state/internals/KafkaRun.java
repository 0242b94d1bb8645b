package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * One run: a released thread cache, the stores above it, and the calls back that a step brings about.
 *
 * <p>A step is performed by the released code; so is a step inside a call back, whose outcome goes into the record of
 * that call. What a step answers besides its outcome is the list of all calls that began during it. The clients of a
 * history share one run.
 */
final class KafkaRun {
    static final Map<String, Operation<KafkaRun>> OPERATIONS = KafkaStreamsAdapter.all().stream()
            .collect(Collectors.toMap(Operation::name, Function.identity(), (one, other) -> one, TreeMap::new));

    final ThreadCache cache;
    final StreamsMetricsImpl metrics;
    final Map<String, CachedStore> stores = new HashMap<>();

    private final long reentryBudget;
    private final ThreadLocal<Calls> calls = ThreadLocal.withInitial(Calls::new);

    /** What was called during the step that a thread is in. */
    private static final class Calls {
        final JsonArray flushed = new JsonArray();
        final JsonArray forwarded = new JsonArray();
        long count;
    }

    KafkaRun(Args config) {
        Metrics registry = new Metrics(new MetricConfig(), List.of(), StandingTime.INSTANCE);
        metrics = Era.metrics(registry, StandingTime.INSTANCE);
        cache = new ThreadCache(new LogContext(), config.number("max_size_bytes", 10_485_760), metrics);
        reentryBudget = config.number("reentry_budget", 8);
    }

    /** A name of the protocol as the released code wants it, with a task before the first hyphen; a store's is made so. */
    static String namespace(Args step) {
        return ThreadCache.nameSpaceFromTaskIdAndStore(Context.TASK.toString(), step.text("ns"));
    }

    /** A step of the run, with what was called during it. */
    JsonObject step(Args step) {
        Calls during = new Calls();
        calls.set(during);
        Watchdog.Step watched = Watchdog.INSTANCE.begins(this);
        try {
            JsonObject outcome = perform(step);
            if (!during.flushed.isEmpty()) {
                outcome.add("flushed", during.flushed);
            }
            if (!during.forwarded.isEmpty()) {
                outcome.add("forwarded", during.forwarded);
            }
            return outcome;
        } finally {
            Watchdog.INSTANCE.ends(watched);
        }
    }

    /** A listener was called: written down at once; its steps run unless it is to fail or the budget is used up. */
    void flushed(JsonObject call, JsonArray steps, boolean fails) {
        calls.get().flushed.add(call);
        called(call, steps, fails);
    }

    /** An entry was forwarded downstream. */
    void forwarded(JsonObject call, JsonArray steps) {
        calls.get().forwarded.add(call);
        called(call, steps, false);
    }

    private void called(JsonObject call, JsonArray steps, boolean fails) {
        JsonArray inner = new JsonArray();
        call.add("inner", inner);
        boolean performs = calls.get().count++ < reentryBudget;
        if (fails) {
            throw new ListenerFailed();
        }
        if (performs) {
            for (JsonElement each : steps) {
                inner.add(perform(new Args(each.getAsJsonObject())));
            }
        }
    }

    private JsonObject perform(Args step) {
        Operation<KafkaRun> operation = OPERATIONS.get(step.text("op"));
        if (operation == null) {
            throw new UnsupportedOperationException("unknown op '" + step.text("op") + "'");
        }
        try {
            return operation.perform().apply(this, step);
        } catch (ListenerFailed e) {
            return error("listener-failed", e);
        } catch (IllegalStateException e) {
            return error("illegal-state", e);
        } catch (IllegalArgumentException e) {
            return error("illegal-argument", e);
        }
    }

    private static JsonObject error(String name, RuntimeException thrown) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty("error", name);
        outcome.addProperty("message", String.valueOf(thrown.getMessage()));
        return outcome;
    }

    /** What a listener throws that is told to fail. */
    private static final class ListenerFailed extends RuntimeException {
        private static final long serialVersionUID = 1;

        ListenerFailed() {
            super("the listener was told to fail", null, false, false);
        }
    }
}

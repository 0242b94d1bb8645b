package org.apache.kafka.streams.state.internals;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.internals.metrics.StreamsMetricsImpl;

/**
 * One run: a released thread cache, the stores above it, and the callbacks that a step causes.
 *
 * <p>The released code performs each step. It also performs the steps inside a callback, whose outcomes go into the
 * record of that callback. Besides its outcome, a step answers the list of all callbacks that began during it. The
 * clients of a history share one run.
 */
final class KafkaRun {
    static final Map<String, Operation<KafkaRun>> OPERATIONS = KafkaStreamsAdapter.all().stream()
            .collect(Collectors.toMap(Operation::name, Function.identity(), (one, other) -> one, TreeMap::new));

    final ThreadCache cache;
    final StreamsMetricsImpl metrics;
    final Map<String, CachedStore> stores = new HashMap<>();
    final List<CachedStore> opened = new ArrayList<>();
    final Map<String, ViewOps.OpenView> views = new HashMap<>();

    private final long reentryBudget;
    private File folder;
    private final ThreadLocal<Calls> calls = ThreadLocal.withInitial(Calls::new);

    /** The callbacks during the current step of a thread. */
    private static final class Calls {
        final JsonArray flushed = new JsonArray();
        final JsonArray forwarded = new JsonArray();
        long count;
    }

    KafkaRun(Args config) {
        Metrics registry = new Metrics(new MetricConfig(), List.of(), StandingTime.INSTANCE);
        metrics = Era.metrics(registry, StandingTime.INSTANCE);
        cache = Era.cache(config.number("max_size_bytes", 10_485_760), metrics);
        reentryBudget = config.number("reentry_budget", 8);
    }

    /**
     * Returns the namespace as the released code expects it, with a task before the first hyphen, as in the name of a
     * store.
     */
    static String namespace(Args step) {
        return ThreadCache.nameSpaceFromTaskIdAndStore(Context.TASK.toString(), step.text("ns"));
    }

    /** Returns the folder of a store on disk; the first of them creates the one of the run. */
    synchronized File folder(int store) {
        if (folder == null) {
            folder = RocksStores.folder();
        }
        File own = new File(folder, String.valueOf(store));
        own.mkdir();
        return own;
    }

    /** Closes the stores on disk, if there are any. */
    void close() {
        if (folder != null) {
            views.values().forEach(view -> view.iterator().close());
            RocksStores.close(opened, folder);
        }
    }

    /** Performs a step and returns its outcome with the callbacks during it. */
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

    /** Records a call of a listener. Its steps run unless the listener must fail or the budget is used up. */
    void flushed(JsonObject call, JsonArray steps, boolean fails) {
        calls.get().flushed.add(call);
        called(call, steps, fails);
    }

    /** Records that an entry was forwarded downstream, which throws if it must fail. */
    void forwarded(JsonObject call, JsonArray steps, boolean fails) {
        calls.get().forwarded.add(call);
        called(call, steps, fails);
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
        } catch (IllegalStateException | InvalidStateStoreException e) {
            return error("illegal-state", e);
        } catch (IllegalArgumentException e) {
            return error("illegal-argument", e);
        } catch (RuntimeException e) {
            // A store that closes wraps what its flush has thrown.
            if (e.getCause() instanceof ListenerFailed) {
                return error("listener-failed", e);
            }
            throw e;
        }
    }

    private static JsonObject error(String name, RuntimeException thrown) {
        JsonObject outcome = new JsonObject();
        outcome.addProperty("error", name);
        outcome.addProperty("message", String.valueOf(thrown.getMessage()));
        return outcome;
    }

    /** The exception of a listener, or of a forward, that must fail. */
    private static final class ListenerFailed extends RuntimeException {
        private static final long serialVersionUID = 1;

        ListenerFailed() {
            super("the listener failed as requested", null, false, false);
        }
    }
}

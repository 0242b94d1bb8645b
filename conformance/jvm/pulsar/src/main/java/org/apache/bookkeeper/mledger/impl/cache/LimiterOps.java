package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.nullable;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.number;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.MissingPart;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The operations of level {@code limits}: the released limiter of reads in flight, in virtual time.
 *
 * <p>The limiter schedules its check for timeouts; the check runs at the end of each {@code advance}.
 */
final class LimiterOps {
    private final InflightReadsLimiter limiter;
    private final Map<String, InflightReadsLimiter.Handle> out = new HashMap<>();
    private final Set<String> waiting = new HashSet<>();
    private JsonArray decided = new JsonArray();
    private Runnable check;

    LimiterOps(Args config) {
        var executor = (ScheduledExecutorService) Proxy.newProxyInstance(
                LimiterOps.class.getClassLoader(), new Class<?>[] {ScheduledExecutorService.class}, (proxy, method, given) -> {
            if (!method.getName().equals("schedule")) {
                throw new MissingPart("the adapter has no " + method);
            }
            check = (Runnable) given[0];
            return null;
        });
        limiter = new InflightReadsLimiter(
                config.number("max_reads_in_flight_bytes", 0),
                Math.toIntExact(config.number("acquire_queue", 50_000)),
                config.number("acquire_timeout_millis", 60_000),
                executor,
                OpenTelemetry.noop());
    }

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("acquire", "InflightReadsLimiter.acquire", (run, step) -> run.limiter.acquire(step)),
                new Operation<>("give_back", "InflightReadsLimiter.release", (run, step) -> run.limiter.giveBack(step)),
                new Operation<>("limiter", "InflightReadsLimiter.getRemainingBytes", (run, step) -> run.limiter.state()));
    }

    /** Runs the check for timeouts if one is scheduled, and returns what it decided. */
    JsonObject elapsed() {
        Runnable due = check;
        check = null;
        if (due != null) {
            due.run();
        }
        return decisions();
    }

    private JsonObject acquire(Args step) {
        String name = step.text("id");
        long permits = step.number("permits");
        Refused.unless(!limiter.isDisabled(), "there is no limit");
        Refused.unless(permits >= 1, "no permits are asked for");
        Refused.unless(!out.containsKey(name) && !waiting.contains(name), "the name is in use");
        Optional<InflightReadsLimiter.Handle> now = limiter.acquire(permits, handle -> decide(name, handle));
        if (now.isEmpty()) {
            waiting.add(name);
            return nullable("permits", (Number) null);
        }
        if (!now.get().success()) {
            return number("permits", 0);
        }
        out.put(name, now.get());
        return number("permits", now.get().permits());
    }

    private void decide(String name, InflightReadsLimiter.Handle handle) {
        waiting.remove(name);
        if (handle.success()) {
            out.put(name, handle);
        }
        JsonArray decision = new JsonArray(2);
        decision.add(name);
        decision.add(handle.success() ? handle.permits() : 0);
        decided.add(decision);
    }

    private JsonObject giveBack(Args step) {
        InflightReadsLimiter.Handle handle = out.remove(step.text("id"));
        Refused.unless(handle != null, "no permits are out under this name");
        limiter.release(handle);
        return decisions();
    }

    private JsonObject state() {
        JsonObject outcome = number("free", limiter.isDisabled() ? 0 : limiter.getRemainingBytes());
        outcome.addProperty("waiting", waiting.size());
        return outcome;
    }

    private JsonObject decisions() {
        JsonObject outcome = new JsonObject();
        if (!decided.isEmpty()) {
            outcome.add("granted", decided);
            decided = new JsonArray();
        }
        return outcome;
    }
}

package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.nullable;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.number;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import io.opentelemetry.api.OpenTelemetry;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.bookkeeper.mledger.ManagedLedgerFactoryConfig;

/**
 * The operations of level {@code limits}: the released limiter of reads in flight, in virtual time. Where storage is
 * held, reads of managed ledgers take the permits; elsewhere requests by name do.
 *
 * <p>The limiter schedules its check for timeouts; the check runs at the end of each {@code advance}.
 */
final class LimiterOps {
    private static final Field LIMITER = Released.field(RangeEntryCacheManagerImpl.class, "inflightReadsLimiter");
    private static final InflightReadsLimiter NO_LIMIT = new InflightReadsLimiter(0, 0, 0, null, OpenTelemetry.noop());
    private static final Field QUEUE = Released.field(InflightReadsLimiter.class, "queuedHandles");

    private final RangeEntryCacheManagerImpl manager;
    private final InflightReadsLimiter limiter;
    private final Tasks tasks;
    private final Map<String, InflightReadsLimiter.Handle> out = new HashMap<>();
    private final Set<String> waiting = new HashSet<>();
    private JsonArray decided = new JsonArray();

    /** True if reads of managed ledgers take permits of this limiter. */
    private final boolean sharesLimiter;

    /** Takes the manager's limiter if it has a limit, and else makes one that nobody but steps asks. */
    LimiterOps(RangeEntryCacheManagerImpl manager, ManagedLedgerFactoryConfig settings, long limit, Tasks tasks) {
        this.manager = manager;
        this.tasks = tasks;
        sharesLimiter = settings.getManagedLedgerMaxReadsInFlightSize() > 0;
        limiter = sharesLimiter
                ? manager.getInflightReadsLimiter()
                : new InflightReadsLimiter(
                        limit,
                        settings.getManagedLedgerMaxReadsInFlightPermitsAcquireQueueSize(),
                        settings.getManagedLedgerMaxReadsInFlightPermitsAcquireTimeoutMillis(),
                        tasks.remembering(),
                        OpenTelemetry.noop());
    }

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("acquire", "InflightReadsLimiter.acquire", (run, step) -> run.limiter.acquire(step)),
                new Operation<>("give_back", "InflightReadsLimiter.release", (run, step) -> run.limiter.giveBack(step)),
                new Operation<>("limiter", "InflightReadsLimiter.getRemainingBytes", (run, step) -> run.limiter.state()));
    }

    /** Runs the check for timeouts if one is scheduled, and returns what it decided on requests by name. */
    JsonObject elapsed() {
        tasks.runScheduled();
        return decisions();
    }

    /** Reads with a manager that has no limit: only reads of managed ledgers take permits. */
    <T> T unlimited(Supplier<T> read) {
        InflightReadsLimiter own = manager.getInflightReadsLimiter();
        Released.set(LIMITER, manager, NO_LIMIT);
        try {
            return read.get();
        } finally {
            Released.set(LIMITER, manager, own);
        }
    }

    private JsonObject acquire(Args step) {
        String name = step.text("id");
        long permits = step.number("permits");
        Refused.unless(!limiter.isDisabled(), "there is no limit");
        Refused.unless(!sharesLimiter, "cursors take the permits");
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
        outcome.addProperty("waiting", limiter.isDisabled() ? 0 : ((Queue<?>) Released.get(QUEUE, limiter)).size());
        return outcome;
    }

    /** Fails the reads that wait for permits; returns whether there was one. */
    boolean failWaiting() {
        Queue<?> queue = (Queue<?>) Released.get(QUEUE, limiter);
        List<Object> waiters = queue == null ? List.of() : List.copyOf(queue);
        waiters.forEach(waiter -> {
            queue.remove(waiter);
            ((InflightReadsLimiter.QueuedHandle) waiter).callback().accept(new InflightReadsLimiter.Handle(0, 0, false));
        });
        return !waiters.isEmpty();
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

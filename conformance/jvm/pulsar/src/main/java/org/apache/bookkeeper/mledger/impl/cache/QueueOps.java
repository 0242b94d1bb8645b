package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.amount;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.nullable;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;

import com.google.gson.JsonObject;
import entrycache.agent.Clock;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.bookkeeper.mledger.EntryReadCountHandler;
import org.apache.commons.lang3.tuple.Pair;

/**
 * The operations of level {@code queue}: time, the two passes over the removal queue, counts of expected reads.
 *
 * <p>The released code accepts a negative time but the protocol refuses it, so this class checks that argument.
 */
final class QueueOps {
    private QueueOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("advance", "the virtual clock, InflightReadsLimiter.timeoutCheck", QueueOps::advance),
                new Operation<>(
                        "expire",
                        "RangeEntryCacheManagerEvictionHandler.invalidateEntriesBeforeTimestampNanos",
                        QueueOps::expire),
                new Operation<>("evict", "RangeEntryCacheManagerEvictionHandler.evictEntries", QueueOps::evict),
                new Operation<>("mark_read", "EntryReadCountHandler.markRead", QueueOps::markRead),
                new Operation<>(
                        "expect_read", "EntryReadCountHandler.incrementExpectedReadCount", QueueOps::expectRead));
    }

    private static JsonObject advance(Pip430Run run, Args step) {
        long nanos = step.number("nanos");
        Refused.unless(nanos >= 0, "time does not go back");
        Clock.advance(nanos);
        return run.limiter.elapsed();
    }

    private static JsonObject expire(Pip430Run run, Args step) {
        long olderThan = step.number("older_than_nanos", run.factory.getCacheEvictionTimeThreshold());
        Refused.unless(olderThan >= 0, "the age is negative");
        return run.leaving(() -> run.handler.invalidateEntriesBeforeTimestampNanos(Clock.nanoTime() - olderThan));
    }

    private static JsonObject evict(Pip430Run run, Args step) {
        long bytes = step.number("bytes");
        Refused.unless(bytes > 0, "nothing to free");
        Pair<Integer, Long> removed = run.handler.evictEntries(bytes);
        return amount(removed.getLeft(), removed.getRight());
    }

    private static JsonObject markRead(Pip430Run run, Args step) {
        return count(run, step, EntryReadCountHandler::markRead);
    }

    private static JsonObject expectRead(Pip430Run run, Args step) {
        return count(run, step, EntryReadCountHandler::incrementExpectedReadCount);
    }

    /** Changes the count of a cached entry without reading the entry, because a read would mark it as accessed. */
    private static JsonObject count(Pip430Run run, Args step, Consumer<EntryReadCountHandler> change) {
        Optional<EntryReadCountHandler> counted = Optional.ofNullable(
                        Era.wrapper(run.named(step).range(), position(step, "pos")))
                .map(wrapper -> wrapper.value.getReadCountHandler());
        counted.ifPresent(change);
        return nullable("expected_reads", counted.map(EntryReadCountHandler::getExpectedReadCount).orElse(null));
    }
}

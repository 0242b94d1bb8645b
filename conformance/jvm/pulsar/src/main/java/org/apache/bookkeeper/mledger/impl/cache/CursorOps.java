package org.apache.bookkeeper.mledger.impl.cache;

import static org.apache.bookkeeper.mledger.impl.cache.Answers.done;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.flag;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.nullable;
import static org.apache.bookkeeper.mledger.impl.cache.Answers.number;
import static org.apache.bookkeeper.mledger.impl.cache.Positions.position;

import com.google.gson.JsonObject;
import entrycache.protocol.Args;
import entrycache.protocol.Operation;
import entrycache.protocol.Refused;
import java.util.List;
import org.apache.bookkeeper.mledger.Position;

/**
 * The operations of level {@code cursors}: the container of active cursors of one cache.
 *
 * <p>A container keeps the cursor and only reads its name and whether it is durable. So a cursor is a released object
 * made without its constructor, with nothing but a name.
 */
final class CursorOps {
    private static final String CONTAINER = "ActiveManagedCursorContainer.";

    private CursorOps() {}

    static List<Operation<Pip430Run>> operations() {
        return List.of(
                new Operation<>("cursor_add", CONTAINER + "add", CursorOps::add),
                new Operation<>("cursor_move", CONTAINER + "updateCursor", CursorOps::move),
                new Operation<>("cursor_remove", CONTAINER + "removeCursor", CursorOps::remove),
                new Operation<>("cursor_rank", CONTAINER + "getNumberOfCursorsAtSamePositionOrBefore", CursorOps::rank),
                new Operation<>("slowest", CONTAINER + "getSlowestCursorPosition", CursorOps::slowest),
                new Operation<>("cursors", CONTAINER + "size", CursorOps::cursors),
                new Operation<>(
                        "should_cache",
                        CONTAINER + "shouldCacheAddedEntry, its grace period given to the constructor",
                        CursorOps::shouldCache));
    }

    private static JsonObject add(Pip430Run run, Args step) {
        Position position = step.has("pos") ? position(step, "pos") : null;
        run.container(step).add(run.cursor(step), position);
        return done();
    }

    private static JsonObject move(Pip430Run run, Args step) {
        Position position = step.has("pos") ? position(step, "pos") : null;
        run.container(step).updateCursor(run.cursor(step), position);
        return done();
    }

    private static JsonObject remove(Pip430Run run, Args step) {
        return flag("removed", run.container(step).removeCursor(step.text("cursor")));
    }

    /**
     * Returns the rank of a cursor. The heap container has no ranks: the protocol refuses the query, and the released
     * code throws.
     */
    private static JsonObject rank(Pip430Run run, Args step) {
        Refused.unless(run.ranks, "no rank without evict_by_expected_reads");
        return number("rank", run.container(step).getNumberOfCursorsAtSamePositionOrBefore(run.cursor(step)));
    }

    private static JsonObject slowest(Pip430Run run, Args step) {
        return nullable("pos", run.container(step).getSlowestCursorPosition());
    }

    private static JsonObject cursors(Pip430Run run, Args step) {
        return number("members", run.container(step).size());
    }

    private static JsonObject shouldCache(Pip430Run run, Args step) {
        return flag("should_cache", run.container(step).shouldCacheAddedEntry());
    }
}

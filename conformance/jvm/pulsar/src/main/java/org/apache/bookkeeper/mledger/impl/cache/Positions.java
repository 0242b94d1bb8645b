package org.apache.bookkeeper.mledger.impl.cache;

import com.google.gson.JsonArray;
import entrycache.protocol.Args;
import org.apache.bookkeeper.mledger.Position;
import org.apache.bookkeeper.mledger.PositionFactory;

/** Access to the positions among the arguments of a step. */
final class Positions {
    private Positions() {}

    static Position position(Args step, String name) {
        JsonArray pair = step.list(name);
        return PositionFactory.create(pair.get(0).getAsLong(), pair.get(1).getAsLong());
    }

    static boolean reversed(Position first, Position last) {
        return first.compareTo(last) > 0;
    }
}

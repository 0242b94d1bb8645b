package org.apache.kafka.streams.state.internals;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that always reads the same. The sensors of a cache read it, but no answer shows it. */
enum StandingTime implements Time {
    INSTANCE;

    @Override
    public long milliseconds() {
        return 0;
    }

    @Override
    public long nanoseconds() {
        return 0;
    }

    @Override
    public void sleep(long millis) {
        throw new UnsupportedOperationException("time stands still");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long untilMillis) {
        throw new UnsupportedOperationException("time stands still");
    }
}

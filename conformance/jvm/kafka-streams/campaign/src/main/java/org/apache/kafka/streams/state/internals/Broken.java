package org.apache.kafka.streams.state.internals;

/** A promise is broken: the world ends here. */
final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;

    final String promise;

    Broken(String promise) {
        super(promise, null, false, false);
        this.promise = promise;
    }

    static void unless(boolean holds, String promise) {
        if (!holds) {
            throw new Broken(promise);
        }
    }
}

package org.apache.kafka.streams.state.internals;

/** The exception that ends a case when the released cache breaks a promise. */
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

package entrycache.protocol;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.OptionalLong;

/**
 * One system of one released implementation.
 *
 * @param <R> a run: a fresh instance and the state that its steps have produced
 */
public interface Adapter<R> {
    /** Returns the system's key in the protocol. */
    String system();

    /** Returns the name, version, language and source of the implementation under test. */
    JsonObject implementation();

    /** Returns the system's declaration in the answer to {@code start}, without its ops. */
    JsonObject declares();

    /** Returns all operations. */
    List<Operation<R>> operations();

    /** Opens an empty instance. */
    R open(Args config);

    /** Returns the maximum number of clients of a history; 1 if a run is for one thread only. */
    default int threads() {
        return 1;
    }

    /**
     * Releases everything of a run and returns the references to buffers that remain; empty if the system declares no
     * leaks.
     */
    default OptionalLong leaked(R run) {
        return OptionalLong.empty();
    }

    /**
     * Ends a run, also one that failed: releases what its instance holds outside the heap, such as native buffers or
     * threads.
     */
    default void close(R run) {}
}

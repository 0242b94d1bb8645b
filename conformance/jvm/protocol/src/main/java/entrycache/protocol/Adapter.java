package entrycache.protocol;

import com.google.gson.JsonObject;
import java.util.List;
import java.util.OptionalLong;

/**
 * One system of one released implementation.
 *
 * @param <R> a run: a fresh instance with what has happened to it
 */
public interface Adapter<R> {
    /** The system's key in the protocol. */
    String system();

    /** Name, version, language and source of what is under test. */
    JsonObject implementation();

    /** What the system declares in the answer to {@code start}, without its ops. */
    JsonObject declares();

    /** All ops. */
    List<Operation<R>> operations();

    /** An empty instance. */
    R open(Args config);

    /** The most clients of a history; 1: its runs are for one thread only. */
    default int threads() {
        return 1;
    }

    /** References to buffers that are still held once all of a run is given back; empty where leaks are not declared. */
    default OptionalLong leaked(R run) {
        return OptionalLong.empty();
    }
}

package entrycache.recorder;

import java.io.IOException;
import java.io.InputStream;

/** Finds class files by their internal name without loading them. */
interface Classes {
    /** The class file; null: there is none. */
    byte[] find(String name);

    /** Those that a loader would load. */
    static Classes of(ClassLoader loader) {
        return name -> {
            try (InputStream in = loader.getResourceAsStream(name + ".class")) {
                return in == null ? null : in.readAllBytes();
            } catch (IOException e) {
                return null;
            }
        };
    }
}

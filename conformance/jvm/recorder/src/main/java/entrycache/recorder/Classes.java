package entrycache.recorder;

import java.io.IOException;
import java.io.InputStream;

/** A lookup of class files by internal name that does not load the classes. */
interface Classes {
    /** Returns the class file, or null if there is none. */
    byte[] find(String name);

    /** Returns a lookup of the classes that a loader would load. */
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

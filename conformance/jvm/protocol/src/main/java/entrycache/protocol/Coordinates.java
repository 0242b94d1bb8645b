package entrycache.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;

/** The origin of the classes under test, for the answer to {@code start}. */
public final class Coordinates {
    private static final String FOLDER = "META-INF/maven/";
    private static final String FILE = "/pom.properties";

    private Coordinates() {}

    /**
     * Returns group, artifact and file name of the jar of a class. A jar that does not name its Maven project, or names
     * several, is taken for the expected one.
     */
    public static String of(Class<?> type, String expected) {
        Path place = Linkage.location(type);
        if (place == null) {
            return expected;
        }
        List<String> projects = Files.isRegularFile(place) ? projects(place) : List.of();
        String project = projects.size() == 1 ? projects.get(0).replace('/', ':') : expected;
        return project + " (" + place.getFileName() + ")";
    }

    private static List<String> projects(Path jar) {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.startsWith(FOLDER) && name.endsWith(FILE))
                    .map(name -> name.substring(FOLDER.length(), name.length() - FILE.length()))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}

package entrycache.recorder;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All sites of one release, by class. */
record Sites(String release, Map<String, List<Site>> byClass) {
    /** The known releases. The first one that fits is used. */
    static final List<String> RELEASES = List.of("pulsar-4.2.4", "kafka-streams-4.3.1");

    /** Reads the file of a release from the jar. */
    static Sites of(String release) {
        Map<String, List<Site>> byClass = new LinkedHashMap<>();
        try (InputStream in = Sites.class.getResourceAsStream(release + ".sites");
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = lines.readLine()) != null) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    Site site = Site.of(line);
                    byClass.computeIfAbsent(site.owner(), name -> new ArrayList<>()).add(site);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return new Sites(release, byClass);
    }

    /** Returns the differences between these classes and those of the release, empty if there are none. */
    List<String> differences(Classes classes) {
        List<String> differences = new ArrayList<>();
        byClass.forEach((name, sites) -> {
            byte[] file = classes.find(name);
            if (file == null) {
                differences.add(name.replace('/', '.') + " is not there");
            } else {
                differences.addAll(new Weaver(name, sites, classes).weave(file).differences());
            }
        });
        return differences;
    }
}

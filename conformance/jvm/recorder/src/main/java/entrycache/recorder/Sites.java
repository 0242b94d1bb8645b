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

/** All sites of one release, by the class that they are in. */
record Sites(String release, Map<String, List<Site>> byClass) {
    /** The releases whose classes were read; the first one that fits is taken. */
    static final List<String> RELEASES = List.of("pulsar-4.2.4");

    /** Reads the file of a release, which is in the jar. */
    static Sites of(String release) {
        Map<String, List<Site>> found = new LinkedHashMap<>();
        try (InputStream in = Sites.class.getResourceAsStream(release + ".sites");
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            String line;
            while ((line = lines.readLine()) != null) {
                if (!line.isBlank() && !line.startsWith("#")) {
                    Site site = Site.of(line);
                    found.computeIfAbsent(site.owner(), name -> new ArrayList<>()).add(site);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return new Sites(release, found);
    }

    /** Where one of these classes differs from what the release had; empty: nowhere. */
    List<String> differences(Classes classes) {
        List<String> told = new ArrayList<>();
        byClass.forEach((name, sites) -> {
            byte[] file = classes.find(name);
            if (file == null) {
                told.add(name.replace('/', '.') + " is not there");
            } else {
                told.addAll(new Weaver(name, sites, classes).weave(file).differences());
            }
        });
        return told;
    }
}

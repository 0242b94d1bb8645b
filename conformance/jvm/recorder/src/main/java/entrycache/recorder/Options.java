package entrycache.recorder;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The text after {@code -javaagent:entrycache-recorder.jar=}: a folder, then options {@code name=value} separated by
 * commas.
 */
record Options(Path folder, String broker, int buffers, long rotateRows, boolean drops, long quietMillis) {
    private static final Set<String> KNOWN = Set.of("broker", "buffers", "rotate", "full", "quiet");

    /**
     * Parses the text after the {@code =}.
     *
     * @throws IllegalArgumentException with one line that describes the mistake
     */
    static Options of(String text) {
        String[] parts = text == null ? new String[] {""} : text.split(",");
        if (parts[0].isBlank()) {
            throw new IllegalArgumentException("no folder was given; expected -javaagent:entrycache-recorder.jar=DIR");
        }
        Map<String, String> options = new TreeMap<>();
        for (int i = 1; i < parts.length; i++) {
            String[] pair = parts[i].split("=", 2);
            if (pair.length < 2 || !KNOWN.contains(pair[0])) {
                throw new IllegalArgumentException("unknown option '" + parts[i] + "'; expected broker=NAME, buffers=N, "
                        + "rotate=ROWS, full=block, full=drop or quiet=MILLIS");
            }
            options.put(pair[0], pair[1]);
        }
        String full = options.getOrDefault("full", "block");
        if (!full.equals("block") && !full.equals("drop")) {
            throw new IllegalArgumentException("full=" + full + "; expected block or drop");
        }
        return new Options(
                Path.of(parts[0]).toAbsolutePath(),
                options.getOrDefault("broker", ownName()),
                (int) number(options, "buffers", 32, 2),
                number(options, "rotate", 4_000_000, 1),
                full.equals("drop"),
                number(options, "quiet", 500, 0));
    }

    private static long number(Map<String, String> options, String name, long otherwise, long least) {
        String text = options.get(name);
        if (text == null) {
            return otherwise;
        }
        if (!text.matches("[0-9]{1,9}") || Long.parseLong(text) < least) {
            throw new IllegalArgumentException(name + "=" + text + "; expected a whole number, " + least + " at least");
        }
        return Long.parseLong(text);
    }

    /** Returns a name for this run of this broker, because a restarted broker begins a new removal queue. */
    private static String ownName() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "broker";
        }
        return host + "-" + ProcessHandle.current().pid() + "-" + System.currentTimeMillis() / 1000;
    }
}

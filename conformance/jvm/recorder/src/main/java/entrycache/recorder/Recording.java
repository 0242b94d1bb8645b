package entrycache.recorder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** One trace folder: its brokers, and the content of its {@code _entrycache.json}. */
final class Recording {
    /** The variants of the release that decide about rows, as JSON. */
    private static final String VARIANTS =
            "{\"failed_read\": \"counted\", \"limiter_order\": \"overtaking\", \"limiter_timeout\": \"leaves\"}";

    /** One broker of the folder. */
    record Broker(String name, Trace trace, Parts parts) { }

    private final Options options;
    private final String system;
    private final String source;
    final List<Broker> brokers = new ArrayList<>();
    private boolean many;
    private String state = "recording";
    private String why;

    Recording(Options options, String release) {
        this.options = options;
        system = release.startsWith("pulsar") ? "pulsar-pip430" : "kafka-streams";
        source = "entrycache-recorder on the classes of " + release;
        many = system.equals("pulsar-pip430");
    }

    /** Begins the trace of a broker. */
    synchronized Trace begin(String name) throws IOException {
        Trace trace = new Trace(options.buffers(), options.rotateRows(), options.drops());
        Parts parts = new Parts(this, options.folder(), name, trace);
        brokers.add(new Broker(name, trace, parts));
        writeState();
        parts.start();
        return trace;
    }

    /** Returns a name for one more broker of this process. */
    synchronized String nextName() {
        return options.broker() + "-" + (brokers.size() + 1);
    }

    synchronized List<Broker> brokers() {
        return List.copyOf(brokers);
    }

    /** Records that the events of one broker come from several threads. */
    synchronized void manyThreads() {
        many = true;
    }

    /** Records in the folder that a broker's trace has ended or failed. */
    synchronized void told(String ofState, String because) throws IOException {
        if (!state.equals("failed")) {
            state = ofState;
            why = because;
        }
        writeState();
    }

    private void writeState() throws IOException {
        long rows = 0;
        List<String> missing = new ArrayList<>();
        for (Broker broker : brokers) {
            rows += broker.parts().rows();
            for (long[] stretch : broker.trace().missing()) {
                missing.add("{\"broker\": " + Lines.quote(broker.name()) + ", \"first\": " + stretch[0] + ", \"last\": "
                        + stretch[1] + "}");
            }
        }
        write(options.folder(), system, source, many, state, why, rows, String.join(", ", missing));
    }

    /** Writes into a folder that nothing was recorded, and the reason. */
    static void refuse(Path folder, String why) throws IOException {
        write(folder, "pulsar-pip430", "entrycache-recorder", true, "refused", why, 0, "");
    }

    /** Writes the file atomically: a reader sees the old file or the new one. */
    private static void write(Path folder, String system, String source, boolean many, String state, String why, long rows,
            String missing) throws IOException {
        String text = "{\n \"schema\": 1,\n \"system\": " + Lines.quote(system) + ",\n \"variants\": " + (system.startsWith("pulsar") ? VARIANTS : "{}") + ",\n \"source\": "
                + Lines.quote(source) + ",\n \"clock\": \"System.nanoTime\",\n \"threads\": "
                + (many ? "\"many\"" : "\"one\"") + ",\n \"sampling\": 1,\n \"recorder\": {\"state\": " + Lines.quote(state)
                + ", \"why\": " + (why == null ? "null" : Lines.quote(why)) + ", \"rows\": " + rows + ", \"missing\": ["
                + missing + "]}\n}\n";
        Files.createDirectories(folder);
        Path beside = folder.resolve("._entrycache.json.new");
        Files.write(beside, text.getBytes(StandardCharsets.UTF_8));
        Files.move(beside, folder.resolve("_entrycache.json"), StandardCopyOption.REPLACE_EXISTING);
    }
}

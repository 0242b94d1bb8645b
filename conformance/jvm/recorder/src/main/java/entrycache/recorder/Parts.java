package entrycache.recorder;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Collectors;

/** The thread that writes the rows: {@code broker=NAME/part-*.jsonl}, and {@code _entrycache.json} beside the folder. */
final class Parts extends Thread {
    private static final int WRITE_BYTES = 1 << 20;

    private final Path folder;
    private final String broker;
    private final String source;
    private final Trace trace;
    private final Lines lines;
    private int number;
    private long rows;
    private OutputStream part;

    Parts(Path folder, String broker, String source, Trace trace) {
        super("entrycache-recorder");
        setDaemon(true);
        this.folder = folder;
        this.broker = broker;
        this.source = source;
        this.trace = trace;
        lines = new Lines(broker);
    }

    @Override
    public void run() {
        try {
            while (true) {
                Chunk chunk = trace.take();
                if (chunk != null) {
                    boolean last = chunk.last;
                    write(chunk);
                    trace.written(chunk);
                    if (last) {
                        break;
                    }
                } else if (!trace.on()) {
                    break;
                }
            }
            close();
            tell(folder, "ended", trace.ended());
        } catch (IOException e) {
            fail("the trace cannot be written: " + e);
        } catch (InterruptedException e) {
            fail("the writer was interrupted");
        } catch (RuntimeException | Error e) {
            fail("the writer failed: " + e);
        }
    }

    private void write(Chunk chunk) throws IOException {
        for (int row = 0; row < chunk.rows; row++) {
            if (part == null) {
                part = Files.newOutputStream(open());
            }
            lines.add(chunk, row);
            if (lines.length >= WRITE_BYTES || row == chunk.rows - 1) {
                part.write(lines.bytes, 0, lines.length);
                lines.length = 0;
            }
        }
        rows += chunk.rows;
        if (chunk.endsPart) {
            close();
        }
    }

    private Path open() throws IOException {
        Path below = folder.resolve("broker=" + inPath(broker));
        Files.createDirectories(below);
        return below.resolve(String.format("part-%05d.jsonl", number++));
    }

    private void close() throws IOException {
        if (part != null) {
            part.close();
            part = null;
        }
    }

    private void fail(String why) {
        trace.fail(why);
        System.err.println("entrycache recorder: " + why + "; the broker runs on unrecorded");
        try {
            tell(folder, "failed", why);
        } catch (IOException e) {
            System.err.println("entrycache recorder: and " + folder + " does not say so: " + e);
        }
    }

    /** Writes what the folder is: {@code state} recording, ended, failed or refused, and why. */
    void tell(Path where, String state, String why) throws IOException {
        List<long[]> missing = trace.missing();
        String stretches = missing.stream().map(each -> "[" + each[0] + "," + each[1] + "]").collect(Collectors.joining(","));
        metadata(where, source, state, why, rows, stretches);
    }

    /** Writes {@code _entrycache.json}; a reader sees the old one or the new one. */
    static void metadata(Path where, String source, String state, String why, long rows, String missing)
            throws IOException {
        String text = "{\n \"schema\": 1,\n \"system\": \"pulsar-pip430\",\n \"variants\": {},\n \"source\": "
                + Lines.quote(source) + ",\n \"clock\": \"System.nanoTime\",\n \"threads\": \"many\",\n"
                + " \"sampling\": 1,\n \"recorder\": {\"state\": " + Lines.quote(state) + ", \"why\": "
                + (why == null ? "null" : Lines.quote(why)) + ", \"rows\": " + rows + ", \"missing\": [" + missing + "]}\n}\n";
        Files.createDirectories(where);
        Path beside = where.resolve("._entrycache.json.new");
        Files.write(beside, text.getBytes(StandardCharsets.UTF_8));
        Files.move(beside, where.resolve("_entrycache.json"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** A broker's name in a path, escaped as Spark and Hive do. */
    static String inPath(String name) {
        StringBuilder out = new StringBuilder();
        for (char mark : name.toCharArray()) {
            boolean plain = mark > 127 || mark == ' ' || Character.isLetterOrDigit(mark) || "_.-~".indexOf(mark) >= 0;
            out.append(plain ? String.valueOf(mark) : String.format("%%%02X", (int) mark));
        }
        return out.toString();
    }
}

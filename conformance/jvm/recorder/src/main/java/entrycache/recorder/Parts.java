package entrycache.recorder;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The thread that writes the rows: {@code broker=NAME/part-*.jsonl}. */
final class Parts extends Thread {
    private static final int WRITE_BYTES = 1 << 20;

    private final Path folder;
    private final String broker;
    private final Recording recording;
    private final Trace trace;
    private final Lines lines;
    private int number;
    private volatile long rows;
    private OutputStream part;

    Parts(Recording recording, Path folder, String broker, Trace trace) {
        super("entrycache-recorder");
        setDaemon(true);
        this.folder = folder;
        this.broker = broker;
        this.recording = recording;
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
            recording.told("ended", trace.ended());
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
        rows = rows + chunk.rows;
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
            recording.told("failed", why);
        } catch (IOException e) {
            System.err.println("entrycache recorder: and " + folder + " does not say so: " + e);
        }
    }

    /** Returns the number of rows written. */
    long rows() {
        return rows;
    }

    /** Returns a broker's name as a part of a path, escaped as in Spark and Hive. */
    static String inPath(String name) {
        StringBuilder out = new StringBuilder();
        for (char mark : name.toCharArray()) {
            boolean plain = mark > 127 || mark == ' ' || Character.isLetterOrDigit(mark) || "_.-~".indexOf(mark) >= 0;
            out.append(plain ? String.valueOf(mark) : String.format("%%%02X", (int) mark));
        }
        return out.toString();
    }
}

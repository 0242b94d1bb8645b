package entrycache.recorder;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;

/**
 * Records what a broker's entry cache does: {@code -javaagent:entrycache-recorder.jar=DIR[,option..]}.
 *
 * <p>Before the broker starts every hook site is counted in the classes that it will load. If one is there more or less
 * often than in a release that was read, nothing is changed: one line on stderr, the folder says the same, and the broker
 * runs as it would without this agent. As a program it counts the sites in jars: {@code java -jar .. JAR..}.
 */
public final class Recorder implements ClassFileTransformer {
    private static final String PREFIX = "entrycache recorder: ";

    /** The trace of this JVM; null where nothing is recorded. */
    private static volatile Trace trace;

    private static Parts parts;
    private static volatile Runnable finish;

    private final Sites sites;

    private Recorder(Sites sites) {
        this.sites = sites;
    }

    /** Called by the JVM before {@code main}. Whatever goes wrong, the broker starts. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        Options options;
        try {
            options = Options.of(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println(PREFIX + e.getMessage() + "; nothing is recorded");
            return;
        }
        try {
            start(options, instrumentation);
        } catch (IOException | RuntimeException e) {
            System.err.println(PREFIX + e + "; nothing is recorded");
        }
    }

    private static void start(Options options, Instrumentation instrumentation) throws IOException {
        if (java.nio.file.Files.exists(options.folder().resolve("_entrycache.json"))) {
            System.err.println(PREFIX + options.folder() + " holds a trace; expected a new folder; nothing is recorded");
            return;
        }
        List<String> differences = new ArrayList<>();
        Sites found = fitting(Classes.of(ClassLoader.getSystemClassLoader()), differences);
        if (found == null) {
            String why = differences.get(0);
            System.err.println(PREFIX + why + "; nothing is recorded");
            Parts.metadata(options.folder(), "entrycache-recorder", "refused", why, 0, "");
            return;
        }
        trace = new Trace(options.buffers(), options.rotateRows(), options.drops());
        String source = "entrycache-recorder on the classes of " + found.release();
        parts = new Parts(options.folder(), options.broker(), source, trace);
        parts.tell(options.folder(), "recording", null);
        instrumentation.addTransformer(new Recorder(found));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> shutDown(options), "entrycache-recorder-end"));
        parts.start();
    }

    /** The release whose sites are all there; null: none, and `differences` says where the first one parts. */
    private static Sites fitting(Classes classes, List<String> differences) {
        for (String release : Sites.RELEASES) {
            Sites sites = Sites.of(release);
            List<String> told = sites.differences(classes);
            if (told.isEmpty()) {
                return sites;
            }
            told.forEach(each -> differences.add(release + ": " + each));
        }
        return null;
    }

    /** Counts the hook sites of jars and folders of classes; ends with status 4 where no release fits. */
    public static void main(String[] paths) throws MalformedURLException {
        URL[] places = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            places[i] = Path.of(paths[i]).toUri().toURL();
        }
        List<String> differences = new ArrayList<>();
        Sites found = fitting(Classes.of(new URLClassLoader(places, null)), differences);
        if (found != null) {
            System.out.println("fits " + found.release());
        } else {
            differences.forEach(System.out::println);
            System.exit(4);
        }
    }

    /** What the hooks write to; null where nothing is recorded. */
    public static Trace trace() {
        return trace;
    }

    /** Says what writes the last rows, once there is a cache. */
    public static void atEnd(Runnable rows) {
        finish = rows;
    }

    /** Gives up, for a reason that the folder will say. */
    public static void giveUp(String why) {
        System.err.println(PREFIX + why + "; the broker runs on unrecorded");
        trace.end(why);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] file) {
        List<Site> here = name == null ? null : sites.byClass().get(name);
        if (here == null) {
            return null;
        }
        try {
            Weaver.Woven woven = new Weaver(name, here, Classes.of(Recorder.class.getClassLoader())).weave(file);
            if (woven.differences().isEmpty()) {
                return woven.file();
            }
            refuse(woven.differences().get(0));
        } catch (RuntimeException e) {
            refuse(name.replace('/', '.') + ": " + e);
        }
        return null;
    }

    /** A class is not the one that was counted at the start: another agent was at work. */
    private static void refuse(String why) {
        trace.lock();
        try {
            giveUp(why);
        } finally {
            trace.unlock();
        }
    }

    /** Waits until the broker has come to rest, then writes the last rows; the broker shuts down at the same time. */
    private static void shutDown(Options options) {
        try {
            long deadline = System.nanoTime() + 10_000_000_000L;
            long seen = -1;
            while (trace.on() && System.nanoTime() < deadline) {
                long now = trace.nextSeq();
                if (now == seen) {
                    break;
                }
                seen = now;
                Thread.sleep(options.quietMillis());
            }
            trace.lock();
            try {
                if (trace.on() && finish != null) {
                    trace.awaitBuffer();
                    finish.run();
                }
                trace.end("the broker ended");
            } finally {
                trace.unlock();
            }
            parts.join(60_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

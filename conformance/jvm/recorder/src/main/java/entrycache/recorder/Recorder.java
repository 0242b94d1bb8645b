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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Records the events of a broker's entry cache: {@code -javaagent:entrycache-recorder.jar=DIR[,option..]}.
 *
 * <p>Before the broker starts, the agent counts every hook site in the classes that the broker will load. If a count
 * differs from every known release, the agent changes nothing: it prints one line on stderr, writes the same reason
 * into the folder, and the broker runs without hooks. As a program, it counts the sites in jars: {@code java -jar ..
 * JAR..}.
 */
public final class Recorder implements ClassFileTransformer {
    private static final String PREFIX = "entrycache recorder: ";

    /** The longest time that the recorder waits for an ending broker to become quiescent. */
    private static final long REST_NANOS = 10_000_000_000L;

    private static volatile Recording recording;

    /** The trace of a Pulsar broker, which has one cache; null if it is not recorded. */
    private static volatile Trace trace;

    private static final Map<Trace, Runnable> LAST_ROWS = new ConcurrentHashMap<>();

    private final Sites sites;

    private Recorder(Sites sites) {
        this.sites = sites;
    }

    /** Called by the JVM before {@code main}. The broker starts even if the recorder fails. */
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
        Sites sites = fitting(Classes.of(ClassLoader.getSystemClassLoader()), differences);
        if (sites == null) {
            String why = differences.get(0);
            System.err.println(PREFIX + why + "; nothing is recorded");
            Recording.refuse(options.folder(), why);
            return;
        }
        recording = new Recording(options, sites.release());
        if (sites.release().startsWith("pulsar")) {
            trace = recording.begin(options.broker());
        }
        instrumentation.addTransformer(new Recorder(sites));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> shutDown(options), "entrycache-recorder-end"));
    }

    /** Returns the release whose sites are all present, or null after adding the differences from the nearest one. */
    private static Sites fitting(Classes classes, List<String> differences) {
        List<String> fewest = null;
        for (String release : Sites.RELEASES) {
            Sites sites = Sites.of(release);
            List<String> mismatches = sites.differences(classes).stream().map(each -> release + ": " + each).toList();
            if (mismatches.isEmpty()) {
                return sites;
            }
            if (fewest == null || mismatches.size() < fewest.size()) {
                fewest = mismatches;
            }
        }
        differences.addAll(fewest);
        return null;
    }

    /** Counts the hook sites of jars and folders of classes; exits with status 4 if no release fits. */
    public static void main(String[] paths) throws MalformedURLException {
        URL[] places = new URL[paths.length];
        for (int i = 0; i < paths.length; i++) {
            places[i] = Path.of(paths[i]).toUri().toURL();
        }
        List<String> differences = new ArrayList<>();
        Sites sites = fitting(Classes.of(new URLClassLoader(places, null)), differences);
        if (sites != null) {
            System.out.println("fits " + sites.release());
        } else {
            differences.forEach(System.out::println);
            System.exit(4);
        }
    }

    /** Returns the trace that the hooks write to, or null if nothing is recorded. */
    public static Trace trace() {
        return trace;
    }

    /** Begins the trace of one more cache in this process; returns null if it cannot be written. */
    public static Trace begin() {
        try {
            return recording.begin(recording.nextName());
        } catch (IOException e) {
            System.err.println(PREFIX + e + "; one cache is not recorded");
            return null;
        }
    }

    /** Records that several threads use one cache. */
    public static void manyThreads() {
        recording.manyThreads();
    }

    /** Sets the callback that writes the last rows of a trace. */
    public static void atEnd(Trace of, Runnable rows) {
        LAST_ROWS.put(of, rows);
    }

    /** Ends a trace, for a reason that is written into the folder. The caller holds the trace's lock. */
    public static void giveUp(Trace of, String why) {
        System.err.println(PREFIX + why + "; the broker runs on unrecorded");
        of.end(why);
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

    /**
     * Ends all traces, because a class differs from the one that was counted at the start: another agent has changed
     * it.
     */
    private static void refuse(String why) {
        for (Recording.Broker broker : recording.brokers()) {
            broker.trace().lock();
            try {
                giveUp(broker.trace(), why);
            } finally {
                broker.trace().unlock();
            }
        }
    }

    /** Waits until the broker is quiescent, then writes the last rows. The broker shuts down at the same time. */
    private static void shutDown(Options options) {
        try {
            long deadline = System.nanoTime() + REST_NANOS;
            long last = -1;
            while (System.nanoTime() < deadline) {
                long now = recording.brokers().stream().mapToLong(broker -> broker.trace().nextSeq()).sum();
                if (now == last) {
                    break;
                }
                last = now;
                Thread.sleep(options.quietMillis());
            }
            for (Recording.Broker broker : recording.brokers()) {
                end(broker.trace());
            }
            for (Recording.Broker broker : recording.brokers()) {
                broker.parts().join(REST_NANOS / 1_000_000 * 6);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void end(Trace ending) {
        ending.lock();
        try {
            Runnable rows = LAST_ROWS.get(ending);
            if (ending.on() && rows != null) {
                ending.awaitBuffer();
                rows.run();
            }
            ending.end("the broker ended");
        } finally {
            ending.unlock();
        }
    }
}

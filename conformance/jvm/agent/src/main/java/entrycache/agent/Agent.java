package entrycache.agent;

import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Gives released broker classes a virtual clock, at class load.
 *
 * <p>As {@code -javaagent} it takes three system properties: {@code entrycache.clock.require}, class names separated
 * by commas that must have been rewritten, else the JVM ends with status 3; {@code entrycache.clock.sites}, a file of
 * pinned counts (the output of {@link #main}) from which no loaded class may differ, else the status is 4;
 * {@code entrycache.clock.print}, which prints each rewritten class and its count on stderr.
 */
public final class Agent implements ClassFileTransformer {
    private static final String SCOPE = "org/apache/bookkeeper/mledger/";
    private static final String REQUIRED = Stream.of("RangeCacheEntryWrapper", "RangeEntryCacheManagerImpl")
            .map("org.apache.bookkeeper.mledger.impl.cache."::concat)
            .collect(Collectors.joining(","));

    /** The status if the classes are not those that the driver was built for. */
    private static final int MISFIT = 3;

    /** The status if the pinned classes read the clock otherwise than reviewed. */
    private static final int UNPINNED = 4;

    /** The clock sites that this JVM has rewritten so far, counted by class. */
    private static final Map<String, Integer> REWRITTEN = new ConcurrentHashMap<>();

    static volatile boolean installed;

    private final Map<String, Integer> pinned;
    private final boolean print = Boolean.getBoolean("entrycache.clock.print");

    private Agent(Map<String, Integer> pinned) {
        this.pinned = pinned;
    }

    /** Called by the JVM before {@code main}. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        instrumentation.addTransformer(new Agent(pinnedSites(System.getProperty("entrycache.clock.sites"))));
        installed = true;
        for (String name : System.getProperty("entrycache.clock.require", REQUIRED).split(",")) {
            require(name);
        }
    }

    /**
     * Prints one line for each class in the given jars and folders that reads the clock: the number of sites and its
     * name.
     */
    public static void main(String[] paths) throws IOException {
        Map<String, Integer> sites = new TreeMap<>();
        for (String path : paths) {
            if (Files.isDirectory(Path.of(path))) {
                count(Path.of(path), sites);
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(Path.of(path))) {
                    count(jar.getPath("/"), sites);
                }
            }
        }
        sites.forEach((name, count) -> System.out.println(count + " " + name));
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] file) {
        if (name == null || !name.startsWith(SCOPE)) {
            return null;
        }
        try {
            ClockCalls calls = new ClockCalls(file);
            record(name.replace('/', '.'), calls.sites);
            return calls.sites == 0 ? null : calls.bytes;
        } catch (RuntimeException e) {
            throw refuse(UNPINNED, "the clock calls of " + name.replace('/', '.') + " cannot be rewritten: " + e);
        }
    }

    private void record(String name, int sites) {
        if (pinned != null && sites != pinned.getOrDefault(name, 0)) {
            throw refuse(UNPINNED, name + " has " + sites + " clock calls, expected " + pinned.getOrDefault(name, 0));
        }
        if (sites > 0) {
            REWRITTEN.put(name, sites);
            if (print) {
                System.err.println("clock sites: " + sites + " " + name);
            }
        }
    }

    private static void require(String name) {
        try {
            Class.forName(name, false, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            throw refuse(MISFIT, "required class " + name + " is not on the class path");
        } catch (LinkageError e) {
            throw refuse(MISFIT, "required class " + name + " cannot be loaded: " + e.getMessage());
        }
        if (!REWRITTEN.containsKey(name)) {
            throw refuse(MISFIT, "required class " + name + " was not rewritten: it has no clock call");
        }
    }

    private static Map<String, Integer> pinnedSites(String file) {
        if (file == null) {
            return null;
        }
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .map(line -> line.split(" "))
                    .collect(Collectors.toMap(fields -> fields[1], fields -> Integer.valueOf(fields[0])));
        } catch (IOException e) {
            throw refuse(UNPINNED, "the pinned clock sites cannot be read: " + e);
        }
    }

    /** Prints one line and ends the JVM with a status, because the JVM swallows exceptions of a transformer. */
    private static IllegalStateException refuse(int status, String why) {
        System.err.println("entrycache agent: " + why);
        Runtime.getRuntime().halt(status);
        return new IllegalStateException(why);
    }

    private static void count(Path root, Map<String, Integer> sites) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(file -> file.toString().endsWith(".class")).toList();
        }
        for (Path file : files) {
            int classSites = new ClockCalls(Files.readAllBytes(file)).sites;
            if (classSites > 0) {
                String name = root.relativize(file).toString().replace('\\', '/');
                sites.put(name.substring(0, name.length() - ".class".length()).replace('/', '.'), classSites);
            }
        }
    }
}

package entrycache.protocol;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Distinguishes a class path on which nothing can be judged from an implementation that fails.
 *
 * <p>An adapter that was compiled for other classes, or a library that is missing, ends a step with a linkage error. So
 * may the implementation itself, and only that is its failure. The error's first frame outside the JDK tells who needs
 * the missing part, and the jars of both sides show whose fault it is.
 */
final class Linkage {
    /** The entry of an adapter's manifest that names the release it was built for. */
    private static final String BUILT_FOR = "Entrycache-Driver";

    private static final Pattern MODULE = Pattern.compile("entrycache-(.+?)-(\\d.*)");
    private static final Pattern METHOD_OWNER = Pattern.compile("([\\w$.]+)\\.(?:<init>|[\\w$]+)\\(");
    private static final Pattern CLASS_NAME = Pattern.compile("[\\w$]+(?:[./][\\w$]+)+");
    private static final String NOT_INITIALIZED = "Could not initialize class ";
    private static final int MAX_CAUSES = 100;
    private static final String ADVICE =
            "choose the driver of the release that is closest to your jar (entrycache subjects)";

    private final Class<?> adapter;

    /** Judges for the adapter whose jar holds this class. */
    Linkage(Class<?> adapter) {
        this.adapter = adapter;
    }

    /**
     * Returns one line that says why nothing can be judged on this class path; null if the error is none of the class
     * path.
     */
    String diagnose(Throwable thrown) {
        List<Throwable> causes = Stream.iterate(thrown, cause -> cause != null, Throwable::getCause)
                .limit(MAX_CAUSES)
                .toList();
        LinkageError error = last(causes, LinkageError.class);
        if (error instanceof ExceptionInInitializerError || error == null) {
            ReflectiveOperationException lookup = last(causes, ReflectiveOperationException.class);
            return isLookup(lookup) && isOwn(caller(lookup)) ? misfit(lookup.getMessage(), null) : null;
        }
        if (error instanceof MissingPart) {
            return misfit(error.getMessage(), null);
        }
        String message = String.valueOf(error.getMessage());
        if (error instanceof UnsupportedClassVersionError) {
            return message + "; this is Java " + Runtime.version().feature() + "; run it with a newer one (JAVA_HOME)";
        }
        if (error instanceof NoClassDefFoundError || error instanceof UnsatisfiedLinkError) {
            return diagnoseMissing(error, message);
        }
        return diagnoseMember(error, message);
    }

    private String diagnoseMissing(LinkageError error, String message) {
        Class<?> caller = caller(error);
        if (message.startsWith(NOT_INITIALIZED)) {
            return isOwn(load(message.substring(NOT_INITIALIZED.length()))) ? misfit(message, null) : null;
        }
        boolean isClass = error instanceof NoClassDefFoundError;
        String name = isClass ? message.replace('/', '.') : message;
        if (isClass && load(name) != null) {
            return null;
        }
        String part = (isClass ? "class " : "native library: ") + name + ", which is not on the class path; ";
        if (isOwn(caller)) {
            return name() + " needs " + part + "add the jar that holds it" + advice();
        }
        String needs = caller == null ? "the implementation" : caller.getName() + " (" + source(caller) + ")";
        return needs + " needs " + part + "add the jar that holds it";
    }

    /** Diagnoses a member that is missing, not accessible or of another kind than its caller was compiled for. */
    private String diagnoseMember(LinkageError error, String message) {
        Class<?> caller = caller(error);
        List<Class<?>> named = named(error, message);
        boolean isOfVerifier = error instanceof VerifyError || error instanceof ClassFormatError;
        if (named.stream().anyMatch(this::isOwn) || isOwn(caller) && !isOfVerifier) {
            return misfit("it needs " + describe(error, message), other(named, null));
        }
        Class<?> owner = other(named, caller);
        boolean isField = error instanceof NoSuchFieldError && named.isEmpty();
        if (caller == null || isOfVerifier || owner == null && !isField) {
            return null;
        }
        return caller.getName() + " (" + source(caller) + ") needs " + describe(error, message) + ", which "
                + (owner == null ? "the class path" : source(owner)) + " lacks; use jars of one release";
    }

    /** Returns the part that the caller needs; in most errors that is the whole message. */
    private static String describe(LinkageError error, String message) {
        if (error instanceof NoSuchFieldError) {
            return "field " + message;
        }
        if (error instanceof NoSuchMethodError) {
            String part = message.replace("'", "");
            return part.substring(part.lastIndexOf(' ', part.indexOf('(')) + 1);
        }
        return "other classes (" + message.replaceAll("\\s+", " ") + ")";
    }

    /** Returns the line about an adapter that was built for other classes. */
    private String misfit(String part, Class<?> owner) {
        String lacks = owner == null || isOwn(owner) ? "" : ", which " + source(owner) + " lacks";
        return name() + " does not fit the classes on the class path: " + part + lacks
                + "; give the jars that it was built for" + advice();
    }

    /** Returns the advice for a driver of ours; an adapter of somebody else has no other release. */
    private String advice() {
        return builtFor() == null ? "" : ", or " + ADVICE;
    }

    /** Returns the name of the adapter in messages, with the release that it was built for. */
    private String name() {
        String builtFor = builtFor();
        return builtFor == null ? "the adapter" : "the driver of " + builtFor;
    }

    /** Returns the release that the adapter was built for; null if its jar does not say. */
    private String builtFor() {
        Path jar = location(adapter);
        if (jar == null || !Files.isRegularFile(jar)) {
            return null;
        }
        try (JarFile file = new JarFile(jar.toFile())) {
            Manifest manifest = file.getManifest();
            String module = manifest == null ? null : manifest.getMainAttributes().getValue(BUILT_FOR);
            Matcher parts = MODULE.matcher(module == null ? "" : module);
            return parts.matches() ? parts.group(1) + " " + parts.group(2) : module;
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean isLookup(ReflectiveOperationException thrown) {
        return thrown instanceof NoSuchMethodException
                || thrown instanceof NoSuchFieldException
                || thrown instanceof ClassNotFoundException;
    }

    private static <T> T last(List<Throwable> causes, Class<T> type) {
        T last = null;
        for (Throwable cause : causes) {
            last = type.isInstance(cause) ? type.cast(cause) : last;
        }
        return last;
    }

    /** Returns the class of the first frame outside the JDK; null if there is none. */
    private static Class<?> caller(Throwable thrown) {
        for (StackTraceElement frame : thrown.getStackTrace()) {
            Class<?> type = load(frame.getClassName());
            if (type != null && location(type) != null) {
                return type;
            }
        }
        return null;
    }

    /** Returns the classes that the message names: of a method only its owner. */
    private static List<Class<?>> named(LinkageError error, String message) {
        Matcher owner = METHOD_OWNER.matcher(message);
        if (error instanceof NoSuchMethodError) {
            Class<?> type = owner.find() ? load(owner.group(1)) : null;
            return type == null ? List.of() : List.of(type);
        }
        List<Class<?>> named = new ArrayList<>();
        for (Matcher name = CLASS_NAME.matcher(message); name.find(); ) {
            String text = name.group().replace('/', '.');
            Class<?> type = load(text);
            type = type == null ? load(text.substring(0, text.lastIndexOf('.'))) : type;
            if (type != null && location(type) != null) {
                named.add(type);
            }
        }
        return named;
    }

    /** Returns the first class that is from another jar than the given one; null if there is none. */
    private static Class<?> other(List<Class<?>> named, Class<?> than) {
        return named.stream()
                .filter(type -> than == null || !location(type).equals(location(than)))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether a class belongs to the adapter or to this package. */
    private boolean isOwn(Class<?> type) {
        Path place = type == null ? null : location(type);
        return place != null && (place.equals(location(adapter)) || place.equals(location(Linkage.class)));
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, Linkage.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null;
        }
    }

    private static String source(Class<?> type) {
        return String.valueOf(location(type).getFileName());
    }

    /** Returns the jar or folder of a class; null for a class of the JDK. */
    static Path location(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        try {
            return source == null || source.getLocation() == null || !"file".equals(source.getLocation().getProtocol())
                    ? null
                    : Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            return null;
        }
    }
}

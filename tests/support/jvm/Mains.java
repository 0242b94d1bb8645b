package entrycache;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Runs the mains of the classes that it is given, one after another in one JVM. One line each on stdout: the class, the
 * exit code, and what it printed until it ended, in Base64.
 */
public final class Mains {
    private static final PrintStream OUT = System.out;
    private static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();
    private static final Thread RUNNER = Thread.currentThread();
    private static Integer code;
    private static String printed;

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            code = null;
            PRINTED.reset();
            System.setOut(new PrintStream(PRINTED, true, StandardCharsets.UTF_8));
            run(name);
            OUT.println(name + " " + code + " " + Base64.getEncoder().encodeToString(printed.getBytes(StandardCharsets.UTF_8)));
            OUT.flush();
        }
        System.exit(0);
    }

    private static void run(String name) throws Exception {
        Method main = Class.forName(name).getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        try {
            main.invoke(null, (Object) new String[0]);
            ended(0);
        } catch (InvocationTargetException thrown) {
            if (code == null) {
                thrown.getCause().printStackTrace();
            }
            ended(1);
        }
    }

    /**
     * Stands where a test halts its JVM: this main has ended, and what it still does and prints counts no more. A thread
     * of a test that has ended already only ends.
     */
    public static void halt(int with) {
        if (Thread.currentThread() == RUNNER) {
            ended(with);
        }
        throw new Ended();
    }

    private static void ended(int with) {
        if (code == null) {
            code = with;
            printed = PRINTED.toString(StandardCharsets.UTF_8);
        }
    }

    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
    }
}

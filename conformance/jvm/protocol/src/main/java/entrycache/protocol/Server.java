package entrycache.protocol;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Speaks the protocol on stdin and stdout for one adapter. */
public final class Server<R> {
    private static final Gson JSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    /** The run that is being answered, and the number of its steps. A history has no outcomes and no current step. */
    private record Current(JsonElement id, int steps, JsonArray outcomes, Writer out) {
        /** Makes what is answered with no outcomes. */
        Current(JsonElement id, Writer out) {
            this(id, 0, null, out);
        }

        JsonObject answer(String name, JsonElement value) {
            JsonObject answer = new JsonObject();
            answer.add("id", id == null ? JsonNull.INSTANCE : id);
            answer.add(name, value);
            return answer;
        }

        /** Returns the answer about a class path on which nothing can be judged. */
        JsonObject broken(String message) {
            JsonObject broken = new JsonObject();
            broken.addProperty("message", message);
            return answer("broken", broken);
        }

        /** Returns the answer to a run that threw. What throws after its last step is put to that step. */
        JsonObject errored(String message, String traceback) {
            JsonObject errored = new JsonObject();
            errored.add("step", outcomes == null ? JsonNull.INSTANCE : new JsonPrimitive(currentStep()));
            errored.addProperty("message", message);
            errored.addProperty("traceback", traceback);
            return answer("errored", errored);
        }

        private int currentStep() {
            return Math.min(outcomes.size(), Math.max(0, steps - 1));
        }
    }

    private static volatile Current current;

    private final Adapter<R> adapter;
    private final Linkage linkage;
    private final Map<String, Operation<R>> operations;

    /** Serves one adapter. */
    public Server(Adapter<R> adapter) {
        this.adapter = adapter;
        this.linkage = new Linkage(adapter.getClass());
        this.operations =
                adapter.operations().stream().collect(Collectors.toMap(Operation::name, Function.identity()));
    }

    /**
     * Serves until the input ends. With {@code --calls}, only prints the released method of each operation.
     *
     * <p>The adapter is made after stdout has been redirected, so that output of released classes does not get into the
     * answers. If it cannot be made on this class path, the answer to {@code start} says why.
     */
    public static <R> void main(String[] arguments, Supplier<Adapter<R>> adapter) throws IOException {
        System.setOut(System.err);
        try (Writer out = new BufferedWriter(
                new OutputStreamWriter(new FileOutputStream(FileDescriptor.out), StandardCharsets.UTF_8), 1 << 16)) {
            Server<R> server;
            try {
                server = new Server<>(adapter.get());
            } catch (RuntimeException | LinkageError e) {
                refuse(new Linkage(adapter.getClass()), e, out);
                return;
            }
            if (arguments.length > 0 && arguments[0].equals("--calls")) {
                server.printCalls(out);
            } else {
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
                server.serve(in, out);
            }
        }
    }

    /** Answers {@code start} with the reason why no adapter can be made; throws what says nothing of the class path. */
    private static void refuse(Linkage linkage, Throwable thrown, Writer out) throws IOException {
        String why = linkage.diagnose(thrown);
        if (why == null) {
            throw new IllegalStateException(thrown);
        }
        System.err.println(why);
        JSON.toJson(new Current(null, out).broken(why), out);
        out.write('\n');
    }

    /**
     * Answers the current run as errored and ends the process, because its step does not end.
     *
     * <p>A thread other than the serving ones calls this, because those never leave the step.
     */
    public static void giveUp(String why) {
        Current unfinished = current;
        try {
            JSON.toJson(unfinished.errored(why, why), unfinished.out);
            unfinished.out.write('\n');
            unfinished.out.flush();
        } catch (IOException e) {
            e.printStackTrace();
        }
        Runtime.getRuntime().halt(1);
    }

    private void printCalls(Writer out) throws IOException {
        for (Operation<R> operation : adapter.operations()) {
            out.write(String.format("%-17s %s%n", operation.name(), operation.calls()));
        }
    }

    /** Answers requests, which may be sent ahead; the output is flushed when no further request is waiting. */
    private void serve(BufferedReader in, Writer out) throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonObject request = JsonParser.parseString(line).getAsJsonObject();
            if (new Args(request).text("cmd").equals("stop")) {
                return;
            }
            JSON.toJson(answer(request, out), out);
            out.write('\n');
            if (!in.ready()) {
                out.flush();
            }
        }
    }

    /** Returns the answer to one request, for a test in the same process. */
    public JsonObject answer(JsonObject request) {
        return answer(request, Writer.nullWriter());
    }

    private JsonObject answer(JsonObject request, Writer out) {
        return switch (new Args(request).text("cmd")) {
            case "start" -> start(out);
            case "history" -> history(request, out);
            default -> run(request, out);
        };
    }

    private JsonObject start(Writer out) {
        try {
            return start();
        } catch (RuntimeException | LinkageError e) {
            String why = linkage.diagnose(e);
            if (why == null) {
                throw e;
            }
            return new Current(null, out).broken(why);
        }
    }

    private JsonObject start() {
        JsonArray names = new JsonArray();
        adapter.operations().forEach(operation -> names.add(operation.name()));
        JsonObject system = adapter.declares();
        system.add("ops", names);
        if (adapter.threads() > 1) {
            JsonObject limits = system.has("limits") ? system.getAsJsonObject("limits") : new JsonObject();
            limits.addProperty("threads", adapter.threads());
            system.add("limits", limits);
        }
        JsonObject systems = new JsonObject();
        systems.add(adapter.system(), system);
        JsonObject answer = new JsonObject();
        answer.addProperty("version", 1);
        answer.add("implementation", adapter.implementation());
        answer.add("systems", systems);
        return answer;
    }

    private JsonObject run(JsonObject request, Writer out) {
        int steps = request.get("steps") instanceof JsonArray array ? array.size() : 0;
        Current run = new Current(request.get("id"), steps, new JsonArray(), out);
        current = run;
        try {
            OptionalLong leaked = perform(new Args(request), run.outcomes);
            JsonObject answer = run.answer("outcomes", run.outcomes);
            leaked.ifPresent(references -> answer.addProperty("leaked", references));
            return answer;
        } catch (Exception | StackOverflowError | OutOfMemoryError | LinkageError | AssertionError e) {
            return failed(run, e.toString(), e);
        }
    }

    private JsonObject history(JsonObject request, Writer out) {
        Current current = new Current(request.get("id"), out);
        Server.current = current;
        try {
            if (adapter.threads() < 2) {
                throw new IllegalArgumentException("histories of " + adapter.system() + " are not served");
            }
            R run = open(new Args(request), "history");
            try {
                History<R> history = new History<>(run, this::outcome);
                JsonArray events = history.play(new Args(request));
                return history.thrown() == null
                        ? current.answer("events", events)
                        : failed(current, history.failed(), history.thrown());
            } finally {
                adapter.close(run);
            }
        } catch (Exception | LinkageError e) {
            return failed(current, e.toString(), e);
        }
    }

    /** Returns the answer to a run that threw: broken if that says nothing of the implementation, else errored. */
    private JsonObject failed(Current run, String message, Throwable thrown) {
        String why = linkage.diagnose(thrown);
        return why == null ? run.errored(message, traceback(thrown)) : run.broken(why);
    }

    private R open(Args request, String command) {
        if (!request.text("cmd").equals(command) || !request.text("system").equals(adapter.system())) {
            throw new IllegalArgumentException("only runs of " + adapter.system() + " are served");
        }
        return adapter.open(
                new Args(request.has("config") ? request.json().getAsJsonObject("config") : new JsonObject()));
    }

    private OptionalLong perform(Args request, JsonArray outcomes) {
        R run = open(request, "run");
        try {
            for (JsonElement step : request.list("steps")) {
                outcomes.add(outcome(run, new Args(step.getAsJsonObject())));
            }
            return adapter.leaked(run);
        } finally {
            adapter.close(run);
        }
    }

    private JsonObject outcome(R run, Args step) {
        Operation<R> operation = operations.get(step.text("op"));
        if (operation == null) {
            throw new IllegalArgumentException("unknown op '" + step.text("op") + "'");
        }
        try {
            return operation.perform().apply(run, step);
        } catch (Refused e) {
            JsonObject refused = new JsonObject();
            refused.addProperty("error", "illegal-argument");
            refused.addProperty("message", e.getMessage());
            return refused;
        }
    }

    private static String traceback(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }
}

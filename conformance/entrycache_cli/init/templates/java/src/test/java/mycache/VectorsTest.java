package mycache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import entrycache.protocol.Server;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Plays vectors, by {@code mvn test}: cases with the outcomes that the rules ask for, a JSON object a line.
 *
 * <p>Those are played that need only what is declared. ENTRYCACHE_VECTORS names another pack.
 */
class VectorsTest {
    private final Server<MyCache.Cache> mine = new Server<>(new MyCache());

    /** What of an object is sent or compared: these keys, where it has them. */
    private static JsonObject among(JsonObject from, JsonArray names) {
        JsonObject found = new JsonObject();
        names.forEach(name -> Optional.ofNullable(from.get(name.getAsString()))
                .ifPresent(value -> found.add(name.getAsString(), value)));
        return found;
    }

    private static boolean offers(JsonObject offered, JsonArray steps) {
        return offered != null
                && steps.asList().stream()
                        .allMatch(step -> offered.getAsJsonArray("ops").contains(step.getAsJsonObject().get("op")));
    }

    @Test
    void vectors() throws IOException {
        String pack = Optional.ofNullable(System.getenv("ENTRYCACHE_VECTORS")).orElse("vectors.jsonl.gz");
        JsonObject start = JsonParser.parseString("{'cmd': 'start'}").getAsJsonObject();
        JsonObject systems = mine.answer(start).getAsJsonObject("systems");
        int played = 0;
        int others = 0;
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                new GZIPInputStream(new FileInputStream(pack)), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonObject vector = JsonParser.parseString(line).getAsJsonObject();
                JsonObject offered = systems.getAsJsonObject(vector.get("system").getAsString());
                JsonArray steps = vector.getAsJsonArray("steps");
                if (!offers(offered, steps)) {
                    others++;
                    continue;
                }
                vector.addProperty("cmd", "run");
                vector.add("config", among(vector.getAsJsonObject("config"), offered.getAsJsonArray("config")));
                JsonObject answer = mine.answer(vector);
                assertTrue(answer.has("outcomes"), () -> vector.get("note") + ": " + answer);
                played++;
                for (int at = 0; at < steps.size(); at++) {
                    JsonObject step = steps.get(at).getAsJsonObject();
                    JsonObject expected = vector.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                    JsonObject got = answer.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                    got.remove("message"); // of a refusal, for people
                    if (step.get("op").getAsString().equals("observe")) {
                        expected = among(expected, offered.getAsJsonArray("introspection"));
                        got = among(got, offered.getAsJsonArray("introspection"));
                    }
                    assertEquals(expected, got, vector.get("note") + ": step " + at + ", " + step);
                }
            }
        }
        System.out.println(played + " vectors played; " + others + " need more than is declared");
        assertTrue(played > 0, "no vector was played");
    }
}

package mycache;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import entrycache.protocol.Operation;
import entrycache.protocol.Server;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Plays vectors, by {@code mvn test}: cases with the outcomes that the rules ask for, a JSON object a line. Those are
 * played that need only what is declared. ENTRYCACHE_VECTORS names another pack; a manifest beside it has its hash.
 */
class VectorsTest {
    @Test
    void vectors() throws Exception {
        Path pack = Path.of(System.getenv().getOrDefault("ENTRYCACHE_VECTORS", "vectors/small.jsonl.gz"));
        byte[] text = new GZIPInputStream(Files.newInputStream(pack)).readAllBytes();
        String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        String manifest = Files.readString(pack.resolveSibling("manifest.json"));
        assertTrue(manifest.contains(hash), pack + " is not as the manifest beside it says");
        MyCache mine = new MyCache();
        List<String> ops = mine.operations().stream().map(Operation::name).toList();
        JsonArray shown = mine.declares().getAsJsonArray("introspection");
        List<String> lines = new String(text, UTF_8).lines().toList();
        int played = 0;
        for (String line : lines) {
            JsonObject vector = JsonParser.parseString(line).getAsJsonObject();
            JsonArray steps = vector.getAsJsonArray("steps");
            var asks = steps.asList().stream().map(step -> step.getAsJsonObject().get("op").getAsString()).toList();
            if (!vector.get("system").getAsString().equals(mine.system()) || !ops.containsAll(asks)) {
                continue;
            }
            vector.addProperty("cmd", "run");
            JsonObject answer = new Server<>(mine).answer(vector);
            assertTrue(answer.has("outcomes"), () -> vector.get("note") + ": " + answer);
            for (int at = 0; at < steps.size(); at++) {
                JsonObject expected = vector.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                JsonObject got = answer.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                got.remove("message"); // of a refusal, for people
                if (asks.get(at).equals("observe")) {
                    expected.keySet().retainAll(shown.asList().stream().map(name -> name.getAsString()).toList());
                    got.keySet().retainAll(expected.keySet());
                }
                assertEquals(expected, got, vector.get("note") + ": step " + at + ", " + steps.get(at));
            }
            played++;
        }
        System.out.println(played + " of " + lines.size() + " vectors played; the others need more than is declared");
        assertTrue(played > 0, "no vector was played");
    }
}

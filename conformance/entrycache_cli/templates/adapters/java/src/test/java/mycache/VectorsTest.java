package mycache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
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

/** Plays the vectors that need only what is declared; another pack is named by ENTRYCACHE_VECTORS. */
class VectorsTest {
    @Test
    void vectors() throws Exception {
        Path pack = Path.of(System.getenv().getOrDefault("ENTRYCACHE_VECTORS", "vectors/small.jsonl.gz"));
        byte[] text = new GZIPInputStream(Files.newInputStream(pack)).readAllBytes();
        String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        var manifest = JsonParser.parseString(Files.readString(pack.resolveSibling("manifest.json"))).getAsJsonObject();
        assertTrue(manifest.toString().contains(hash), pack + " is not as the manifest beside it says");
        MyCache mine = new MyCache();
        var ops = mine.operations().stream().map(Operation::name).toList();
        List<?> settings = new Gson().fromJson(mine.declares().get("config"), List.class);
        List<?> shown = new Gson().fromJson(mine.declares().get("introspection"), List.class);
        List<String> lines = new String(text, "UTF-8").lines().toList();
        int played = 0, own = 0;
        for (String line : lines) {
            JsonObject vector = JsonParser.parseString(line).getAsJsonObject();
            var steps = vector.getAsJsonArray("steps");
            var asks = steps.asList().stream().map(step -> step.getAsJsonObject().get("op").getAsString()).toList();
            String note = vector.get("note").getAsString();
            var others = manifest.getAsJsonObject("varies").getAsJsonObject(note.split(" ")[0]).deepCopy();
            others.entrySet().removeAll(vector.getAsJsonObject("config").entrySet());
            boolean offered = ops.containsAll(asks) && settings.containsAll(others.keySet());
            boolean ours = vector.get("system").getAsString().equals(mine.system());
            own += ours ? 1 : 0;
            if (!offered || !ours || steps.isEmpty()) {
                continue;
            }
            vector.addProperty("cmd", "run");
            JsonObject answer = new Server<>(mine).answer(vector);
            assertTrue(answer.has("outcomes"), () -> note + ": " + answer);
            for (int at = 0; at < steps.size(); at++) {
                JsonObject expected = vector.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                JsonObject got = answer.getAsJsonArray("outcomes").get(at).getAsJsonObject();
                got.remove("message"); // of a refusal, for people
                if (asks.get(at).equals("observe")) {
                    expected.keySet().retainAll(shown);
                    got.keySet().retainAll(shown);
                }
                assertEquals(expected, got, note + ": step " + at + ", " + steps.get(at));
            }
            played++;
        }
        System.out.println(played + " of " + own + " vectors played; the others need more than is declared");
        assertTrue(played >= 10 && 10 * played >= own, "too few vectors were played: expected 10, and one of ten");
    }
}

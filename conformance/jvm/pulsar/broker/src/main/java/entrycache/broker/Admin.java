package entrycache.broker;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The three calls of the broker's admin interface that the clients use. */
final class Admin {
    private final String web;
    private final HttpClient http = HttpClient.newHttpClient();

    Admin(String web) {
        this.web = web;
    }

    void unload(String topic) throws IOException, InterruptedException {
        call("PUT", topic, "/unload");
    }

    void trim(String topic) throws IOException, InterruptedException {
        call("POST", topic, "/trim");
    }

    void delete(String topic) throws IOException, InterruptedException {
        call("DELETE", topic, "?force=true");
    }

    private void call(String method, String topic, String rest) throws IOException, InterruptedException {
        URI uri = URI.create(web + "/admin/v2/" + topic.replace("://", "/") + rest);
        HttpRequest request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        System.out.println(method + " " + rest + " of " + topic + ": " + status);
    }
}

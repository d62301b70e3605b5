package plimsoll.services.api;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/** What the interface waits for before it answers: a page of another service, or nothing. */
@Component
class Dependency {
    private final HttpClient client;
    private final HttpRequest request;

    Dependency(@Value("${dependency}") String url, @Value("${dependency-timeout}") Duration timeout) {
        client = url.isEmpty() ? null : HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        request = url.isEmpty() ? null : HttpRequest.newBuilder(URI.create(url)).timeout(timeout).build();
    }

    /** Gets the page, if there is one. Fails as a gateway does where it is not to be had. */
    void call() {
        if (client == null) {
            return;
        }
        int status = status();
        if (status != 200) {
            throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, request.uri() + " answered " + status);
        }
    }

    private int status() {
        try {
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        } catch (IOException failure) {
            throw new ResponseStatusException(HttpStatus.BAD_GATEWAY, request.uri() + ": " + failure);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "stopping");
        }
    }
}

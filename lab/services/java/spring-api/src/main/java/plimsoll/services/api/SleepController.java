package plimsoll.services.api;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** A sleep whose length the request names, on a thread of Tomcat's: so many threads, so many at once. */
@RestController
class SleepController {
    /** How long to sleep, in milliseconds. */
    record Wanted(@NotNull @Min(0) @Max(60_000) Long sleep) {}

    /** Another answer than that of the lists: here the code is a text, and the message in capitals. */
    record Answer(String code, String msg, String body) {}

    @PostMapping("/test/testNginx")
    Answer sleep(@Valid @RequestBody Wanted wanted) throws InterruptedException {
        Thread.sleep(wanted.sleep());
        return new Answer("200", "OK", "test nginx");
    }
}

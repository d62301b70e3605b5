package plimsoll.services.api;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** The list whose length the request names, out of a local cache; its size on the wire is what is varied. */
@RestController
class ListController {
    private static final Server NGINX = new Server("nginx", "Igor Sysoev", "1.18", "高性能代理工具");

    private final Cache<Integer, List<Server>> lists =
            Caffeine.newBuilder().expireAfterWrite(Duration.ofMinutes(1000)).maximumSize(1000).build();
    private final Dependency dependency;

    ListController(Dependency dependency) {
        this.dependency = dependency;
    }

    record Wanted(@NotNull @Min(0) @Max(100_000) Integer number) {}

    record Server(String name, String author, String version, String desp) {}

    record Answer(int code, String msg, List<Server> body) {}

    @PostMapping("/test/testApi")
    Answer list(@Valid @RequestBody Wanted wanted) {
        dependency.call();
        return new Answer(200, "ok", lists.get(wanted.number(), length -> Collections.nCopies(length, NGINX)));
    }
}

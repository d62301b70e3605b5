package plimsoll.services.api;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Says that it serves; the dependency is not asked. */
@RestController
class HealthController {
    @GetMapping("/healthz")
    String healthz() {
        return "ok\n";
    }
}

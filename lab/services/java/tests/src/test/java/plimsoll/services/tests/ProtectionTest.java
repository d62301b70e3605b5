package plimsoll.services.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.common.CompositeCustomizer;
import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.springboot3.bulkhead.autoconfigure.BulkheadProperties;
import io.github.resilience4j.springboot3.ratelimiter.autoconfigure.RateLimiterProperties;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.io.FileSystemResource;

/** The settings that `plimsoll report --snippet resilience4j` prints, read as Spring Boot reads them. */
class ProtectionTest {
    private static final String NAME = "protected";

    /** The settings are the second document of their snapshot. A key that Spring Boot does not know is an error. */
    private static <T> T read(String prefix, Class<T> type) throws IOException {
        var file = new FileSystemResource(Path.of(System.getProperty("settings")));
        var settings = new YamlPropertySourceLoader().load("settings", file).get(1);
        var binder = new Binder(ConfigurationPropertySources.from(settings));
        return binder.bind(prefix, Bindable.of(type), new NoUnboundElementsBindHandler(BindHandler.DEFAULT)).get();
    }

    private static RateLimiterProperties limiters() throws IOException {
        return read("resilience4j.ratelimiter", RateLimiterProperties.class);
    }

    private static BulkheadProperties bulkheads() throws IOException {
        return read("resilience4j.bulkhead", BulkheadProperties.class);
    }

    @Test
    void theLimiterLetsInThePermitsOfAPeriodAndRefusesTheNextAtOnce() throws IOException {
        var config = limiters().createRateLimiterConfig(NAME, new CompositeCustomizer<>(List.of()));
        double rate = config.getLimitForPeriod() / (config.getLimitRefreshPeriod().toNanos() / 1e9);
        assertEquals(742, rate, 742 * 0.01);
        assertEquals(Duration.ZERO, config.getTimeoutDuration());
        var limiter = RateLimiter.of(NAME, config);
        while (limiter.acquirePermission()) {
            assertTrue(limiter.getMetrics().getAvailablePermissions() < config.getLimitForPeriod());
        }
    }

    @Test
    void theBulkheadRefusesAtOnceAndStandsInFrontOfTheLimiter() throws IOException {
        var config = bulkheads()
                .createBulkheadConfig(bulkheads().getInstances().get(NAME), new CompositeCustomizer<>(List.of()), NAME);
        assertEquals(Duration.ZERO, config.getMaxWaitDuration());
        var bulkhead = Bulkhead.of(NAME, config);
        for (int call = 0; call < config.getMaxConcurrentCalls(); call++) {
            assertTrue(bulkhead.tryAcquirePermission());
        }
        assertFalse(bulkhead.tryAcquirePermission());
        // Of two aspects of Spring the one with the higher order is further inside.
        assertTrue(limiters().getRateLimiterAspectOrder() > bulkheads().getBulkheadAspectOrder());
    }
}

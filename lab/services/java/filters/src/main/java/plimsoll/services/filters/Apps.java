package plimsoll.services.filters;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.sql.SQLException;
import java.time.Duration;
import net.spy.memcached.MemcachedClient;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** Apps out of the table, behind memcached and a cache of this process, as a request's switches say. */
final class Apps {
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static final int CACHED_SECONDS = 60;

    private final AppTable table;
    private final MemcachedClient memcached;
    private final Cache<Integer, App> local =
            Caffeine.newBuilder().expireAfterWrite(Duration.ofSeconds(CACHED_SECONDS)).maximumSize(10_000).build();

    /** Without memcached where that is null. */
    Apps(AppTable table, MemcachedClient memcached) {
        this.table = table;
        this.memcached = memcached;
    }

    /** The app of this number, or null. */
    App find(int id, Switches switches) throws SQLException {
        App app = switches.localCache() ? local.getIfPresent(id) : null;
        if (app != null) {
            return app;
        }
        app = switches.sharedCache() && memcached != null ? throughMemcached(id) : table.find(id);
        if (app != null && switches.localCache()) {
            local.put(id, app);
        }
        return app;
    }

    private App throughMemcached(int id) throws SQLException {
        Object cached = memcached.get("app:" + id);
        if (cached != null) {
            return JSON.readValue((String) cached, App.class);
        }
        App app = table.find(id);
        if (app != null) {
            memcached.set("app:" + id, CACHED_SECONDS, JSON.writeValueAsString(app));
        }
        return app;
    }
}

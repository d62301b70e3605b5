package plimsoll.services.filters;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.noear.solon.core.handle.Context;
import org.noear.solon.core.handle.Filter;
import org.noear.solon.core.handle.FilterChain;

/** Asks the collector whether the caller's address is allowed, for each request or now and then. */
final class WhitelistFilter implements Filter {
    private final CollectorClient collector;
    private final Cache<String, Boolean> allowed;

    WhitelistFilter(CollectorClient collector, Duration cached) {
        this.collector = collector;
        allowed = Caffeine.newBuilder().expireAfterWrite(cached).maximumSize(10_000).build();
    }

    @Override
    public void doFilter(Context context, FilterChain chain) throws Throwable {
        Request request = Request.of(context);
        if (allows(request.switches().whitelist(), context.remoteIp())) {
            chain.doFilter(context);
        } else {
            request.answer(context, 403, context.remoteIp() + " is not on the whitelist", null);
        }
    }

    private boolean allows(Switches.Whitelist how, String address) throws IOException {
        return switch (how) {
            case OFF -> true;
            case CALL -> collector.allows(address);
            case CACHED -> allowed.get(address, this::ask);
        };
    }

    private boolean ask(String address) {
        try {
            return collector.allows(address);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}

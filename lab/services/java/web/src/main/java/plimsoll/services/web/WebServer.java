package plimsoll.services.web;

import org.noear.solon.Solon;
import org.noear.solon.SolonApp;
import org.noear.solon.core.util.ConsumerEx;
import org.noear.solon.core.util.MultiMap;
import plimsoll.services.flags.FlagMistake;
import plimsoll.services.flags.Flags;

/** Where and how wide a Solon service listens. */
public record WebServer(String address, int port, int threads) {
    private static final int IDLE_CONNECTIONS = 10_000;

    /** As the flags say. */
    public static WebServer of(Flags flags, int port) throws FlagMistake {
        return new WebServer(
                flags.text("address", "0.0.0.0", "address to listen on"),
                flags.number("port", port, 1, 65535, "port to listen on"),
                flags.number("threads", 200, 1, 10_000, "requests worked on at once"));
    }

    /** Starts to serve the pages that {@code routes} adds. */
    public void start(Class<?> program, ConsumerEx<SolonApp> routes) {
        // The JDK's server would hold back small packets, and close all but 200 idle connections.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", Integer.toString(IDLE_CONNECTIONS));
        MultiMap<String> settings = new MultiMap<>();
        settings.put("server.host", address);
        settings.put("server.port", Integer.toString(port));
        settings.put("server.http.coreThreads", Integer.toString(threads));
        settings.put("server.http.maxThreads", Integer.toString(threads));
        Solon.start(program, settings, app -> {
            app.router().get("/healthz", context -> context.output("ok\n"));
            routes.accept(app);
        });
    }
}

package plimsoll.services.filters;

import java.io.IOException;
import java.time.Duration;
import net.spy.memcached.AddrUtil;
import net.spy.memcached.MemcachedClient;
import org.noear.solon.SolonApp;
import org.noear.solon.core.handle.Context;
import org.noear.solon.core.handle.FilterChain;
import plimsoll.services.flags.FlagMistake;
import plimsoll.services.flags.Flags;
import plimsoll.services.flags.Program;
import plimsoll.services.web.WebServer;

/** A simple interface, getAppByID, behind three filters that each call another service. */
public final class FiltersService {
    private final Switches switches;
    private final CollectorClient collector;
    private final PerfFilter perf;
    private final LogFilter log;
    private final WhitelistFilter whitelist;
    private Apps apps;

    private FiltersService(Flags flags) throws FlagMistake {
        switches = Switches.of(flags);
        String url = flags.text("collector", "http://127.0.0.1:9100", "URL of the collector");
        collector = new CollectorClient(url, new CollectorClient.Limits(
                flags.number("pool-threads", 8, 1, 1000, "threads of --send=pool"),
                flags.number("waiting", 1000, 1, 1_000_000, "records and entries that wait to be sent, of async and pool"),
                flags.number("idle-connections", 200, 0, 10_000, "connections to the collector kept; OkHttp itself keeps 5")));
        perf = new PerfFilter(collector, milliseconds(flags, "perf-interval", 1000, "between calls of --perf=buffered"));
        log = new LogFilter(collector, flags.number("log-batch", 200, 1, 10_000, "entries in a call of --log=batched"),
                milliseconds(flags, "log-idle", 1000, "that --log=batched waits where there is no entry"));
        whitelist = new WhitelistFilter(collector, milliseconds(flags, "whitelist-cache", 10_000, "of --whitelist=cached"));
    }

    private static Duration milliseconds(Flags flags, String name, int otherwise, String what) throws FlagMistake {
        return Duration.ofMillis(flags.number(name, otherwise, 1, 3_600_000, "milliseconds " + what));
    }

    /** Starts it; see {@code --help}. */
    public static void main(String[] args) {
        Program.run("filters", args, FiltersService::start);
    }

    private static void start(Flags flags) throws Exception {
        WebServer server = WebServer.of(flags, 1013);
        FiltersService service = new FiltersService(flags);
        String database = flags.text("database", "jdbc:mariadb://127.0.0.1:3306/apps?user=plimsoll&createDatabaseIfNotExist=true",
                "JDBC URL of MariaDB");
        int connections = flags.number("database-connections", 8, 1, 1000, "connections to it");
        String memcached = flags.text("memcached", "", "memcached as host:port; none: there is none");
        flags.end();
        service.apps = new Apps(new AppTable(database, connections), memcached.isEmpty() ? null : client(memcached));
        server.start(FiltersService.class, service::addRoutes);
        Runtime.getRuntime().addShutdownHook(new Thread(service::flush));
    }

    private static MemcachedClient client(String address) throws IOException {
        System.setProperty("net.spy.log.LoggerImpl", "net.spy.memcached.compat.log.SLF4JLogger");
        return new MemcachedClient(AddrUtil.getAddresses(address));
    }

    private void addRoutes(SolonApp app) {
        app.router().filter(0, this::begin);
        app.router().get("/getAppByID", this::getAppById);
        app.router().get("/counts", context -> context.outputAsJson("{\"unsent\":" + collector.failures() + "}"));
    }

    /** Takes the pages of this service itself past the filters; begins a request, and answers for what fails in it. */
    private void begin(Context context, FilterChain chain) throws Throwable {
        if (!context.path().equals("/getAppByID")) {
            chain.doFilter(context);
            return;
        }
        Request request = Request.begin(context, switches);
        try {
            String header = context.header("Switches");
            request = header == null ? request : Request.begin(context, switches.with(header));
            perf.doFilter(context, timed -> log.doFilter(timed, logged -> whitelist.doFilter(logged, chain)));
        } catch (IllegalArgumentException mistake) {
            request.answer(context, 400, mistake.getMessage(), null);
        } catch (Exception failure) {
            request.answer(context, 502, failure.toString(), null);
        }
    }

    private void getAppById(Context context) throws Exception {
        Request request = Request.of(context);
        String id = context.param("appID");
        if (id == null) {
            throw new IllegalArgumentException("the parameter appID is missing");
        }
        App app = apps.find(Integer.parseInt(id), request.switches());
        if (app == null) {
            request.answer(context, 404, "there is no app " + id, null);
        } else {
            request.answer(context, 200, "ok", app);
        }
    }

    private void flush() {
        perf.flush();
        log.flush();
    }
}

package plimsoll.services.collector;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.noear.solon.SolonApp;
import org.noear.solon.core.handle.Context;
import plimsoll.services.flags.Flags;
import plimsoll.services.flags.Program;
import plimsoll.services.web.WebServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** What the filters call: it takes records and logs, and says who may call. */
public final class Collector {
    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private final List<String> whitelist;
    private final Journal journal;
    private final LongAdder perfCalls = new LongAdder();
    private final LongAdder perfRequests = new LongAdder();
    private final LongAdder logCalls = new LongAdder();
    private final LongAdder logEntries = new LongAdder();
    private final LongAdder whitelistCalls = new LongAdder();

    private Collector(List<String> whitelist, Journal journal) {
        this.whitelist = whitelist;
        this.journal = journal;
    }

    /** What came so far: calls, and what was in them. */
    record Counts(long perfCalls, long perfRequests, long logCalls, long logEntries, long whitelistCalls) {}

    /** Starts it; see {@code --help}. */
    public static void main(String[] args) {
        Program.run("collector", args, Collector::start);
    }

    private static void start(Flags flags) throws Exception {
        WebServer server = WebServer.of(flags, 9100);
        List<String> whitelist = flags.list("whitelist", "", "beginnings of the addresses that may call; none: all may");
        String file = flags.text("journal", "", "file that each call appends to and flushes to disk before it is answered");
        flags.end();
        Collector collector = new Collector(whitelist, file.isEmpty() ? null : new Journal(file));
        server.start(Collector.class, collector::addRoutes);
    }

    private void addRoutes(SolonApp app) {
        app.router().post("/perf", this::perf);
        app.router().post("/log", this::log);
        app.router().get("/whitelist", this::whitelist);
        app.router().get("/counts", context -> context.outputAsJson(JSON.writeValueAsString(new Counts(
                perfCalls.sum(), perfRequests.sum(), logCalls.sum(), logEntries.sum(), whitelistCalls.sum()))));
    }

    /** Takes one summary: {@code {"name":…, "count":…, "total_us":…, "slowest_us":…}}. */
    private void perf(Context context) throws Exception {
        byte[] body = context.bodyAsBytes();
        perfRequests.add(JSON.readTree(body).path("count").asLong());
        perfCalls.increment();
        keep(body);
        context.output("ok\n");
    }

    /** Takes log entries, an array of them. */
    private void log(Context context) throws Exception {
        byte[] body = context.bodyAsBytes();
        JsonNode entries = JSON.readTree(body);
        logEntries.add(entries.size());
        logCalls.increment();
        keep(body);
        context.output("ok\n");
    }

    private void whitelist(Context context) {
        String address = context.paramOrDefault("ip", "");
        whitelistCalls.increment();
        context.output(Boolean.toString(whitelist.isEmpty() || whitelist.stream().anyMatch(address::startsWith)));
    }

    private void keep(byte[] body) throws Exception {
        if (journal != null) {
            journal.append(body);
        }
    }
}

package plimsoll.services.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class FiltersTest {
    private static final String PLAIN = "perf=off,log=off,whitelist=off";
    private static final String ANSWER =
            "{\"code\":200,\"msg\":\"ok\",\"body\":{\"app_id\":10970,\"app_key\":\"key-"
                    + Integer.toHexString(10970 * 0x9e3779b1) + "\",\"agroup_id\":1,\"name\":\"app 10970\"}}";
    private static final Pattern GETS = Pattern.compile("STAT cmd_get (\\d+)");
    private static final long ARRIVAL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    private static Part database;
    private static Part memcached;
    private static Part collector;
    private static Part filters;

    /** What the collector was sent. */
    record Counts(long perfCalls, long perfRequests, long logCalls, long logEntries, long whitelistCalls) {
        static Counts now() throws Exception {
            return JsonMapper.shared().readValue(Http.get(collector.url() + "/counts").body(), Counts.class);
        }

        Counts since(Counts before) {
            return new Counts(perfCalls - before.perfCalls, perfRequests - before.perfRequests,
                    logCalls - before.logCalls, logEntries - before.logEntries, whitelistCalls - before.whitelistCalls);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        database = Part.mariadb();
        memcached = Part.memcached();
        collector = Part.service("collector");
        filters = service(collector);
    }

    private static Part service(Part asked, String... more) throws Exception {
        String[] flags = {
            "--collector=" + asked.url(), "--memcached=" + memcached.address(),
            "--database=jdbc:mariadb://" + database.address() + "/apps?user=plimsoll&createDatabaseIfNotExist=true",
            "--perf-interval=100", "--log-idle=100",
        };
        String[] all = java.util.Arrays.copyOf(flags, flags.length + more.length);
        System.arraycopy(more, 0, all, flags.length, more.length);
        return Part.service("filters", all);
    }

    @AfterAll
    static void end() throws Exception {
        filters.close();
        collector.close();
        memcached.close();
        database.close();
    }

    private static HttpResponse<String> app(String id, String switches) throws Exception {
        return Http.get(filters.url() + "/getAppByID?appID=" + id, "Switches", switches);
    }

    private static void ask(int times, String switches) throws Exception {
        for (int i = 0; i < times; i++) {
            assertEquals(ANSWER, app("10970", switches).body());
        }
    }

    /** What arrived since, once so many requests have been recorded and logged. */
    private static Counts arrived(Counts before, long perf, long log) throws Exception {
        long began = System.nanoTime();
        Counts since = Counts.now().since(before);
        while ((since.perfRequests < perf || since.logEntries < log) && System.nanoTime() - began < ARRIVAL_TIMEOUT_NS) {
            Thread.sleep(20);
            since = Counts.now().since(before);
        }
        // A call is counted before what it brings, and read before it: the first of these counts may be older than the second.
        return Counts.now().since(before);
    }

    private static int memcachedGets() throws Exception {
        Matcher matcher = GETS.matcher(memcached.ask("stats"));
        assertTrue(matcher.find());
        return Integer.parseInt(matcher.group(1));
    }

    @Test
    void as_found_each_request_makes_three_calls() throws Exception {
        Counts before = Counts.now();
        for (int i = 0; i < 5; i++) {
            assertEquals(ANSWER, Http.get(filters.url() + "/getAppByID?appID=10970").body());
        }
        assertEquals(new Counts(5, 5, 5, 5, 5), arrived(before, 5, 5));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sync", "async", "pool"})
    void each_way_of_sending_delivers_everything(String way) throws Exception {
        Counts before = Counts.now();
        ask(20, "whitelist=off,perf=call,log=call,send=" + way);
        assertEquals(new Counts(20, 20, 20, 20, 0), arrived(before, 20, 20));
    }

    @Test
    void a_filter_that_is_off_calls_nobody() throws Exception {
        Counts before = Counts.now();
        ask(5, PLAIN);
        ask(5, "perf=off,whitelist=off,log=call,send=sync");
        assertEquals(new Counts(0, 0, 5, 5, 0), Counts.now().since(before));
    }

    @Test
    void a_cached_whitelist_is_asked_once() throws Exception {
        try (Part fresh = service(collector, "--perf=off", "--log=off", "--whitelist=cached")) {
            Counts before = Counts.now();
            for (int i = 0; i < 10; i++) {
                assertEquals(ANSWER, Http.get(fresh.url() + "/getAppByID?appID=10970").body());
            }
            assertEquals(new Counts(0, 0, 0, 0, 1), Counts.now().since(before));
        }
    }

    @Test
    void buffered_records_and_batched_logs_arrive_whole_in_fewer_calls() throws Exception {
        Counts before = Counts.now();
        ask(200, "whitelist=off,perf=buffered,log=batched");
        Counts since = arrived(before, 200, 200);
        assertEquals(200, since.perfRequests);
        assertEquals(200, since.logEntries);
        assertTrue(since.perfCalls < 100 && since.logCalls < 100, since.toString());
    }

    @Test
    void what_waits_is_sent_when_it_ends() throws Exception {
        Counts before = Counts.now();
        try (Part ending = service(collector, "--whitelist=off", "--perf=buffered", "--log=batched",
                "--perf-interval=3600000", "--log-idle=3600000")) {
            for (int i = 0; i < 3; i++) {
                assertEquals(ANSWER, Http.get(ending.url() + "/getAppByID?appID=10970").body());
            }
            assertEquals(143, ending.terminate());
            assertEquals("", ending.log());
        }
        assertEquals(new Counts(1, 3, 1, 3, 0), Counts.now().since(before));
    }

    @Test
    void memcached_is_asked_unless_the_local_cache_knows_or_it_is_off() throws Exception {
        String both = PLAIN + ",shared-cache=on,local-cache=on";
        ask(1, both);
        int before = memcachedGets();
        ask(10, both);
        ask(10, PLAIN + ",shared-cache=off,local-cache=off");
        assertEquals(0, memcachedGets() - before);
        ask(10, PLAIN + ",shared-cache=on,local-cache=off");
        assertEquals(10, memcachedGets() - before);
    }

    @Test
    void who_is_not_on_the_whitelist_is_refused() throws Exception {
        try (Part strict = Part.service("collector", "--whitelist=10.,192.168.");
                Part closed = service(strict, "--perf=off", "--log=off")) {
            assertEquals(403, Http.get(closed.url() + "/getAppByID?appID=10970").statusCode());
        }
    }

    @Test
    void mistakes_are_told() throws Exception {
        assertEquals(404, app("1", PLAIN).statusCode());
        assertEquals(400, app("x", PLAIN).statusCode());
        HttpResponse<String> unknown = app("10970", "cache=on");
        assertEquals(400, unknown.statusCode());
        assertTrue(unknown.body().contains("there is no switch 'cache'"), unknown.body());
    }

    @Test
    void a_collector_that_is_gone_is_told_to_whoever_waits_for_it() throws Exception {
        Part gone = Part.service("collector");
        try (Part alone = service(gone, "--perf=off", "--log=off")) {
            assertEquals(200, Http.get(alone.url() + "/getAppByID?appID=10970").statusCode());
            gone.close();
            assertEquals(502, Http.get(alone.url() + "/getAppByID?appID=10970").statusCode());
        }
    }
}

package plimsoll.services.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CollectorTest {
    private static final String RECORD = "{\"name\":\"getAppByID\",\"count\":1,\"total_us\":900,\"slowest_us\":900}";
    private static final String SUMMARY = "{\"name\":\"getAppByID\",\"count\":250,\"total_us\":90000,\"slowest_us\":1200}";
    private static final String ENTRY =
            "{\"at_ms\":1,\"level\":\"info\",\"name\":\"/getAppByID\",\"input\":\"appID=10970\",\"output\":\"高\"}";

    @TempDir
    private static Path folder;

    private static Path journal;
    private static Part keeping;

    @BeforeAll
    static void start() throws Exception {
        journal = folder.resolve("journal");
        keeping = Part.service("collector", "--journal=" + journal);
    }

    @AfterAll
    static void end() throws Exception {
        keeping.close();
    }

    private static void take(String page, String body) throws Exception {
        HttpResponse<String> answer = Http.post(keeping.url() + page, body);
        assertEquals(200, answer.statusCode());
        assertEquals("ok\n", answer.body());
    }

    private static String batch(int entries) {
        return "[" + String.join(",", Collections.nCopies(entries, ENTRY)) + "]";
    }

    private static String counts(Part collector) throws Exception {
        return Http.get(collector.url() + "/counts").body();
    }

    private static String allows(Part collector, String query) throws Exception {
        return Http.get(collector.url() + "/whitelist" + query).body();
    }

    @Test
    void calls_and_what_is_in_them_are_counted() throws Exception {
        try (Part collector = Part.service("collector")) {
            assertEquals("ok\n", Http.get(collector.url() + "/healthz").body());
            assertEquals("{\"perfCalls\":0,\"perfRequests\":0,\"logCalls\":0,\"logEntries\":0,\"whitelistCalls\":0}",
                    counts(collector));
            for (String record : List.of(RECORD, SUMMARY)) {
                assertEquals("ok\n", Http.post(collector.url() + "/perf", record).body());
            }
            for (int entries : List.of(1, 200, 0)) {
                assertEquals("ok\n", Http.post(collector.url() + "/log", batch(entries)).body());
            }
            assertEquals("true", allows(collector, "?ip=10.1.2.3"));
            assertEquals("{\"perfCalls\":2,\"perfRequests\":251,\"logCalls\":3,\"logEntries\":201,\"whitelistCalls\":1}",
                    counts(collector));
            assertEquals(143, collector.terminate());
            assertEquals("", collector.log());
        }
    }

    @Test
    void each_call_is_a_line_of_the_journal_when_it_is_answered() throws Exception {
        List<String> expected = new ArrayList<>(lines());
        for (int i = 0; i < 5; i++) {
            take("/perf", RECORD);
            expected.add(RECORD);
            assertEquals(expected, lines());
            take("/log", batch(200));
            expected.add(batch(200));
            assertEquals(expected, lines());
        }
        assertEquals("true", allows(keeping, "?ip=10.1.2.3"));
        assertEquals(expected, lines());
    }

    private static List<String> lines() throws IOException {
        return Files.readAllLines(journal);
    }

    @Test
    void calls_at_once_leave_whole_lines() throws Exception {
        int before = Collections.frequency(lines(), batch(100));
        List<CompletableFuture<Void>> callers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            callers.add(CompletableFuture.runAsync(CollectorTest::logTenTimes, task -> new Thread(task).start()));
        }
        for (CompletableFuture<Void> caller : callers) {
            caller.get();
        }
        assertEquals(80, Collections.frequency(lines(), batch(100)) - before);
        assertTrue(List.of(RECORD, batch(100), batch(200)).containsAll(lines()));
    }

    private static void logTenTimes() {
        try {
            for (int i = 0; i < 10; i++) {
                take("/log", batch(100));
            }
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void a_journal_goes_on_where_it_ended() throws Exception {
        Path kept = Files.writeString(folder.resolve("kept"), "before\n");
        try (Part collector = Part.service("collector", "--journal=" + kept)) {
            assertEquals("ok\n", Http.post(collector.url() + "/perf", RECORD).body());
            assertEquals(143, collector.terminate());
        }
        assertEquals("before\n" + RECORD + "\n", Files.readString(kept));
    }

    /** What is written to {@code /dev/null} cannot be flushed, which the system tells whoever tries. */
    @Test
    void a_call_that_is_not_on_the_disk_is_not_answered_as_if_it_were() throws Exception {
        try (Part collector = Part.service("collector", "--journal=/dev/null")) {
            assertEquals(500, Http.post(collector.url() + "/perf", RECORD).statusCode());
            assertEquals(500, Http.post(collector.url() + "/log", batch(2)).statusCode());
            assertEquals("true", allows(collector, "?ip=10.1.2.3"));
        }
    }

    @Test
    void a_journal_in_no_folder_ends_it_at_the_start() {
        String nowhere = folder.resolve("missing").resolve("journal").toString();
        IOException refused = assertThrows(IOException.class, () -> Part.service("collector", "--journal=" + nowhere).close());
        assertTrue(refused.getMessage().contains(nowhere), refused.getMessage());
    }

    @Test
    void a_whitelist_names_the_beginnings_of_addresses() throws Exception {
        try (Part strict = Part.service("collector", "--whitelist=10.,192.168.")) {
            assertEquals("true", allows(strict, "?ip=10.1.2.3"));
            assertEquals("true", allows(strict, "?ip=192.168.0.1"));
            assertEquals("false", allows(strict, "?ip=100.1.2.3"));
            assertEquals("false", allows(strict, "?ip=110.1.2.3"));
            assertEquals("false", allows(strict, "?ip=192.16.8.1"));
            assertEquals("false", allows(strict, ""));
        }
    }

    @Test
    void what_is_no_json_is_refused_and_not_counted() throws Exception {
        try (Part collector = Part.service("collector")) {
            String nothing = counts(collector);
            assertEquals(500, Http.post(collector.url() + "/perf", "count=1").statusCode());
            assertEquals(500, Http.post(collector.url() + "/log", "[{").statusCode());
            assertEquals(nothing, counts(collector));
            assertEquals(404, Http.get(collector.url() + "/elsewhere").statusCode());
        }
    }
}

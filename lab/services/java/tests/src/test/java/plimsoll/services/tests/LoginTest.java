package plimsoll.services.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoginTest {
    private static final Pattern GETS = Pattern.compile("cmdstat_get:calls=(\\d+)");
    private static final String SEVENTH =
            "{\"code\":200,\"msg\":\"ok\",\"body\":{\"id\":7,\"name\":\"user7\",\"rights\":\"read,write\","
                    + "\"session\":\"" + Long.toHexString(0x9e3779b97f4a7c15L * 7) + "\"}}";

    private static Part even;
    private static Part odd;
    private static Part direct;

    @BeforeAll
    static void start() throws Exception {
        even = Part.redis();
        odd = Part.redis();
        direct = Part.service("tomcat-login", "--mode=redis", "--redis=" + even.address() + "," + odd.address());
    }

    @AfterAll
    static void end() throws Exception {
        direct.close();
        odd.close();
        even.close();
    }

    private static HttpResponse<String> login(Part service, String query) throws Exception {
        return Http.get(service.url() + "/api/login" + query);
    }

    private static int gets(Part redis) throws Exception {
        Matcher matcher = GETS.matcher(redis.ask("info commandstats"));
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    @Test
    void an_empty_one_answers_at_once() throws Exception {
        try (Part empty = Part.service("tomcat-login")) {
            assertEquals("ok\n", Http.get(empty.url() + "/").body());
            assertTrue(login(empty, "?id=7").body().startsWith("{\"code\":200,\"msg\":\"ok\",\"body\":{\"id\":7,"));
            assertEquals(404, Http.get(empty.url() + "/elsewhere").statusCode());
            assertEquals(143, empty.terminate());
            assertEquals("", empty.log());
            assertEquals(0, empty.leavings(), "folders of Tomcat's");
        }
    }

    @Test
    void a_login_is_three_reads_of_the_instance_that_has_the_account() throws Exception {
        int evenBefore = gets(even);
        int oddBefore = gets(odd);
        assertEquals(SEVENTH, login(direct, "?id=7").body());
        assertEquals(3, gets(odd) - oddBefore);
        assertEquals(0, gets(even) - evenBefore);
    }

    @Test
    void logins_without_a_number_reach_every_instance() throws Exception {
        int evenBefore = gets(even);
        int oddBefore = gets(odd);
        for (int i = 0; i < 60; i++) {
            assertEquals(200, login(direct, "").statusCode());
        }
        assertEquals(180, gets(even) - evenBefore + gets(odd) - oddBefore);
        assertTrue(gets(even) > evenBefore && gets(odd) > oddBefore);
    }

    @Test
    void who_is_not_there_and_what_is_not_said_are_told() throws Exception {
        assertEquals(404, login(direct, "?id=1001").statusCode());
        assertEquals(400, login(direct, "?id=x").statusCode());
        assertEquals(400, login(direct, "/writeStr?key=MYSTR").statusCode());
    }

    @Test
    void strings_and_hashes_are_written() throws Exception {
        assertEquals("{\"code\":200,\"msg\":\"ok\",\"body\":\"OK\"}", login(direct, "/writeStr?key=MYSTR&value=SUCCESS").body());
        assertEquals(200, login(direct, "/writeHash?key=MYHASH&field=fffff&value=vvvvvv").statusCode());
        String stored = even.ask("get MYSTR", "hget MYHASH fffff") + odd.ask("get MYSTR", "hget MYHASH fffff");
        assertTrue(stored.contains("SUCCESS") && stored.contains("vvvvvv"), stored);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tri", "dubbo"})
    void through_dubbo_the_answers_are_the_same_and_providers_take_turns(String protocol) throws Exception {
        try (Part first = Part.service("dubbo-provider", "--protocol=" + protocol, "--redis=" + even.address());
                Part second = Part.service("dubbo-provider", "--protocol=" + protocol, "--redis=" + odd.address());
                Part consumer = Part.service("tomcat-login", "--mode=dubbo",
                        "--dubbo=" + protocol + "://" + first.address() + "," + protocol + "://" + second.address())) {
            int evenBefore = gets(even);
            int oddBefore = gets(odd);
            for (int i = 0; i < 10; i++) {
                assertEquals(SEVENTH, login(consumer, "?id=7").body());
            }
            assertEquals(15, gets(even) - evenBefore);
            assertEquals(15, gets(odd) - oddBefore);
            assertEquals(404, login(consumer, "?id=1001").statusCode());
            assertEquals("{\"code\":200,\"msg\":\"ok\",\"body\":\"OK\"}",
                    login(consumer, "/writeStr?key=MYSTR&value=SUCCESS").body());
            assertEquals(200, login(consumer, "/writeHash?key=MYHASH&field=fffff&value=vvvvvv").statusCode());
            // Before they end: threads of Dubbo race then on a busy machine, and log it.
            assertEquals("", consumer.log() + first.log());
            assertEquals(143, consumer.terminate());
            assertEquals(143, first.terminate());
        }
    }
}

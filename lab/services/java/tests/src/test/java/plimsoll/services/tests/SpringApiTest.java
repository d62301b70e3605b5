package plimsoll.services.tests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class SpringApiTest {
    private static final String ITEM =
            "{\"name\":\"nginx\",\"author\":\"Igor Sysoev\",\"version\":\"1.18\",\"desp\":\"高性能代理工具\"}";
    private static final AtomicInteger ASKED = new AtomicInteger();

    private static HttpServer dependency;
    private static volatile int dependencyStatus = 200;
    private static Part plain;
    private static Part dependent;

    @BeforeAll
    static void start() throws Exception {
        dependency = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        dependency.createContext("/", exchange -> {
            ASKED.incrementAndGet();
            exchange.sendResponseHeaders(dependencyStatus, -1);
            exchange.close();
        });
        dependency.start();
        plain = Part.service("spring-api", "--threads=2");
        dependent = Part.service("spring-api", "--dependency=http://127.0.0.1:" + dependency.getAddress().getPort() + "/slow");
    }

    @AfterAll
    static void end() throws Exception {
        dependency.stop(0);
        plain.close();
        dependent.close();
    }

    private static HttpResponse<String> list(Part service, int number) throws Exception {
        return Http.post(service.url() + "/test/testApi", "{\"number\": " + number + "}");
    }

    @Test
    void a_list_has_as_many_items_as_asked_the_first_time_and_out_of_the_cache() throws Exception {
        String two = "{\"code\":200,\"msg\":\"ok\",\"body\":[" + ITEM + "," + ITEM + "]}";
        assertEquals(two, list(plain, 2).body());
        assertEquals(two, list(plain, 2).body());
        assertEquals("{\"code\":200,\"msg\":\"ok\",\"body\":[]}", list(plain, 0).body());
        assertEquals(391, list(plain, 391).body().split("\"name\"", -1).length - 1);
    }

    @Test
    void a_number_that_no_list_has_is_refused() throws Exception {
        assertEquals(400, list(plain, -1).statusCode());
        assertEquals(400, Http.post(plain.url() + "/test/testApi", "{}").statusCode());
    }

    @Test
    void a_sleep_answers_when_it_is_over() throws Exception {
        long began = System.nanoTime();
        HttpResponse<String> answer = Http.post(plain.url() + "/test/testNginx", "{\"sleep\": 100}");
        assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(100));
        assertEquals("{\"code\":\"200\",\"msg\":\"OK\",\"body\":\"test nginx\"}", answer.body());
    }

    @Test
    void no_more_sleep_at_once_than_there_are_threads() throws Exception {
        long began = System.nanoTime();
        List<CompletableFuture<Integer>> sleeps = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            sleeps.add(CompletableFuture.supplyAsync(SpringApiTest::sleep, task -> new Thread(task).start()));
        }
        for (CompletableFuture<Integer> sleep : sleeps) {
            assertEquals(200, sleep.get());
        }
        assertTrue(System.nanoTime() - began >= TimeUnit.MILLISECONDS.toNanos(400));
    }

    private static int sleep() {
        try {
            return Http.post(plain.url() + "/test/testNginx", "{\"sleep\": 200}").statusCode();
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void the_dependency_is_asked_before_each_answer_and_its_failure_is_told() throws Exception {
        int before = ASKED.get();
        assertEquals(200, list(dependent, 2).statusCode());
        assertEquals(200, Http.get(dependent.url() + "/healthz").statusCode());
        assertEquals(before + 1, ASKED.get());
        dependencyStatus = 500;
        assertEquals(502, list(dependent, 2).statusCode());
        dependencyStatus = 200;
    }

    @Test
    void it_is_quiet_and_ends_at_sigterm() throws Exception {
        try (Part service = Part.service("spring-api")) {
            assertEquals("ok\n", Http.get(service.url() + "/healthz").body());
            assertEquals(143, service.terminate());
            assertEquals("", service.log());
        }
    }
}

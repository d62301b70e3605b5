package plimsoll.services.login;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import plimsoll.services.accounts.Account;
import plimsoll.services.accounts.Accounts;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** The pages: login, the two that write, and the empty one. */
final class LoginServlet extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static final byte[] OK = "ok\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

    private final transient Accounts accounts;
    private final int count;

    LoginServlet(Accounts accounts, int count) {
        this.accounts = accounts;
        this.count = count;
    }

    /** What every page but the empty one answers. */
    record Answer(int code, String msg, Object body) {
        static Answer ok(Object body) {
            return new Answer(200, "ok", body);
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        switch (request.getRequestURI()) {
            case "/", "/healthz" -> write(response, 200, "text/plain", OK);
            case "/api/login", "/api/login/writeStr", "/api/login/writeHash" -> answer(request, response);
            default -> response.setStatus(404);
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Answer answer;
        try {
            answer = answer(request);
        } catch (IllegalArgumentException mistake) {
            answer = new Answer(400, mistake.getMessage(), null);
        } catch (RuntimeException failure) {
            // Of what is behind: it is told to the client, whose figures are to show it, and not logged per request.
            answer = new Answer(502, failure.toString(), null);
        }
        write(response, answer.code(), "application/json", JSON.writeValueAsBytes(answer));
    }

    private Answer answer(HttpServletRequest request) {
        return switch (request.getRequestURI()) {
            case "/api/login/writeStr" ->
                    Answer.ok(accounts.writeString(parameter(request, "key"), parameter(request, "value")));
            case "/api/login/writeHash" -> Answer.ok(accounts.writeHash(
                    parameter(request, "key"), parameter(request, "field"), parameter(request, "value")));
            default -> login(request.getParameter("id"));
        };
    }

    private Answer login(String id) {
        // Without a number each request is another account's, so that one fixed request reaches every instance.
        long number = id == null ? ThreadLocalRandom.current().nextLong(count) + 1 : Long.parseLong(id);
        Account account = accounts.login(number);
        return account == null ? new Answer(404, "there is no account " + number, null) : Answer.ok(account);
    }

    private static String parameter(HttpServletRequest request, String name) {
        String value = request.getParameter(name);
        if (value == null) {
            throw new IllegalArgumentException("the parameter " + name + " is missing");
        }
        return value;
    }

    private static void write(HttpServletResponse response, int status, String type, byte[] body) throws IOException {
        response.setStatus(status);
        response.setContentType(type);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}

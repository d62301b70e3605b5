package plimsoll.services.filters;

import org.noear.solon.core.handle.Context;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** What belongs to one request: its switches, and its answer once that is known. */
final class Request {
    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private final Switches switches;
    private String output = "";

    private Request(Switches switches) {
        this.switches = switches;
    }

    /** What is answered. */
    private record Answer(int code, String msg, Object body) {}

    /** Begins a request with these switches. */
    static Request begin(Context context, Switches switches) {
        Request request = new Request(switches);
        context.attrSet("request", request);
        return request;
    }

    /** The request that was begun. */
    static Request of(Context context) {
        return context.attr("request");
    }

    Switches switches() {
        return switches;
    }

    /** The answer's text; empty before there is one. */
    String output() {
        return output;
    }

    /** Answers with the status that the code is. */
    void answer(Context context, int code, String message, Object body) {
        output = JSON.writeValueAsString(new Answer(code, message, body));
        context.status(code);
        context.outputAsJson(output);
    }
}

%% MochiWeb with a bound on its connections, and a page that waits: mochi PORT CONNECTIONS MILLISECONDS
-module(mochi).
-export([start/1]).

start(Arguments) ->
    [Port, Connections, Milliseconds] = [list_to_integer(A) || A <- Arguments],
    {ok, _} = application:ensure_all_started(mochiweb),
    {ok, _} = mochiweb_http:start([
        {name, mochi}, {link, false}, {ip, "0.0.0.0"}, {port, Port}, {backlog, 1024}, {max, Connections}, {acceptor_pool_size, 2},
        {loop, fun(Request) -> answer(Request, Milliseconds) end}]).

answer({mochiweb_request, _} = Request, Milliseconds) ->
    case mochiweb_request:get(path, Request) of
        "/healthz" -> ok;
        _ -> timer:sleep(Milliseconds)
    end,
    mochiweb_request:ok({"text/plain", "ok"}, Request).

%% Yaws whose requests all ask one of a few processes, each of which does one thing at a time and waits for it: gate PORT PROCESSES MILLISECONDS
-module(gate).
-behaviour(gen_server).
-export([start/1, out/1, init/1, handle_call/3, handle_cast/2]).

-include("yaws_api.hrl").

start([Folder, Port, Processes, Milliseconds]) ->
    Count = list_to_integer(Processes),
    [{ok, _} = gen_server:start({local, name(I)}, ?MODULE, list_to_integer(Milliseconds), []) || I <- lists:seq(1, Count)],
    persistent_term:put(gates, Count),
    ok = yaws:start_embedded(Folder,
        [{port, list_to_integer(Port)}, {listen, {0, 0, 0, 0}}, {listen_opts, [{backlog, 1024}]},
         {appmods, [{"/", ?MODULE}]}, {flags, [{access_log, false}, {auth_log, false}]}],
        [{logdir, Folder}], "gate").

out(#arg{req = #http_request{path = {abs_path, "/healthz"}}}) ->
    {content, "text/plain", "ok"};
out(_) ->
    One = name(1 + erlang:unique_integer([positive, monotonic]) rem persistent_term:get(gates)),
    {content, "text/plain", integer_to_list(gen_server:call(One, work, infinity))}.

name(I) -> list_to_atom("gate_" ++ integer_to_list(I)).

init(Milliseconds) -> {ok, Milliseconds}.

handle_call(work, _From, Milliseconds) ->
    timer:sleep(Milliseconds),
    {reply, Milliseconds, Milliseconds}.

handle_cast(_, Milliseconds) -> {noreply, Milliseconds}.

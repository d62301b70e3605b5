-- Answers after some 0.2 ms of arithmetic.
core.register_service("work", "http", function(applet)
    local sum = 0
    for i = 1, 20000 do
        sum = sum + i % 7
    end
    local body = tostring(sum)
    applet:set_status(200)
    applet:add_header("content-length", string.len(body))
    applet:start_response()
    applet:send(body)
end)

//! Scripts in the ways that people write them who have never read ours.

use super::{Bench, answer, next, next_line};

#[test]
fn paths_are_read_from_a_file_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("paths.txt");
    std::fs::write(&list, "/a\n/b?x=1\n\n/c\n").unwrap();
    let text = format!(
        "local paths = {{}}
         for line in io.lines('{}') do
           if line ~= '' then table.insert(paths, line) end
         end
         if #paths <= 0 then os.exit() end
         local counter = 0
         request = function()
           counter = counter % #paths + 1
           return wrk.format(nil, paths[counter])
         end",
        list.display()
    );
    let mut thread = Bench::new().thread(&text);
    let lines: Vec<_> = (0..3).map(|_| next_line(&mut thread)).collect();
    assert_eq!(lines, ["GET /b?x=1 HTTP/1.1", "GET /c HTTP/1.1", "GET /a HTTP/1.1"]);
}

#[test]
fn json_is_filled_into_a_template_with_random_numbers_and_times() {
    let text = r#"math.randomseed(os.time())
        wrk.method = "POST"
        wrk.headers["Content-Type"] = "application/json"
        local template = '{"id": %d, "name": "user-%s", "at": "%s"}'
        request = function()
          local id = math.random(1, 1000)
          wrk.body = string.format(template, id, string.rep("x", 3), os.date("!%Y", 0))
          return wrk.format()
        end"#;
    let request = next(&mut Bench::new().thread(text));
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(
        body.starts_with("{\"id\": ") && body.ends_with(", \"name\": \"user-xxx\", \"at\": \"1970\"}"),
        "{body}"
    );
    assert!(head.contains(&format!("\r\nContent-Length: {}", body.len())), "{head}");
}

#[test]
fn a_token_is_cut_out_of_a_json_answer() {
    let text = r#"local token
        request = function()
          if token then return wrk.format("GET", "/me", {Authorization = "Bearer " .. token}) end
          return wrk.format("POST", "/login", wrk.headers, '{"user":"a"}')
        end
        response = function(status, headers, body)
          if not token and status == 200 then token = body:match('"token"%s*:%s*"([^"]+)"') end
        end"#;
    let mut thread = Bench::new().thread(text);
    assert_eq!(next_line(&mut thread), "POST /login HTTP/1.1");
    answer(&mut thread, 200, &[("Content-Type", "application/json")], "{\"token\": \"a.b.c\"}");
    let request = next(&mut thread);
    assert!(
        request.contains("\r\nAuthorization: Bearer a.b.c\r\n") && request.contains("\r\nHost: "),
        "{request}"
    );
}

#[test]
fn requests_may_be_written_out_by_hand() {
    let text = "request = function() return 'GET / HTTP/1.1\\r\\nHost: me\\r\\n\\r\\n' end";
    assert_eq!(next(&mut Bench::new().thread(text)), "GET / HTTP/1.1\r\nHost: me\r\n\r\n");
}

#[test]
fn modules_are_required_from_a_folder_of_the_script_and_wrk_itself_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("paths.lua"), "return {'/from/module'}").unwrap();
    let text = format!(
        "assert(package.path:sub(1, 7) == './?.lua')
         package.path = '{}/?.lua;' .. package.path
         local paths, same = require('paths'), require('wrk')
         assert(same == wrk)
         wrk.path = paths[1]",
        folder.path().display()
    );
    assert_eq!(next_line(&mut Bench::new().thread(&text)), "GET /from/module HTTP/1.1");
}

#[test]
fn luajit_is_there_with_its_own_libraries() {
    let text = "wrk.path = '/' .. jit.version:match('LuaJIT 2%.1') .. require('bit').bxor(5, 1)
        wrk.path = wrk.path:gsub(' ', '-') .. tostring(jit.status())";
    assert_eq!(next_line(&mut Bench::new().thread(text)), "GET /LuaJIT-2.14true HTTP/1.1");
}

#[test]
fn a_thread_is_numbered_by_a_global_counter_of_the_main_state() {
    let text = "local thread_id = 1
        function setup(thread) thread:set('tid', thread_id) thread_id = thread_id + 1 end
        function init(args) rnd = tid * 100 end
        function request() return wrk.format('GET', '/item/' .. rnd) end";
    let (_, mut threads) = Bench::with_threads(2).load(text).unwrap();
    assert_eq!(next_line(&mut threads[1]), "GET /item/200 HTTP/1.1");
}

#[test]
fn the_first_line_of_a_script_may_name_its_interpreter() {
    assert_eq!(next_line(&mut Bench::new().thread("#!/usr/bin/env wrk\nwrk.path = '/x'")), "GET /x HTTP/1.1");
}

//! Each hook and each function of the table `wrk`, one at a time.

use std::time::Duration;

use super::{Bench, answer, found_at, next, next_line};

/// The lines of a request in an order that does not depend on Lua's.
fn sorted_lines(request: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = request.split("\r\n").collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_script_without_request_sends_one_frozen_text() {
    let bench = Bench::new();
    let mut thread = bench.thread("wrk.headers['X-A'] = 'b'\nfunction init() wrk.path = '/set/in/init' end");
    let fixed = thread.fixed_request().unwrap().to_vec();
    let host = format!("Host: {}", bench.address());
    let expected = ["", "", "GET /set/in/init HTTP/1.1", host.as_str(), "X-A: b"];
    assert_eq!(sorted_lines(std::str::from_utf8(&fixed).unwrap()), expected);
    assert_eq!(next(&mut thread).as_bytes(), fixed);
}

#[test]
fn the_table_wrk_describes_the_target_and_the_headers_of_the_command_line() {
    let mut bench = Bench::new();
    bench.options.headers = vec![("Accept".to_owned(), "a: b".to_owned())];
    let seen = "function request() return wrk.format('GET', (table.concat({wrk.scheme, wrk.host, wrk.port,
        type(wrk.port), wrk.path, wrk.method, wrk.headers.Accept, type(wrk.body)}, '|'):gsub(' ', '_'))) end";
    let line = next_line(&mut bench.thread(&seen.replace("wrk.headers.Accept", "'/' .. wrk.headers.Accept")));
    let port = bench.address().port();
    assert_eq!(line, format!("GET http|127.0.0.1|{port}|string|/index.html?q=1|GET|/a:_b|nil HTTP/1.1"));
}

#[test]
fn the_host_header_names_the_port_only_if_the_url_does_and_brackets_ipv6() {
    let mut bench = Bench::new();
    let found = found_at(&[bench.address()]);
    for (host, port, expected) in
        [("example.org", None, "example.org"), ("::1", None, "[::1]"), ("::1", Some("81"), "[::1]:81")]
    {
        bench.options.url.host = host.to_owned();
        bench.options.url.port = port.map(str::to_owned);
        assert!(next(&mut bench.thread(&found)).contains(&format!("\r\nHost: {expected}\r\n")));
    }
}

#[test]
fn a_host_header_of_the_command_line_stays() {
    let mut bench = Bench::new();
    bench.options.headers = vec![("Host".to_owned(), "virtual".to_owned())];
    assert!(next(&mut bench.thread("")).contains("\r\nHost: virtual\r\n"));
}

#[test]
fn init_gets_the_url_at_0_and_the_arguments_after_it() {
    let mut bench = Bench::new();
    bench.options.args.extend(["one".to_owned(), "two".to_owned()]);
    let mut thread = bench.thread(
        "function init(args) wrk.path = '/' .. args[1] .. args[2] .. #args .. args[0]:match('^http') end",
    );
    assert_eq!(next_line(&mut thread), "GET /onetwo2http HTTP/1.1");
}

#[test]
fn format_fills_what_is_nil_and_sets_host_and_length_in_the_table_it_is_given() {
    let bench = Bench::new();
    let text = "local mine = {['X-Mine'] = 1}
        function request()
          wrk.format('PUT', '/a', mine, 'hello')
          return wrk.format(nil, '/b/' .. mine['Content-Length'] .. '/' .. mine.Host, {}, 'four')
        end";
    let request = next(&mut bench.thread(text));
    let host = bench.address();
    let line = format!("GET /b/5/{host} HTTP/1.1");
    let field = format!("Host: {host}");
    assert_eq!(sorted_lines(&request), ["", "Content-Length: 4", line.as_str(), field.as_str(), "four"]);
}

#[test]
fn a_length_goes_when_the_body_goes() {
    let text = "local mine = {}
        function request() wrk.format(nil, nil, mine, 'hello') return wrk.format(nil, nil, mine) end";
    assert!(!next(&mut Bench::new().thread(text)).contains("Content-Length"));
}

#[test]
fn bodies_and_values_may_hold_any_byte() {
    let bench = Bench::new();
    let mut thread =
        bench.thread("wrk.body = 'a\\0\\255b'\nfunction request() return wrk.format('POST') end");
    let mut out = b"kept ".to_vec();
    thread.request(&mut out).unwrap();
    assert!(out.starts_with(b"kept POST ") && out.ends_with(b"\r\n\r\na\0\xffb"), "{out:?}");
}

#[test]
fn delays_are_whole_milliseconds_and_never_negative() {
    let text = "local delays = {1.9, 0, -5, '7', 0/0, 250}\nlocal i = 0
        function delay() i = i + 1 return delays[i] end";
    let mut thread = Bench::new().thread(text);
    let delays: Vec<_> = (0..7).map(|_| thread.delay().unwrap().unwrap().as_millis()).collect();
    assert_eq!(delays, [1, 0, 0, 7, 0, 250, 0]);
}

#[test]
fn a_delay_that_returns_nothing_is_none() {
    let mut thread = Bench::new().thread("function delay() end");
    assert_eq!(thread.delay().unwrap().unwrap(), Duration::ZERO);
    let mut two = Bench::new().thread("function delay() return 10, 16 end");
    assert_eq!(two.delay().unwrap().unwrap(), Duration::from_millis(10));
}

#[test]
fn an_endless_delay_is_only_very_long() {
    let mut thread = Bench::new().thread("function delay() return math.huge end");
    assert!(thread.delay().unwrap().unwrap() > Duration::from_secs(86_400));
}

#[test]
fn without_hooks_there_is_no_delay_and_no_response_is_needed() {
    let mut thread = Bench::new().thread("");
    assert_eq!(thread.delay().unwrap(), None);
    assert!(!thread.wants_response());
    answer(&mut thread, 200, &[], "");
}

#[test]
fn response_sees_status_fields_and_body_and_the_last_of_equal_names() {
    let text = "function response(status, headers, body)
          wrk.path = '/' .. status .. headers['X-A'] .. tostring(headers['x-a']) .. #body
        end
        function request() return wrk.format() end";
    let mut thread = Bench::new().thread(text);
    assert!(thread.wants_response());
    let fields: [(&str, &[u8]); 2] = [("X-A", b"first"), ("X-A", b"last")];
    thread.response(404, fields, b"\xff\0\xfe").unwrap();
    assert_eq!(next_line(&mut thread), "GET /404lastnil3 HTTP/1.1");
}

#[test]
fn a_hook_may_be_replaced_while_the_load_runs() {
    let text = "function request()
          request = function() return wrk.format(nil, '/later') end
          return wrk.format(nil, '/first')
        end";
    let mut thread = Bench::new().thread(text);
    assert_eq!(next_line(&mut thread), "GET /later HTTP/1.1");
}

#[test]
fn the_depth_of_the_pipeline_is_that_of_the_first_text() {
    let text =
        "function request() return wrk.format('POST', nil, nil, 'body') .. wrk.format('GET', '/b', {}) end";
    assert_eq!(Bench::new().load(text).unwrap().0.pipeline(), 2);
    assert_eq!(Bench::new().load("").unwrap().0.pipeline(), 1);
}

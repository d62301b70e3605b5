//! Scripts that fail, and what their authors read.

use std::path::Path;

use plimsoll_wrk::script::ScriptError;

use super::{Bench, next};

#[test]
fn a_missing_file_is_named() {
    let text = Bench::new().load_file(Path::new("no/such.lua")).unwrap_err().to_string();
    assert!(text.starts_with("cannot read the script no/such.lua: No such file"), "{text}");
}

#[test]
fn errors_name_the_place_the_file_and_the_line_without_a_traceback() {
    let bench = Bench::new();
    for (script, place, end) in [
        ("\nx = = 1", "the file", "test.lua:2: unexpected symbol near '='"),
        ("function setup() error('no') end", "setup", "test.lua:1: no"),
        ("function init() local x = nil + 1 end", "init", "arithmetic on a nil value"),
        ("function request() end", "request()", "a nil value was returned where a string was expected"),
    ] {
        let text = bench.load(script).unwrap_err().to_string();
        assert!(text.starts_with(&format!("the script failed in {place}: ")), "{text}");
        assert!(text.contains(end) && !text.contains("traceback"), "{text}");
    }
}

#[test]
fn a_failure_amid_the_load_ends_the_load_of_its_thread_alone() {
    let bench = Bench::with_threads(2);
    let text = "local left = 3
        function request() left = left - 1 if left == 0 then error('used up') end return wrk.format() end
        function response() error({}) end";
    let (_, mut threads) = bench.load(text).unwrap();
    next(&mut threads[0]);
    let message = threads[0].request(&mut Vec::new()).unwrap_err().to_string();
    assert!(message.ends_with("test.lua:2: used up"), "{message}");
    assert!(threads[0].stopped() && !threads[1].stopped());
    next(&mut threads[1]);
    assert!(threads[1].response(200, [], b"").is_err());
    assert!(threads[1].stopped());
}

#[test]
fn a_first_request_that_is_no_http_is_refused_with_its_place() {
    let text = "function request() return 'GET / HTTP/1.1\\r\\nHost a\\r\\n\\r\\n' end";
    let message = Bench::new().load(text).unwrap_err();
    assert!(matches!(message, ScriptError::Request { line: 2, column: 1, .. }));
    assert!(message.to_string().contains("script's request()"), "{message}");
    assert!(message.to_string().contains("invalid header token at 2:1"), "{message}");
}

#[test]
fn a_target_that_refuses_is_named_with_the_cause() {
    let bench = Bench::new();
    let address = bench.address();
    let options = bench.options.clone();
    drop(bench);
    let closed = Bench { options, ..Bench::new() };
    let message = closed.load("").unwrap_err().to_string();
    let expected = format!("unable to connect to 127.0.0.1:{} Connection refused", address.port());
    assert!(message.starts_with(&expected), "{message}");
}

#[test]
fn a_name_without_addresses_is_an_error_of_its_own() {
    let mut bench = Bench::new();
    bench.options.url.host = "no-such-name.invalid".to_owned();
    let message = bench.load("").unwrap_err();
    assert!(matches!(message, ScriptError::Resolve(_)), "{message}");
    let expected = format!("unable to resolve no-such-name.invalid:{} ", bench.address().port());
    assert!(message.to_string().starts_with(&expected), "{message}");
}

#[test]
fn a_script_may_catch_its_own_errors() {
    let text = "function request()
          local fine, why = pcall(error, 'caught')
          return wrk.format(nil, '/' .. tostring(fine) .. why)
        end";
    assert!(next(&mut Bench::new().thread(text)).starts_with("GET /falsecaught "));
}

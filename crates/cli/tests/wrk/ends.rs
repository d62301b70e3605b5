//! How a run ends, and what its end says.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use plimsoll_testkit::{BadServer, Nginx, Script, refused_address};

use crate::caller::{Called, Caller};

#[test]
fn what_wrk_cannot_run_ends_with_1_and_its_words() {
    let caller = Caller::new();
    let refused = refused_address();
    let url = format!("http://{refused}/");
    let called = caller.expect(1, &["-d1s", &url]);
    assert_eq!(called.err, format!("unable to connect to {refused} Connection refused\n"));
    let called = caller.expect(1, &["-d1s", "http://no-such-name.invalid/"]);
    assert!(called.err.starts_with("unable to resolve no-such-name.invalid:http "), "{called:?}");
    assert!(called.out.is_empty());
    let called = caller.expect(1, &["-Z"]);
    assert!(called.out.starts_with("Usage: wrk <options> <url>"), "{called:?}");
    assert!(called.err.ends_with("wrk: invalid option -- 'Z'\n"), "{called:?}");
    let called = caller.expect(1, &["-d1s", "-s", "no/such.lua", &url]);
    assert!(called.err.contains("no/such.lua"), "{called:?}");
}

#[test]
fn arguments_that_are_no_text_are_refused_by_name() {
    let caller = Caller::new();
    let output = caller.command("wrk").arg(OsStr::from_bytes(b"http://h/\xff")).output().unwrap();
    let called = Called::from(output);
    assert_eq!(called.code, 1);
    assert!(called.err.contains("is not UTF-8"), "{called:?}");
}

#[test]
fn a_run_that_ends_ends_with_0_whatever_its_errors() {
    let caller = Caller::new();
    let closing = BadServer::start(Script::EarlyClose);
    let called = caller.expect(0, &["-t1", "-c2", "-d1s", &format!("http://{}/", closing.address())]);
    let [connect, read, write, timeout] = called.socket_errors();
    assert!(read > 0 && connect + write + timeout == 0, "{called:?}");
    assert!(called.err.contains("plimsoll: closed_before_response, "), "{called:?}");
    let unavailable = BadServer::start(Script::Statuses(vec![503]));
    let called = caller.expect(0, &["-t1", "-c2", "-d1s", &format!("http://{}/", unavailable.address())]);
    let bad: u64 = called.words("Non-2xx or 3xx responses:")[4].parse().unwrap();
    assert_eq!(bad, called.requests());
}

#[test]
fn a_target_that_goes_away_is_counted_to_the_end_of_the_run() {
    let (caller, dying) = (Caller::new(), BadServer::start(Script::KillAfter { requests: 20 }));
    let called = caller.expect(0, &["-t1", "-c2", "-d5s", &format!("http://{}/", dying.address())]);
    assert!(called.out.contains(" requests in 5.00s,"), "{called:?}");
    let [connect, ..] = called.socket_errors();
    assert!(connect > 0, "{called:?}");
}

#[test]
fn ctrl_c_prints_what_was_measured_and_ends_with_0() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.address());
    let mut child = caller
        .command("wrk")
        .args(["-t1", "-c2", "-d10m", "--latency", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    out.read_line(&mut text).unwrap();
    assert_eq!(text, format!("Running 10m test @ {url}\n"));
    assert!((0..100_000).any(|_| nginx.requests().unwrap() >= 100), "no load was made");
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    out.read_to_string(&mut text).unwrap();
    let called = Called { out: text, ..Called::from(child.wait_with_output().unwrap()) };
    assert_eq!(called.code, 0, "{called:?}");
    assert!(called.requests() > 0 && called.out.contains("Requests/sec:"), "{called:?}");
}

/// Starts a scripted run of this length, waits until `reached` says so with what was printed, and sends one SIGTERM.
fn end_by_one_signal(
    script: &str,
    (length, url): (&str, &str),
    reached: impl Fn(&mut dyn BufRead, &mut String),
) -> Called {
    let caller = Caller::new();
    let script = caller.script(script);
    let mut command = caller.command("wrk");
    command.args(["-t2", "-c2", length, "-s", &script, url]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut text) = (BufReader::new(child.stdout.take().unwrap()), String::new());
    reached(&mut out, &mut text);
    let sent = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    out.read_to_string(&mut text).unwrap();
    Called { out: text, ..Called::from(child.wait_with_output().unwrap()) }
}

/// Reads up to the line that begins with `begin`.
fn read_to(begin: &str) -> impl Fn(&mut dyn BufRead, &mut String) {
    move |out, text| {
        let last = |text: &str| text.lines().last().is_some_and(|line| line.starts_with(begin));
        while !last(text) {
            assert!(out.read_line(text).unwrap() > 0, "no {begin} in {text}");
        }
    }
}

#[test]
fn one_signal_ends_a_script_that_loops_before_the_load() {
    let url = format!("http://{}/", refused_address());
    let script = "io.write('looping\\n') io.flush() while true do end";
    let called = end_by_one_signal(script, ("-d1s", &url), read_to("looping"));
    assert_eq!(called.code, -1, "ended by the signal itself: {called:?}");
}

#[test]
fn one_signal_ends_a_script_that_loops_under_load_and_prints_what_was_measured() {
    let nginx = Nginx::start().unwrap();
    let url = format!("http://{}/", nginx.address());
    let script = "local left = 50
         function request()
           left = left - 1
           if left == 0 then io.write('looping\\n') io.flush() while true do end end
           return wrk.format()
         end
         function done() print('done') end";
    let called = end_by_one_signal(script, ("-d10m", &url), read_to("looping"));
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.out.contains(" requests in ") && called.out.contains("Requests/sec:"), "{called:?}");
    // The other thread may not have come to its loop by then.
    assert!(called.err.contains("the script did not come back in "), "{called:?}");
    assert!(!called.out.contains("done") && called.err.contains("done() was not called"), "{called:?}");
}

#[test]
fn a_script_that_loops_under_load_is_left_when_its_time_is_over() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.address());
    let script = "local left = 50
         function request()
           left = left - 1
           if left == 0 then while true do end end
           return wrk.format()
         end
         function done() print('done') end";
    let script = caller.script(script);
    let mut command = caller.command("wrk");
    command.args(["-t1", "-c2", "-d3s", "--timeout", "1s", "-s", &script, &url]);
    let called = Called::from(command.output().unwrap());
    assert_eq!(called.code, 1, "{called:?}");
    assert!(called.err.contains("the script did not come back in 1 of 1 threads"), "{called:?}");
    assert!(called.out.contains("Requests/sec:") && !called.out.contains("done"), "{called:?}");
}

#[test]
fn one_signal_ends_a_script_that_loops_after_the_load() {
    let nginx = Nginx::start().unwrap();
    let url = format!("http://{}/", nginx.address());
    let script = "function done() io.write('looping\\n') io.flush() while true do end end";
    let called = end_by_one_signal(script, ("-d1s", &url), read_to("looping"));
    assert_eq!(called.code, 130, "{called:?}");
    assert!(called.requests() > 0, "{called:?}");
}

#[test]
fn a_run_leaves_no_file_behind() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    caller.expect(0, &["-t1", "-c1", "-d1s", &format!("http://{}/", nginx.address())]);
    let mut names: Vec<_> =
        std::fs::read_dir(caller.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["wrk", "wrk2"]);
}

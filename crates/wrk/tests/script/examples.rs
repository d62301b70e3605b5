//! The example scripts, each doing what its first line says.

use plimsoll_wrk::stats::Measured;

use super::{Bench, answer, example, found_at, next, next_line, nothing, with_latency};

#[test]
fn addr_spreads_the_threads_over_the_addresses() {
    let (bench, other) = (Bench::with_threads(4), Bench::new());
    let source = std::fs::read_to_string(example("addr.lua")).unwrap();
    let (_, threads) = bench.load(&(found_at(&[bench.address(), other.address()]) + &source)).unwrap();
    let addresses: Vec<_> = threads.iter().map(|thread| thread.address()).collect();
    assert_eq!(addresses, [bench.address(), other.address(), bench.address(), other.address()]);
}

#[test]
fn auth_sends_the_token_of_its_first_answer() {
    let (_, mut threads) = Bench::new().load_file(&example("auth.lua")).unwrap();
    let thread = &mut threads[0];
    assert_eq!(next_line(thread), "GET /authenticate HTTP/1.1");
    answer(thread, 503, &[("X-Token", "not this")], "");
    answer(thread, 200, &[("X-Token", "secret")], "");
    answer(thread, 200, &[("X-Token", "too late")], "");
    let request = next(thread);
    assert!(request.starts_with("GET /resource HTTP/1.1\r\n") && request.contains("\r\nX-Token: secret\r\n"));
}

#[test]
fn counter_numbers_each_request_after_the_one_that_was_read_for_its_depth() {
    let (_, mut threads) = Bench::new().load_file(&example("counter.lua")).unwrap();
    assert_eq!(next_line(&mut threads[0]), "GET /2 HTTP/1.1");
    let request = next(&mut threads[0]);
    assert!(request.starts_with("GET /3 HTTP/1.1\r\n") && request.contains("\r\nX-Counter: 3\r\n"));
}

#[test]
fn delay_waits_within_its_bounds_and_keeps_its_request_fixed() {
    let (_, mut threads) = Bench::new().load_file(&example("delay.lua")).unwrap();
    let delays: Vec<_> = (0..100).map(|_| threads[0].delay().unwrap().unwrap().as_millis()).collect();
    assert!(delays.iter().all(|delay_ms| (10..=50).contains(delay_ms)), "{delays:?}");
    assert!(delays.iter().any(|delay_ms| *delay_ms != delays[0]));
    assert!(threads[0].fixed_request().is_some());
}

#[test]
fn pipeline_sends_three_requests_at_once() {
    let mut bench = Bench::new();
    bench.options.args.push("/last".to_owned());
    let (script, mut threads) = bench.load_file(&example("pipeline.lua")).unwrap();
    assert_eq!(script.pipeline(), 3);
    let text = next(&mut threads[0]);
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("GET ")).collect();
    assert_eq!(lines, ["GET /first HTTP/1.1", "GET /second HTTP/1.1", "GET /last HTTP/1.1"]);
}

#[test]
fn post_sends_its_form_without_lua() {
    let (_, threads) = Bench::new().load_file(&example("post.lua")).unwrap();
    let text = std::str::from_utf8(threads[0].fixed_request().unwrap()).unwrap();
    assert!(text.starts_with("POST /index.html?q=1 HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"), "{text}");
    assert!(
        text.contains("\r\nContent-Length: 23\r\n") && text.ends_with("\r\n\r\nname=plimsoll&mark=1876"),
        "{text}"
    );
}

#[test]
fn report_writes_percentiles_and_totals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.csv");
    let source = std::fs::read_to_string(example("report.lua")).unwrap();
    let named = source.replace("os.getenv(\"REPORT\")", &format!("{:?}", path.display().to_string()));
    let (mut script, threads) = Bench::new().load(&named).unwrap();
    let latency: Vec<_> = (1..=1000).map(|value| (value, 1)).collect();
    let measured = Measured { runtime_us: 10_000_000, requests: 1000, ..with_latency(&latency) };
    script.done(threads, &measured).unwrap();
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, "p50,501\np90,901\np99,991\np99.999,1000\nrequests,1000\nduration_us,10000000\n");
}

#[test]
fn setup_numbers_the_threads_and_reads_their_counts() {
    let source = std::fs::read_to_string(example("setup.lua")).unwrap();
    let bench = Bench::with_threads(2);
    let reporting = format!("local said = {{}}\nlocal print = function(s) said[#said + 1] = s end\n{source}");
    let reporting = reporting
        + "\nlocal inner = done\ndone = function(...) inner(...) error(table.concat(said, ';'), 0) end";
    let (mut script, mut threads) = bench.load(&reporting).unwrap();
    next(&mut threads[1]);
    answer(&mut threads[1], 200, &[], "");
    let message = script.done(threads, &nothing()).unwrap_err();
    let expected =
        "thread 1 made 1 requests and got 0 responses;thread 2 made 1 requests and got 1 responses";
    assert!(message.to_string().ends_with(expected), "{message}");
}

#[test]
fn stop_ends_the_load_after_a_hundred_responses() {
    let (_, mut threads) = Bench::new().load_file(&example("stop.lua")).unwrap();
    (0..99).for_each(|_| answer(&mut threads[0], 200, &[], ""));
    assert!(!threads[0].stopped());
    answer(&mut threads[0], 500, &[], "");
    assert!(threads[0].stopped());
}

//! Answers that come later, and their order.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::client::Running;

#[test]
fn a_sleep_lasts_at_least_as_long_as_asked_for() {
    let server = Running::start();
    let begun = Instant::now();
    assert_eq!(server.get("/sleep?ms=20").text(), r#"{"slept_ms":20}"#);
    assert!(begun.elapsed() >= Duration::from_millis(20));
    let begun = Instant::now();
    assert_eq!(server.get("/sleep?ms=0.5").text(), r#"{"slept_ms":0.5}"#);
    assert!(begun.elapsed() >= Duration::from_micros(500));
}

#[test]
fn one_worker_serves_one_sleeper_at_a_time_in_order() {
    let server = Running::start();
    let mut clients: Vec<_> = (0..4).map(|_| server.client()).collect();
    let begun = Instant::now();
    for (index, client) in clients.iter_mut().enumerate() {
        client.get("/sleep?ms=20&workers=1");
        // The next one is sent only when this one is surely taken: an answer on another connection says so.
        assert_eq!(server.get(&format!("/healthz?after={index}")).status, 200);
    }
    for (index, client) in clients.iter_mut().enumerate() {
        client.answer();
        let least = Duration::from_millis(20) * (index as u32 + 1);
        assert!(begun.elapsed() >= least, "sleeper {index} after {:?}", begun.elapsed());
    }
}

#[test]
fn unlimited_sleepers_do_not_wait_for_each_other() {
    let server = Running::start();
    let mut clients: Vec<_> = (0..50).map(|_| server.client()).collect();
    let begun = Instant::now();
    for client in &mut clients {
        client.get("/sleep?ms=100");
    }
    for client in &mut clients {
        assert_eq!(client.answer().status, 200);
    }
    // One after another they would take five seconds.
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn pipelined_answers_come_in_order_even_if_the_first_one_sleeps() {
    let server = Running::start();
    let mut client = server.client();
    let requests = ["/sleep?ms=30", "/status/201", "/sleep?ms=1", "/healthz", "/status/404"];
    let bytes: String = requests.iter().map(|target| format!("GET {target} HTTP/1.1\r\n\r\n")).collect();
    client.send(bytes);
    let answers: Vec<_> = requests.iter().map(|_| client.answer()).collect();
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [200, 201, 200, 200, 404]);
    assert_eq!((answers[0].text(), answers[2].text()), (r#"{"slept_ms":30}"#, r#"{"slept_ms":1}"#));
}

#[test]
fn a_stall_holds_answers_to_the_end_of_its_window() {
    let server = Running::start();
    let mut client = server.client();
    let target = "/stall?every=200ms&for=150ms";
    let period_ms = 200;
    // The stall's clock begins between these two instants.
    let before = Instant::now();
    client.get(target);
    client.answer();
    let after = Instant::now();
    for _ in 0..3 {
        let period = after.elapsed().as_millis() as u64 / period_ms + 1;
        let in_window = after + Duration::from_millis(period * period_ms + 60);
        std::thread::sleep(in_window.saturating_duration_since(Instant::now()));
        // However late this thread is, the request comes in this window or after it.
        client.get(target);
        assert_eq!(client.answer().status, 200);
        let window_end = Duration::from_millis((period + 1) * period_ms);
        assert!(before.elapsed() >= window_end, "{:?} is before {window_end:?}", before.elapsed());
    }
}

#[test]
fn a_stall_does_not_hold_other_paths() {
    let server = Running::start();
    let mut stalled = server.client();
    stalled.get("/stall?every=10s&for=9999ms");
    stalled.answer();
    std::thread::sleep(Duration::from_millis(2));
    // Nine seconds of window are left: an answer within one shows that it was not held.
    stalled.get("/stall?every=10s&for=9999ms");
    let begun = Instant::now();
    assert_eq!(server.get("/healthz").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_burn_takes_its_time() {
    let server = Running::start();
    let begun = Instant::now();
    assert_eq!(server.get("/cpu?us=5000").text(), r#"{"burned_us":5000}"#);
    assert!(begun.elapsed() >= Duration::from_millis(5));
}

#[test]
fn a_server_stops_in_the_middle_of_everything() {
    let server = Running::start();
    let mut sleeping = server.client();
    sleeping.get("/sleep?ms=3600000&workers=1");
    assert_eq!(server.get("/healthz").status, 200);
    let mut burning = server.client();
    burning.get("/cpu?us=10000000");
    burning.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(burning.stream.read(&mut [0]).is_err(), "it burns");
    let begun = Instant::now();
    drop(server);
    assert!(begun.elapsed() < Duration::from_secs(8), "the burn of ten seconds was broken off");
    assert_eq!(sleeping.rest(), b"");
}

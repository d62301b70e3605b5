//! Several requests in one plan, checks, and what was opened.

use plimsoll_analyze::{Advice, Limit, Observation};
use plimsoll_plan::{Plan, RequestGroup};
use plimsoll_record::{EncodedHistogram, Frame, FrameHead, Run, StatusCounts, WorkerTime, latency_histogram};

use crate::synthetic::{Level, findings, single};
use crate::watch::Watch;

fn change_plan(run: &mut Run, change: impl FnOnce(&mut Plan)) {
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    change(&mut plan);
    run.manifest.plan = plan.to_json();
}

/// The frame of the plan's second request, of which so many are sent for each first one, in 10 ms each.
fn second_request(frame: &Frame, for_each: f64) -> Frame {
    let mut counts = frame.head.counts.clone();
    let number = |count: u64| (count as f64 * for_each) as u64;
    counts.intended = number(counts.intended);
    counts.sent = number(counts.sent);
    counts.completed = number(counts.completed);
    counts.ok = counts.completed;
    counts.status = StatusCounts::default();
    counts.status.add(200, counts.completed);
    let mut times = latency_histogram();
    times.record_n(10_000_000, counts.completed).unwrap();
    let none = EncodedHistogram::default;
    Frame {
        head: FrameHead {
            request: 1,
            counts,
            in_flight: 0,
            backlog: 0,
            connections: 0,
            time: WorkerTime::default(),
            ..frame.head.clone()
        },
        latency: EncodedHistogram::encode(&times),
        unsuccessful: none(),
        service: None,
        send_lag: none(),
        connect: none(),
        handshake: none(),
        traces: Vec::new(),
    }
}

/// The run with a second request next to its own.
fn with_second(mut run: Run, for_each: f64) -> Run {
    change_plan(&mut run, |plan| {
        plan.requests = ["GET /a", "GET /b"].map(|name| RequestGroup { name: name.to_owned() }).to_vec();
    });
    let both = |frame: &Frame| [frame.clone(), second_request(frame, for_each)];
    run.frames = run.frames.iter().flat_map(both).collect();
    run
}

/// A level of two requests: the second is sent half as often as the first.
fn two_requests(level: Level) -> Run {
    with_second(single(level), 0.5)
}

#[test]
fn a_pool_that_one_request_of_a_mix_meets_has_the_size_that_this_one_shows() {
    let api = Watch::pool(4.0, 0.04, 64).host("api", 1.0, 20e-6).process("api", "8 node", 20e-6);
    let verdict = findings(&with_second(api.run(), 4.0)).verdict;
    assert_eq!(verdict.limit, Limit::Pool);
    // All requests together are eight at once: 100/s of 40 ms, and 400/s of 10 ms that do not wait.
    let size = verdict.size.unwrap().value;
    assert!((size / 4.0 - 1.0).abs() < 0.1, "{size}");
}

#[test]
fn a_request_that_takes_microseconds_longer_does_not_wait_for_the_pool_of_another() {
    let api = Watch::pool(4.0, 0.04, 64).host("api", 1.0, 20e-6).process("api", "8 node", 20e-6);
    let mut run = with_second(api.run(), 4.0);
    let highest = run.steps.len() as u32 - 1;
    for frame in run.frames.iter_mut().filter(|frame| frame.head.request == 1) {
        let ns = if frame.head.step == highest { 250_000 } else { 150_000 };
        let mut times = latency_histogram();
        times.record_n(ns, frame.head.counts.completed).unwrap();
        frame.latency = EncodedHistogram::encode(&times);
    }
    let size = findings(&run).verdict.size.unwrap().value;
    assert!((size / 4.0 - 1.0).abs() < 0.1, "{size}");
}

#[test]
fn requests_are_counted_and_timed_apart_and_add_up_to_their_step() {
    let alone = findings(&single(Level::closed(16)));
    let found = findings(&two_requests(Level::closed(16)));
    let (alone, step) = (&alone.steps[0], &found.steps[0]);
    let [a, b] = step.requests.as_slice() else { panic!("two requests: {:?}", step.requests) };
    assert_eq!((a.name.as_str(), b.name.as_str()), ("GET /a", "GET /b"));
    assert_eq!(step.counts.completed, a.counts.completed + b.counts.completed);
    let sum = a.throughput_per_sec + b.throughput_per_sec;
    assert!((step.throughput.value - sum).abs() < 1e-6 * sum, "{sum} {:?}", step.throughput);
    assert!((a.throughput_per_sec - alone.throughput.value).abs() < 1e-6 * sum, "the time is counted once");
    assert!((b.throughput_per_sec / a.throughput_per_sec - 0.5).abs() < 0.02);
    assert!((b.latency.p50.ns.unwrap() / 10e6 - 1.0).abs() < 0.01);
    assert_eq!(step.latency.count, a.latency.count + b.latency.count);
    assert_eq!(step.generator.busiest_worker_ratio, alone.generator.busiest_worker_ratio);
    assert_eq!(step.generator.open_ratio, Some(1.0));
    assert!(alone.requests.is_empty(), "one request needs no table of its own");
}

#[test]
fn a_check_that_fails_is_named_by_the_verdict() {
    let mut run = single(Level::closed(16));
    change_plan(&mut run, |plan| plan.checks = vec!["size<10k".to_owned(), "status=201".to_owned()]);
    for frame in &mut run.frames {
        let counts = &mut frame.head.counts;
        counts.checks.add(1, counts.completed);
        counts.ok = 0;
    }
    let found = findings(&run);
    assert_eq!(found.steps[0].success_ratio, Some(0.0));
    let evidence = &found.verdict.evidence;
    let check = || "status=201".to_owned();
    assert!(evidence.iter().any(|row| row.observed == Observation::FailedCheck(check())), "{evidence:?}");
    assert!(found.verdict.advice.contains(&Advice::Check(check())));
}

#[test]
fn checks_of_the_status_say_which_one_is_a_success() {
    let mut plan = Plan::from_json(&single(Level::closed(1)).manifest.plan).unwrap();
    let expected =
        |plan: &Plan| [200, 302, 404, 500].map(|status| plimsoll_analyze::wants_status(plan, status));
    assert_eq!(expected(&plan), [true, true, false, false]);
    plan.checks = vec!["size<10k".to_owned()];
    assert_eq!(expected(&plan), [true, true, false, false]);
    plan.checks.push("status=404,5xx".to_owned());
    assert_eq!(expected(&plan), [false, false, true, true]);
    plan.checks.push("status=404".to_owned());
    assert_eq!(expected(&plan), [false, false, true, false]);
}

#[test]
fn requests_under_way_are_connections_times_streams_and_pipelines_run_empty() {
    let over_streams = |level: Level| {
        let mut run = single(level);
        let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
        plan.http2 = true;
        run.manifest.plan = plan.to_json();
        run
    };
    let deep = Level { depth: 8, latency_ns: 8 * Level::closed(4).latency_ns, ..Level::closed(4) };
    let found = findings(&over_streams(deep.clone()));
    assert!(found.generator.healthy(), "{:?}", found.generator);
    assert!(found.generator.littles_law_error.unwrap() < 0.05);
    let half = Level { latency_ns: deep.latency_ns / 2, ..deep };
    assert!(findings(&single(half.clone())).generator.healthy(), "a pipeline is not always full");
    let idle = findings(&over_streams(half));
    assert!(!idle.generator.healthy(), "half of the requests on each connection are missing");
}

#[test]
fn only_what_was_opened_while_measured_is_timed() {
    let mut times = latency_histogram();
    times.record_n(2_000_000, 5).unwrap();
    let mut run = single(Level { warmup: 20, ..Level::closed(16) });
    let at = |run: &mut Run, index: usize| run.frames[index].connect = EncodedHistogram::encode(&times);
    at(&mut run, 0);
    assert_eq!(findings(&run).steps[0].connect.count, 0, "those of the warm-up are not");
    at(&mut run, 150);
    let step = &findings(&run).steps[0];
    assert_eq!((step.connect.count, step.handshake.count), (5, 0));
    assert!((step.connect.mean_ns / 2e6 - 1.0).abs() < 0.01);
}

use plimsoll_record::{Counts, EncodedHistogram, FrameHead, WorkerTime};
use plimsoll_testkit::Noise;

use super::*;

/// Times of responses in milliseconds, and how many took them.
type Times = [(f64, u64)];

fn slo(percent: f64, limit_ms: f64) -> Slo {
    Slo { latency: vec![LatencyLimit { percent, limit_ms }], ..Slo::default() }
}

/// The frame of an interval of so many seconds, with what ended in it and what was under way at its end.
fn frame(interval: u32, span_sec: f64, ended: &Times, in_flight: u64) -> Frame {
    let mut times = latency_histogram();
    ended.iter().for_each(|(ms, count)| times.record_n((ms * 1e6) as u64, *count).unwrap());
    let count = times.len();
    let ns = |intervals: u32| (f64::from(intervals) * span_sec * 1e9) as u64;
    let none = EncodedHistogram::default;
    Frame {
        head: FrameHead {
            step: 0,
            worker: 0,
            request: 0,
            interval,
            phase: Phase::Measure,
            began_ns: ns(interval),
            ended_ns: ns(interval + 1),
            counts: Counts { sent: count, completed: count, ok: count, intended: count, ..Counts::default() },
            in_flight,
            backlog: 0,
            connections: 1,
            time: WorkerTime::default(),
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

/// Poisson arrivals for so many seconds, in frames of so many. `done_sec` gives when the request that came then is answered.
fn arrivals(
    rate_per_sec: f64,
    (sec, span_sec): (f64, f64),
    mut done_sec: impl FnMut(f64) -> f64,
) -> Vec<Frame> {
    let (mut noise, mut came_sec, mut requests) = (Noise::new(5), 0.0, Vec::new());
    while came_sec < sec {
        came_sec -= noise.uniform().ln() / rate_per_sec;
        requests.push((came_sec, done_sec(came_sec)));
    }
    let of_interval = |interval: u32| {
        let (began, ended) = (f64::from(interval) * span_sec, f64::from(interval + 1) * span_sec);
        let done = requests.iter().filter(|(_, done)| (began..ended).contains(done));
        let times: Vec<(f64, u64)> = done.map(|(came, done)| ((done - came) * 1e3, 1)).collect();
        let under_way = requests.iter().filter(|(came, done)| *came < ended && *done >= ended).count();
        frame(interval, span_sec, &times, under_way as u64)
    };
    (0..(sec / span_sec) as u32).map(of_interval).collect()
}

/// A server that works on one request after another.
fn in_order(served_per_sec: f64) -> impl FnMut(f64) -> f64 {
    let mut free_sec = 0.0_f64;
    move |came_sec| {
        free_sec = free_sec.max(came_sec) + 1.0 / served_per_sec;
        free_sec
    }
}

/// Frames of a tenth of a second that are all alike but for what is under way, for twenty seconds.
fn alike(ended: &Times, in_flight: impl Fn(u32) -> u64) -> Vec<Frame> {
    (0..200).map(|interval| frame(interval, 0.1, ended, in_flight(interval))).collect()
}

fn outcome(slo: Slo, rate_per_sec: f64, frames: &[Frame]) -> Option<TrialOutcome> {
    let mut judge = Judge::new(slo, rate_per_sec, 1, 0.05);
    frames.iter().for_each(|frame| judge.add(frame).unwrap());
    judge.outcome()
}

const BROKEN_BY_QUEUE: Option<TrialOutcome> = Some(TrialOutcome::Broken(Breach::Queue));

#[test]
fn what_is_under_way_before_a_slow_service_can_have_answered_is_no_queue() {
    let p99 = || slo(99.0, 8000.0);
    let slow = |sec, span_sec| arrivals(20.0, (sec, span_sec), |came_sec| came_sec + 5.0);
    let early = outcome(p99(), 20.0, &slow(20.0, 0.1));
    assert!(!matches!(early, Some(TrialOutcome::Broken(_))), "{early:?}");
    assert_eq!(outcome(p99(), 20.0, &slow(600.0, 1.0)), Some(TrialOutcome::Held), "with time enough");
    assert_eq!(outcome(p99(), 20.0, &arrivals(20.0, (20.0, 0.1), in_order(2.0))), BROKEN_BY_QUEUE);
}

#[test]
fn arrivals_that_come_close_together_are_no_queue_of_a_slow_service() {
    let broken = |rate_per_sec: &f64| {
        let frames = arrivals(*rate_per_sec, (60.0, 0.1), |came_sec| came_sec + 5.0);
        outcome(slo(99.0, 6000.0), *rate_per_sec, &frames) == BROKEN_BY_QUEUE
    };
    // Each rate has other arrivals.
    let rates: Vec<f64> = (0..40).map(|number| 4.0 + f64::from(number) / 20.0).collect();
    let count = rates.iter().filter(|rate| broken(rate)).count();
    assert!(count <= 2, "all responses are in time, and {count} of 40 rates broke");
}

#[test]
fn a_rate_of_a_slow_service_is_held_for_three_seconds_after_its_limit() {
    let sec = |limit_ms| held_sec(&slo(99.0, limit_ms), 2000.0, 0.05);
    assert_eq!([sec(200.0), sec(1000.0)], [MIN_HELD_SEC; 2]);
    assert_eq!([sec(8000.0), sec(30_000.0)], [11.0, 33.0]);
}

#[test]
fn a_median_within_its_limit_is_no_queue_however_slow_the_other_half_is() {
    let cached = alike(&[(2.0, 60), (100.0, 40)], |_| 41);
    assert_eq!(outcome(slo(50.0, 20.0), 1000.0, &cached), Some(TrialOutcome::Held));
    let broken = outcome(slo(99.0, 20.0), 1000.0, &cached);
    assert!(matches!(broken, Some(TrialOutcome::Broken(_))), "{broken:?}");
    // Four in a hundred take 6 s, the others 50 ms.
    let mut count = 0_u32;
    let slow = arrivals(100.0, (20.0, 0.1), |came_sec| {
        count += 1;
        came_sec + if count.is_multiple_of(25) { 6.0 } else { 0.05 }
    });
    let slow = outcome(slo(95.0, 200.0), 100.0, &slow);
    assert!(!matches!(slow, Some(TrialOutcome::Broken(_))), "{slow:?}");
}

#[test]
fn a_queue_breaks_a_limit_of_a_low_percentile_too() {
    let growing = arrivals(1200.0, (5.0, 0.1), in_order(1000.0));
    let outcome_of = |percent, limit_ms, frames: &[Frame]| outcome(slo(percent, limit_ms), 1200.0, frames);
    let broken = outcome_of(50.0, 20.0, &growing);
    assert!(matches!(broken, Some(TrialOutcome::Broken(_))), "{broken:?}");
    let silent = alike(&[], |interval| 120 * u64::from(interval + 1));
    assert_eq!(outcome_of(50.0, 20.0, &silent), BROKEN_BY_QUEUE, "nothing is answered");
    let overloaded = arrivals(1200.0, (8.0, 0.1), in_order(800.0));
    assert_eq!(outcome_of(95.0, 3000.0, &overloaded), BROKEN_BY_QUEUE, "before it is as long as its limit");
}

use plimsoll_record::{Counts, EncodedHistogram, Phase, WorkerTime};
use plimsoll_testkit::Noise;

use super::*;

/// Intervals of the load, in seconds.
const INTERVAL_SEC: f64 = 0.1;

/// A frame of 100 ms with so many answers, each of which took so long, if that is known.
fn frame(interval: usize, rate: f64, service_ns: Option<u64>) -> Frame {
    let began_ns = interval as u64 * 100_000_000;
    let completed = (rate * INTERVAL_SEC) as u64;
    let times = service_ns.map(|service_ns| {
        let mut times = latency_histogram();
        times.saturating_record_n(service_ns, completed);
        EncodedHistogram::encode(&times)
    });
    let head = FrameHead {
        step: u32::MAX,
        worker: 0,
        request: 0,
        interval: interval as u32,
        phase: Phase::Measure,
        began_ns,
        ended_ns: began_ns + 100_000_000,
        counts: Counts { completed, ..Counts::default() },
        in_flight: 1,
        backlog: 0,
        connections: 1,
        time: WorkerTime::default(),
    };
    let none = EncodedHistogram::default();
    Frame {
        head,
        latency: times.unwrap_or_default(),
        unsuccessful: none.clone(),
        service: None,
        send_lag: none.clone(),
        connect: none.clone(),
        handshake: none,
        traces: Vec::new(),
    }
}

/// After how many seconds a target of this speed is warm within a minute, its noise being this ratio.
fn warm_after(seed: u64, noise: f64, rate: impl Fn(f64) -> f64) -> Option<f64> {
    let mut source = Noise::new(seed);
    let mut warm_up = WarmUp::new(1, Speed::Throughput);
    for interval in 0..600 {
        let at = interval as f64 * INTERVAL_SEC;
        warm_up.add(&frame(interval, rate(at) * (1.0 + noise * source.normal()), None)).unwrap();
        if interval % 5 == 4 && warm_up.is_steady() {
            return Some(at + INTERVAL_SEC);
        }
    }
    None
}

/// A virtual machine for Java: interpreted, compiled, compiled well, the last of it at 8 s.
fn stairs(at: f64) -> f64 {
    [(0.4, 300.0), (2.1, 2_000.0), (5.0, 4_500.0), (8.0, 5_200.0)]
        .iter()
        .find(|(until, _)| at < *until)
        .map_or(6_000.0, |(_, rate)| *rate)
}

#[test]
fn the_stairs_of_a_compiler_are_climbed_to_the_last() {
    for seed in 0..20 {
        let warm = warm_after(seed, 0.02, stairs).unwrap();
        assert!((13.0..=20.0).contains(&warm), "seed {seed}: warm after {warm} s");
    }
}

#[test]
fn a_target_that_is_warm_is_seen_to_be_within_seconds() {
    let mut took: Vec<f64> = (0..21).map(|seed| warm_after(seed, 0.03, |_| 5_000.0).unwrap()).collect();
    took.sort_by(f64::total_cmp);
    assert!(took[0] >= MIN_LEVEL_SEC && took[10] <= 7.0 && took[20] <= 20.0, "{took:?}");
}

#[test]
fn noise_takes_longer_and_does_not_hide_a_level() {
    for seed in 0..20 {
        let warm = warm_after(seed, 0.2, |_| 5_000.0);
        assert!(warm.is_some(), "seed {seed}");
    }
}

#[test]
fn a_target_that_gets_faster_without_an_end_is_not_warm() {
    for seed in 0..5 {
        assert_eq!(warm_after(seed, 0.01, |at| 1_000.0 + 40.0 * at), None, "seed {seed}");
    }
}

#[test]
fn a_target_that_grows_slow_or_answers_nothing_is_not_waited_for_in_vain_or_called_warm() {
    assert!(warm_after(1, 0.01, |at| 5_000.0 - 5.0 * at).is_some_and(|warm| warm <= 10.0));
    assert_eq!(warm_after(1, 0.0, |_| 0.0), None);
}

#[test]
fn an_open_loop_is_warm_when_its_answers_stop_getting_faster() {
    let mut warm_up = WarmUp::new(1, Speed::ServiceTime);
    let mut noise = Noise::new(5);
    let warm = (0..300).find(|interval| {
        let at = *interval as f64 * INTERVAL_SEC;
        let service_ns = 1e9 / stairs(at) * (1.0 + 0.02 * noise.normal());
        warm_up.add(&frame(*interval, 2_000.0, Some(service_ns as u64))).unwrap();
        *interval % 5 == 4 && warm_up.is_steady()
    });
    assert!((130..200).contains(&warm.unwrap()), "{warm:?}");
    assert!((warm_up.throughput_per_sec() - 2_000.0).abs() < 1.0);
    assert_eq!(warm_up.failed().0, 0);
}

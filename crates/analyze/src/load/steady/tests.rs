use plimsoll_record::{Counts, Phase, WorkerTime};
use plimsoll_testkit::Noise;

use super::*;
use crate::load::series::tests::points_at;

/// `count` rates around what `level` says, with this relative noise.
fn noisy(seed: u64, count: usize, noise: f64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut source = Noise::new(seed);
    (0..count).map(|index| level(index) * (1.0 + noise * source.normal())).collect()
}

fn steadiness(rates: &[f64]) -> Steadiness {
    settle_closed(&points_at(rates)).steadiness
}

#[test]
fn a_warm_up_ramp_is_cut_where_it_ends() {
    let ramp = |index: usize| if index < 40 { 100.0 + 22.5 * index as f64 } else { 1000.0 };
    let mut cuts: Vec<usize> = (0..21)
        .map(|seed| {
            let settled = settle_closed(&points_at(&noisy(seed, 200, 0.02, ramp)));
            assert_eq!(settled.steadiness, Steadiness::Steady, "seed {seed}");
            settled.cut
        })
        .collect();
    cuts.sort_unstable();
    // Noise may take a little more than the ramp with it, but never leaves any of the ramp in.
    assert!(cuts[0] >= 35 && cuts[10] <= 50 && cuts[20] <= 95, "{cuts:?}");
}

#[test]
fn a_level_step_keeps_its_data_and_is_steady() {
    let steady = (0..100).filter(|seed| {
        let settled = settle_closed(&points_at(&noisy(*seed, 200, 0.03, |_| 5000.0)));
        settled.steadiness == Steadiness::Steady && settled.cut <= 50
    });
    let count = steady.count();
    assert!(count >= 90, "{count} of 100");
}

#[test]
fn throughput_that_never_stops_rising_is_moving() {
    for seed in 0..20 {
        let rising = noisy(seed, 200, 0.01, |index| 1000.0 + 5.0 * index as f64);
        assert_eq!(steadiness(&rising), Steadiness::Moving, "seed {seed}");
    }
}

#[test]
fn throughput_that_decays_slowly_is_moving() {
    let decaying = noisy(1, 200, 0.005, |index| 1000.0 - 0.6 * index as f64);
    let settled = settle_closed(&points_at(&decaying));
    assert_eq!(settled.steadiness, Steadiness::Moving);
    // By 120 of 940 on average.
    assert!(settled.drift.is_some_and(|rose| (-0.15..-0.10).contains(&rose)), "{settled:?}");
}

#[test]
fn a_front_faster_than_the_rest_is_reported_and_not_cut() {
    for share in [20, 60, 90] {
        let slowing = noisy(4, 200, 0.02, |index| if index < share { 10_000.0 } else { 500.0 });
        let settled = settle_closed(&points_at(&slowing));
        assert_eq!((settled.cut, settled.steadiness), (0, Steadiness::Moving), "{share} of 200");
    }
}

#[test]
fn an_outage_that_passes_is_no_warm_up() {
    for seed in 0..20 {
        let broken = noisy(seed, 200, 0.02, |index| if (40..60).contains(&index) { 0.0 } else { 1000.0 });
        let settled = settle_closed(&points_at(&broken));
        assert_eq!((settled.cut, settled.steadiness), (0, Steadiness::Moving), "seed {seed}");
    }
}

#[test]
fn nothing_is_cut_where_the_best_cut_is_the_latest() {
    let late = noisy(6, 200, 0.01, |index| if index < 110 { 100.0 } else { 1000.0 });
    let settled = settle_closed(&points_at(&late));
    assert_eq!((settled.cut, settled.steadiness), (0, Steadiness::Moving));
}

#[test]
fn scatter_that_hides_the_mean_is_wide() {
    assert_eq!(steadiness(&noisy(5, 100, 0.5, |_| 1000.0)), Steadiness::Wide);
}

#[test]
fn a_few_intervals_are_too_short_unless_they_agree() {
    assert_eq!(steadiness(&[1000.0; 19]), Steadiness::TooShort);
    assert_eq!(steadiness(&noisy(2, 40, 0.3, |_| 1000.0)), Steadiness::TooShort);
    assert_eq!(steadiness(&noisy(2, 40, 0.005, |_| 1000.0)), Steadiness::Steady);
    assert_eq!(steadiness(&[]), Steadiness::TooShort);
}

#[test]
fn without_answers_nothing_is_steady() {
    assert_eq!(steadiness(&[0.0; 200]), Steadiness::Wide);
}

fn open(queue: impl Fn(u64) -> u64) -> Settled {
    let mut points = points_at(&[1000.0; 200]);
    points.iter_mut().enumerate().for_each(|(index, point)| point.queue = queue(index as u64));
    settle_open(&points, 1000.0)
}

#[test]
fn a_growing_queue_is_moving_even_at_constant_throughput() {
    assert_eq!(open(|index| 10 + 2 * index).steadiness, Steadiness::Moving);
    assert_eq!(open(|index| 10 + index % 7).steadiness, Steadiness::Steady);
}

#[test]
fn a_queue_grows_in_the_time_of_the_points_that_make_the_trend() {
    // 20 of 39 points make batches; by 14 requests/s of 1000 the queue grows in them.
    let mut points = points_at(&[1000.0; 39]);
    points.iter_mut().enumerate().for_each(|(index, point)| point.queue = 10 + 7 * index as u64 / 10);
    assert_eq!(settle_open(&points, 1000.0).steadiness, Steadiness::Moving);
}

#[test]
fn stalls_that_pass_are_no_growing_queue_and_an_open_loop_is_never_cut() {
    let settled = open(|index| if index % 100 < 10 { 50 * (index % 100) } else { 3 });
    assert_eq!((settled.steadiness, settled.cut), (Steadiness::Steady, 0));
    let late = noisy(3, 200, 0.01, |index| if index < 50 { 500.0 } else { 1000.0 });
    assert_eq!(settle_open(&points_at(&late), 1000.0).cut, 0);
}

fn heads(rates: &[f64], workers: u32) -> Vec<FrameHead> {
    let head = |worker, (index, rate): (usize, &f64)| FrameHead {
        step: 0,
        worker,
        request: 0,
        interval: index as u32,
        phase: Phase::Measure,
        began_ns: index as u64 * 50_000_000,
        ended_ns: (index as u64 + 1) * 50_000_000,
        counts: Counts { completed: (rate * 0.05 / f64::from(workers)) as u64, ..Counts::default() },
        in_flight: 1,
        backlog: 0,
        connections: 1,
        time: WorkerTime::default(),
    };
    let of_worker = |worker| rates.iter().enumerate().map(move |interval| head(worker, interval));
    (0..workers).flat_map(of_worker).collect()
}

#[test]
fn a_running_step_ends_early_only_once_it_is_known() {
    let level = noisy(7, 100, 0.01, |_| 20_000.0);
    assert!(!step_is_known(&heads(&level[..20], 2), 2), "one look is not enough");
    assert!(step_is_known(&heads(&level[..30], 2), 2));
    assert!(!step_is_known(&heads(&level[..30], 2), 3), "a worker has handed over nothing");
    let ramp = noisy(7, 100, 0.01, |index| 1000.0 * (index + 1) as f64);
    assert!((0..=100).all(|count| !step_is_known(&heads(&ramp[..count], 2), 2)));
}

#[test]
fn a_handful_of_requests_is_never_known() {
    // One answer in each second interval: perfectly regular, and still only 50 of them.
    let slow: Vec<f64> = (0..100).map(|index| if index % 2 == 0 { 20.0 } else { 0.0 }).collect();
    assert!(!step_is_known(&heads(&slow, 1), 1));
    let silent = [0.0; 100];
    assert!(!step_is_known(&heads(&silent, 1), 1));
}

/// The first length at which a level, noisy step is known, and whether the truth is then in its interval.
fn stopped(seed: u64, noise: f64) -> Option<(usize, bool)> {
    let points = points_at(&noisy(seed, 200, noise, |_| 20_000.0));
    let look = |count: &usize| known(&points[..count - MSER_BATCH]) && known(&points[..*count]);
    let count = (25..=200).step_by(MSER_BATCH).find(look)?;
    let settled = settle_closed(&points[..count]);
    let miss = (mean(&points[settled.cut..count]) - 20_000.0).abs();
    Some((count, miss <= settled.half_width.unwrap()))
}

#[test]
fn stopping_at_a_satisfied_look_keeps_the_interval_mostly_true() {
    for noise in [0.02, 0.05, 0.1] {
        let ends: Vec<(usize, bool)> = (0..200).filter_map(|seed| stopped(seed, noise)).collect();
        let covered = ends.iter().filter(|(_, covered)| *covered).count();
        assert!(
            ends.len() >= 100 && covered * 100 >= ends.len() * 85,
            "{covered} of {} at {noise}",
            ends.len()
        );
    }
}

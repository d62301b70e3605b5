//! A run over time.

use plimsoll_analyze::{Timeline, timeline};
use plimsoll_plan::Slo;
use plimsoll_record::{Counts, latency_histogram};

use crate::synthetic::{Level, ladder};

fn of(levels: &[Level]) -> Timeline {
    timeline(&ladder(levels, Slo::default())).unwrap()
}

#[test]
fn every_request_is_in_one_window_and_in_one_class_of_latency() {
    let run = ladder(&[1, 4, 16].map(Level::closed), Slo::default());
    let found = timeline(&run).unwrap();
    let mut counted = Counts::default();
    run.frames.iter().for_each(|frame| counted.merge(&frame.head.counts));
    let mut shown = Counts::default();
    found.moments.iter().for_each(|moment| shown.merge(&moment.counts));
    assert_eq!(shown, counted);
    let mut times = latency_histogram();
    run.frames.iter().for_each(|frame| frame.latency.add_to(&mut times).unwrap());
    let in_classes: u64 = found.moments.iter().flat_map(|moment| &moment.latency).sum();
    assert_eq!(in_classes, times.len());
    assert!(found.moments.iter().all(|moment| moment.latency.len() < found.bounds_ns.len()));
    assert!(found.moments.windows(2).all(|pair| pair[0].at_sec < pair[1].at_sec));
}

#[test]
fn a_window_has_the_throughput_of_its_step() {
    let found = of(&[Level { wobble: 0.0, ..Level::closed(4) }]);
    let inner = &found.moments[1..found.moments.len() - 2];
    assert!(inner.len() > 10, "{}", found.moments.len());
    for moment in inner {
        assert!((moment.throughput_per_sec.unwrap() / 800.0 - 1.0).abs() < 0.01, "{moment:?}");
        assert_eq!((moment.connections, moment.backlog), (4, 0));
    }
}

#[test]
fn after_the_load_there_is_no_throughput_and_what_fails_is_still_seen() {
    let found = of(&[Level { late: 3, ..Level::closed(4) }]);
    let failed: u64 = found.moments.iter().map(|moment| moment.counts.failed.total()).sum();
    assert_eq!(failed, 6);
    assert_eq!(found.moments.last().unwrap().throughput_per_sec, None);
}

#[test]
fn a_run_without_a_step_has_no_windows() {
    let mut run = ladder(&[Level::closed(1)], Slo::default());
    run.steps.clear();
    run.frames.clear();
    let found = timeline(&run).unwrap();
    assert!(found.moments.is_empty() && found.bounds_ns.is_empty() && found.resources.is_empty());
}

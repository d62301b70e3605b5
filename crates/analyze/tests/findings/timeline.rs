//! A run over time.

use plimsoll_analyze::{Curve, CurveKind, Timeline, timeline};
use plimsoll_plan::Slo;
use plimsoll_record::{Counts, latency_histogram};

use crate::synthetic::{Level, ladder};
use crate::watch::Watch;

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
    assert!(found.curves.is_empty());
}

fn curve<'a>(found: &'a Timeline, host: &str, kind: CurveKind) -> &'a Curve {
    let is_it = |curve: &&Curve| curve.host == host && curve.kind == kind;
    found.curves.iter().find(is_it).unwrap_or_else(|| panic!("{host} {kind:?}: {:#?}", found.curves))
}

/// The values of a curve in the windows of these seconds.
fn between(curve: &Curve, from: usize, to: usize) -> Vec<f64> {
    curve.values[from..to].iter().map(|value| value.unwrap()).collect()
}

fn is_near(values: &[f64], expected: f64) -> bool {
    values.iter().all(|value| (value - expected).abs() <= 0.02 * expected.max(0.01))
}

#[test]
fn garbage_collection_is_seen_when_it_was() {
    let jvm = ("api", "jvm", "8 java");
    let run = Watch::over(&[Level::closed(1), Level::closed(4)])
        .counter(jvm, "gc_time_ms", |step, _| [0.0, 300.0][step])
        .gauge(jvm, "heap_used_bytes", |step, _| [20.0, 90.0][step])
        .gauge(jvm, "heap_max_bytes", |_, _| 100.0)
        .counter(("api", "process", "8 java"), "cpu_us", |_, _| 1e6)
        .counter(("api", "thread", "8/9 GC Thread#0"), "cpu_us", |step, _| [1e5, 4e5][step])
        .run();
    let found = timeline(&run).unwrap();
    assert_eq!(found.host_window_sec, 1.0);
    for (kind, before, after) in
        [(CurveKind::GcPauses, 0.0, 0.3), (CurveKind::GcThreads, 0.1, 0.4), (CurveKind::Heap, 0.2, 0.9)]
    {
        let curve = curve(&found, "api", kind);
        assert_eq!((curve.part.to_string().as_str(), curve.values.len()), ("java", found.hosts_at_sec.len()));
        assert!(is_near(&between(curve, 1, 4), before), "{curve:?}");
        assert!(is_near(&between(curve, 6, 9), after), "{curve:?}");
    }
}

#[test]
fn stalls_of_the_generator_are_those_of_its_worst_worker() {
    let found = of(&[Level { stalled: 0.2, starved: 0.1, ..Level::closed(4) }]);
    for (kind, share) in [(CurveKind::Stalled, 0.2), (CurveKind::Starved, 0.1)] {
        let curve = curve(&found, "generator", kind);
        assert!(is_near(&between(curve, 0, 5), share), "{curve:?}");
    }
}

#[test]
fn waits_of_hosts_and_processes_are_curves_and_what_never_waits_is_none() {
    let waiting = ("api", "waiting", "8 java");
    let run = Watch::over(&[Level::closed(1), Level::closed(4)])
        .counter(("api", "pressure", ""), "memory_some_us", |_, _| 5e5)
        .counter(("api", "pressure", ""), "io_some_us", |_, _| 0.0)
        .counter(("api", "cgroup", "/box"), "periods", |_, _| 100.0)
        .counter(("api", "cgroup", "/box"), "throttled_periods", |_, _| 40.0)
        .counter(waiting, "looks", |_, _| 10.0)
        .counter(waiting, "futex", |_, _| 35.0)
        .counter(("api", "process", "8 java"), "cpu_us", |_, _| 6e5)
        .counter(("api", "process", "9 java"), "cpu_us", |_, _| 3e5)
        .counter(("api", "process", "8 java"), "run_wait_us", |_, _| 2e5)
        .run();
    let found = timeline(&run).unwrap();
    let expected = [
        (CurveKind::MemoryPressure, "", 0.5),
        (CurveKind::Throttled, "/box", 0.4),
        (CurveKind::LockWaits, "java", 3.5),
        (CurveKind::ProcessCpu, "java", 0.9),
        (CurveKind::CpuWait, "", 0.25),
    ];
    for (kind, part, value) in expected {
        let curve = curve(&found, "api", kind);
        assert_eq!(curve.part.to_string(), part);
        // The window between them is sampled too rarely.
        let of_steps = [between(curve, 1, 4), between(curve, 6, 9)].concat();
        assert!(is_near(&of_steps, value), "{curve:?}");
    }
    assert!(found.curves.iter().all(|curve| curve.kind != CurveKind::IoPressure));
}

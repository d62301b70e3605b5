//! The generator's machine: what it tells, and what it does not.

use std::collections::BTreeMap;

use plimsoll_analyze::{GeneratorHealth, GeneratorReason, Limit};
use plimsoll_record::{
    CalibratedLevel, Calibration, CalibrationKey, GeneratorShare, HostSample, Reading, Run,
};

use crate::synthetic::{Level, cpu_sample, findings, single};
use crate::watch::Watch;

fn sample(source: &str, at_sec: u64, reading: Reading) -> HostSample {
    HostSample { source: source.into(), reading, ..cpu_sample(at_sec * 1_000_000_000, 0, 0) }
}

fn counted(source: &str, at_sec: u64, counters: &[(&str, u64)]) -> HostSample {
    let counters: BTreeMap<String, u64> = counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
    sample(source, at_sec, Reading::Ok(counters.into()))
}

/// A closed loop of five seconds that began a millisecond after the run, with these samples.
fn health(hosts: Vec<HostSample>) -> GeneratorHealth {
    let mut run = single(Level::closed(16));
    run.hosts = hosts;
    findings(&run).generator
}

fn tcp(at_sec: u64, sent: u64, again: u64, opening: u64) -> HostSample {
    let counters =
        [("segments_sent", sent), ("segments_retransmitted", again), ("syn_retransmitted", opening)];
    counted("tcp", at_sec, &counters)
}

#[test]
fn what_the_machine_does_not_tell_is_not_known_and_not_zero() {
    let nothing = health(Vec::new()).machine;
    assert_eq!((nothing.pressure_ratio, nothing.segments_sent, nothing.stolen_ratio), (None, None, None));
    let absent = health(vec![sample("pressure", 0, Reading::Absent), sample("pressure", 6, Reading::Absent)]);
    assert_eq!(absent.machine.pressure_ratio, None);
    let once = health(vec![counted("pressure", 0, &[("cpu_some_us", 7)])]).machine;
    assert_eq!(once.pressure_ratio, None, "one reading is no difference");
}

#[test]
fn pressure_is_reported_and_does_not_judge() {
    let read = |at_sec, some_us| counted("pressure", at_sec, &[("cpu_some_us", some_us)]);
    let found = health(vec![read(0, 1_000_000), read(3, 2_000_000), read(10, 8_000_000)]);
    assert_eq!(found.machine.pressure_ratio, Some(0.7));
    assert!(found.healthy(), "others may wait as much as they like");
}

#[test]
fn segments_sent_again_are_a_reason_unless_they_open_connections() {
    let found = health(vec![tcp(0, 5000, 700, 50), tcp(6, 25_000, 1200, 90)]);
    assert_eq!(found.machine.segments_retransmitted, Some(460));
    assert_eq!(found.reasons, [GeneratorReason::Retransmits { ratio: 0.023, count: 460 }]);
    assert_eq!(found.reasons[0].number_and_bound(), (0.023, 0.01));
    assert!(health(vec![tcp(0, 0, 0, 0), tcp(6, 20_000, 900, 899)]).healthy(), "a full accept queue");
    assert!(health(vec![tcp(0, 0, 0, 0), tcp(6, 500, 20, 0)]).healthy(), "too few to tell");
}

#[test]
fn levels_are_the_highest_of_the_step_and_of_no_other() {
    let read = |at_sec, open| counted("descriptors", at_sec, &[("open", open), ("limit", 1024)]);
    let found = health(vec![read(0, 10), read(2, 700), read(6, 30), read(7, 900)]).machine;
    assert_eq!((found.descriptors_open, found.descriptors_limit), (Some(700), Some(1024)));
}

/// A level in which one worker makes `per_sec` on its own, busy for this part of the time.
fn calibrated(run: &mut Run, per_sec: u64, busy: f64) {
    let key = CalibrationKey {
        hostname: "here".to_owned(),
        kernel: "Linux".to_owned(),
        cpu_model: "any".to_owned(),
        cores: 2,
        tool_version: "0".to_owned(),
        driver: "epoll".to_owned(),
    };
    let level = CalibratedLevel {
        workers: 1,
        connections: 100,
        completed: per_sec,
        span_ns: 1_000_000_000,
        user_ns: (busy * 1e9) as u64,
        system_ns: 0,
        starved_ns: 0,
    };
    run.manifest.started_unix_ms = 90_000;
    run.manifest.machine.calibration = Some(Calibration {
        key,
        measured_unix_ms: 30_000,
        pinning: None,
        closed: vec![level],
        tenth: None,
        rates: Vec::new(),
    });
}

#[test]
fn workers_near_their_ceiling_make_the_result_a_lower_bound() {
    // Two workers make 3,200 requests a second.
    let mut run = single(Level::closed(16));
    calibrated(&mut run, 1900, 0.99);
    let found = findings(&run);
    let used = found.generator.ceiling.unwrap();
    assert!((used.per_worker_per_sec - 1600.0).abs() < 20.0, "{used:?}");
    assert_eq!((used.ceiling_per_sec, used.known, used.age_sec), (1900.0, true, Some(60.0)));
    assert!(matches!(found.generator.reasons[..], [GeneratorReason::NearCeiling { .. }]));
    assert!(found.lower_bound);
    calibrated(&mut run, 2200, 0.99);
    assert!(findings(&run).generator.healthy(), "there is room for a quarter more");
}

/// An agent of a fleet with one worker.
fn agent(first_worker: u32, ceiling_per_sec: Option<u64>) -> GeneratorShare {
    GeneratorShare {
        name: format!("agent-{first_worker}"),
        first_worker,
        workers: 1,
        ceiling_per_sec,
        part_ppm: None,
        clock_error_ns: None,
        wall: None,
        lost_ns: None,
    }
}

#[test]
fn the_machine_that_conducts_a_fleet_is_not_judged_as_the_generator() {
    let mut run = single(Level::closed(16));
    run.hosts = vec![tcp(0, 0, 0, 0), tcp(6, 20_000, 900, 0)];
    assert!(!findings(&run).generator.healthy());
    run.steps[0].generators = vec![agent(0, None), agent(1, None)];
    let found = findings(&run).generator;
    assert!(found.healthy() && found.machine.segments_sent.is_none(), "{found:?}");
    let watch = Watch::pool(16.0, 0.005, 128).host("web", 1.0, 50e-6);
    let mut run = watch.link("generator", 100e6, 200.0, 3_800.0).run();
    assert_eq!(findings(&run).verdict.limit, Limit::Generator);
    for step in &mut run.steps {
        step.generators = vec![agent(0, None), agent(1, None)];
    }
    assert_eq!(findings(&run).verdict.limit, Limit::Pool);
}

#[test]
fn each_generator_of_a_fleet_is_compared_with_its_own_ceiling() {
    // Two workers make 1,600 requests a second each.
    let mut run = single(Level::closed(16));
    run.steps[0].generators = vec![agent(0, Some(9_000)), agent(1, Some(1_900))];
    let found = findings(&run).generator;
    let used = found.ceiling.unwrap();
    assert_eq!((used.worker, used.ceiling_per_sec, used.age_sec), (Some(1), 1900.0, None));
    assert!((used.per_worker_per_sec - 1600.0).abs() < 20.0, "{used:?}");
    assert!(matches!(found.reasons[..], [GeneratorReason::NearCeiling { worker: Some(1), .. }]));
    run.steps[0].generators[1].ceiling_per_sec = None;
    let found = findings(&run).generator;
    assert!(found.healthy() && found.ceiling.unwrap().worker == Some(0));
}

#[test]
fn a_ceiling_that_was_not_the_workers_own_is_reported_and_does_not_judge() {
    let mut run = single(Level::closed(16));
    calibrated(&mut run, 1700, 0.5);
    let found = findings(&run).generator;
    assert!(found.healthy() && !found.ceiling.unwrap().known);
}

#[test]
fn several_requests_under_way_on_a_connection_have_no_ceiling() {
    let mut run = single(Level { depth: 8, ..Level::closed(16) });
    calibrated(&mut run, 1700, 0.99);
    assert_eq!(findings(&run).generator.ceiling, None);
}

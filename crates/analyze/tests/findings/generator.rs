//! The generator's self-check.

use plimsoll_analyze::{
    Advice, At, Claim, Confidence, FailureAdvice, GeneratorReason, Limit, Part, Place, ResourceKind,
    StepSummary, Verdict, failure_advice,
};
use plimsoll_plan::{Plan, Slo};
use plimsoll_record::{ConnectionResource, FailureKind, LoweredTo};

use crate::synthetic::{Level, cpu_sample, findings, ladder, single};
use crate::watch::{Watch, pool_levels};

fn reasons(level: Level) -> Vec<GeneratorReason> {
    findings(&single(level)).generator.reasons
}

#[test]
fn a_slow_target_is_not_the_generators_fault() {
    for level in [Level::closed(16), Level::closed(1000), Level::open(2000.0), Level::at(4, 2.0)] {
        let found = findings(&single(level));
        assert!(found.generator.healthy(), "{:?}", found.generator.reasons);
        assert!(!found.lower_bound);
    }
}

#[test]
fn a_busy_worker_makes_the_result_a_lower_bound() {
    let levels = [Level::at(8, 10_000.0), Level { busy: 0.97, ..Level::at(64, 12_000.0) }];
    let found = findings(&ladder(&levels, Slo::default()));
    assert_eq!((found.verdict.limit, found.verdict.confidence), (Limit::Generator, Confidence::Measured));
    assert_eq!(found.verdict.place, Place::Generator);
    assert_eq!(found.verdict.evidence[0].at, At::Connections(64));
    assert!(matches!(found.verdict.advice[..], [Advice::Generator(GeneratorReason::WorkerBusy { .. }), ..]));
    assert!(found.lower_bound);
    assert!((found.generator.busiest_worker_ratio - 0.97).abs() < 1e-6);
    assert!((found.generator.kernel_sec / found.generator.cpu_sec - 0.75).abs() < 1e-6);
    assert_eq!(found.generator.workers, 2);
}

#[test]
fn a_starved_worker_is_reported() {
    let found = reasons(Level { starved: 0.3, ..Level::closed(16) });
    assert!(matches!(found[..], [GeneratorReason::WorkerStarved { worker: 0, .. }, _]), "{found:?}");
}

#[test]
fn a_worker_that_did_not_run_is_reported_in_every_kind_of_load() {
    for level in [Level::closed(16), Level::open(2000.0)] {
        let found = reasons(Level { stalled: 0.2, ..level.clone() });
        assert!(matches!(found[..], [GeneratorReason::WorkerStalled { worker: 0, .. }, _]), "{found:?}");
        assert_eq!(reasons(Level { stalled: 0.001, ..level }), [], "one gap of 10 ms in 10 s is noise");
    }
}

#[test]
fn send_lag_matters_only_next_to_the_service_time() {
    let lag = |latency_ns, send_lag_ns| {
        let found = reasons(Level { latency_ns, send_lag_ns, ..Level::open(2000.0) });
        matches!(found[..], [GeneratorReason::SendLag { .. }])
    };
    assert!(lag(2_000_000, 5_000_000));
    assert!(!lag(100_000_000, 5_000_000), "5 ms of 100 are little");
    assert!(!lag(100_000, 900_000), "below a millisecond is jitter");
}

#[test]
fn connections_that_stand_idle_break_littles_law() {
    let idle = Level { latency_ns: 4_000_000, ..Level::closed(16) };
    let found = reasons(idle.clone());
    assert!(matches!(found[..], [GeneratorReason::LittlesLaw { expected: 16.0, .. }]), "{found:?}");
    let failing = Level { failed: Some((FailureKind::TimedOut, 20)), ..idle };
    assert!(reasons(failing).is_empty(), "the law speaks of answered requests");
}

#[test]
fn a_window_of_few_latencies_has_too_much_at_its_edges_for_littles_law() {
    let checked = |level: Level| findings(&single(level)).generator.littles_law_error.is_some();
    // 16 under way at so many a second take 0.1 and 0.25 s, of a window of 5 s.
    assert!(checked(Level::at(16, 160.0)) && !checked(Level::at(16, 64.0)));
    // Nearly all that are under way are of the tenth that takes 0.95 s.
    assert!(!checked(Level { slow_tenth: 9.5, ..Level::at(16, 160.0) }));
}

#[test]
fn the_age_of_requests_that_end_in_the_drain_is_no_idleness_and_no_excess() {
    let found = findings(&single(Level { late_answers: 60, ..Level::closed(16) }));
    assert!(found.generator.healthy(), "{:?}", found.generator.reasons);
    assert!(found.generator.littles_law_error.unwrap() < 0.02, "{:?}", found.generator.littles_law_error);
    let busier = Level { latency_ns: 7_000_000, ..Level::closed(16) };
    assert!(reasons(busier).is_empty(), "more under way than connections is not idleness");
}

#[test]
fn connections_that_are_not_open_are_not_blamed_for_idleness() {
    let found = findings(&single(Level { open: 0.5, latency_ns: 2_500_000, ..Level::closed(16) })).generator;
    assert!(found.healthy(), "{:?}", found.reasons);
    assert_eq!((found.open_ratio, found.littles_law_error), (Some(0.5), None));
    assert_eq!(findings(&single(Level::open(2000.0))).generator.open_ratio, None);
}

#[test]
fn an_open_loop_that_falls_behind_by_itself_says_so() {
    let late = Level { backlog_growth: 5, send_lag_ns: 20_000_000, ..Level::open(2000.0) };
    let found = reasons(late);
    let behind = found.iter().find_map(|reason| match reason {
        GeneratorReason::BehindSchedule { offered_per_sec, sent_per_sec } => {
            Some(offered_per_sec - sent_per_sec)
        }
        _ => None,
    });
    assert!((behind.unwrap() - 200.0).abs() < 1.0, "{found:?}");
}

#[test]
fn a_backlog_for_want_of_connections_is_not_the_generators_fault() {
    let waiting = Level { backlog_growth: 5, send_lag_ns: 1_100_000, ..Level::open(2000.0) };
    assert!(reasons(Level { latency_ns: 100_000_000, ..waiting }).is_empty());
}

#[test]
fn a_machine_without_ports_is_named() {
    let failed = Some((FailureKind::NoPortsLeft, 3));
    let found = findings(&single(Level { failed, ..Level::closed(16) }));
    let kind = FailureKind::NoPortsLeft;
    assert_eq!(found.generator.reasons, [GeneratorReason::OutOfResources { kind, count: 600 }]);
    assert_eq!(found.verdict.advice, [Advice::Generator(found.generator.reasons[0])]);
}

#[test]
fn stolen_time_is_that_of_the_step_alone() {
    let mut run = single(Level { busy: 0.6, ..Level::closed(16) });
    run.hosts = vec![cpu_sample(0, 5000, 10_000), cpu_sample(6_000_000_000, 6000, 20_000)];
    assert_eq!(findings(&run).generator.reasons, [GeneratorReason::Stolen { ratio: 0.1 }]);
    run.hosts = vec![cpu_sample(0, 5000, 10_000), cpu_sample(6_000_000_000, 5100, 20_000)];
    assert!(findings(&run).generator.healthy());
    run.hosts.truncate(1);
    assert!(findings(&run).generator.healthy(), "one sample is no difference");
}

#[test]
fn stolen_time_that_no_worker_needed_does_not_matter() {
    let mut run = single(Level { busy: 0.1, ..Level::closed(16) });
    run.hosts = vec![cpu_sample(0, 5000, 10_000), cpu_sample(6_000_000_000, 6000, 20_000)];
    assert!(findings(&run).generator.healthy());
}

#[test]
fn a_window_too_short_for_the_clocks_is_not_judged() {
    let mut run = single(Level { busy: 1.08, intervals: 2, ..Level::closed(16) });
    let long = findings(&run);
    assert!(!long.generator.too_short && !long.generator.healthy(), "100 ms are enough");
    run.frames.retain(|frame| frame.head.interval == 0);
    let short = findings(&run);
    assert!(short.generator.too_short && short.generator.healthy(), "{:?}", short.generator.reasons);
    assert!(!short.lower_bound && short.verdict.limit != Limit::Generator);
}

#[test]
fn what_was_due_and_not_sent_is_reported_next_to_the_lag_of_what_was() {
    let waiting = findings(&single(Level { backlog_growth: 5, ..Level::open(2000.0) })).generator;
    assert_eq!(waiting.backlog, 2 * 5 * 100);
    assert_eq!(findings(&single(Level::open(2000.0))).generator.backlog, 0);
}

#[test]
fn every_worker_is_reported_with_its_time_in_the_kernel() {
    let found = findings(&single(Level::closed(16))).generator;
    assert_eq!(found.by_worker.len(), 2);
    for load in &found.by_worker {
        assert!((load.cpu_ratio - 0.3).abs() < 1e-6 && (load.kernel_ratio - 0.225).abs() < 1e-6, "{load:?}");
        assert!((load.starved_ratio - 0.01).abs() < 1e-6, "{load:?}");
    }
}

#[test]
fn send_lag_is_reported_with_what_it_is_compared_with() {
    let bound = |latency_ns| findings(&single(Level { latency_ns, ..Level::open(2000.0) })).generator;
    assert!((bound(100_000_000).send_lag_bound_ns.unwrap() / 48e6 - 1.0).abs() < 0.03);
    assert_eq!(bound(100_000).send_lag_bound_ns, Some(1e6));
}

#[test]
fn littles_law_is_checked_in_an_open_loop_where_enough_requests_are_under_way() {
    // 2,000 a second with 5 ms each: ten are under way.
    let level = Level { latency_ns: 5_000_000, ..Level::open(2000.0) };
    let enough = findings(&single(Level { intervals: 300, ..level.clone() })).generator;
    assert!(enough.littles_law_error.unwrap() < 0.02, "{:?}", enough.littles_law_error);
    let few = findings(&single(Level { connections: 2, intervals: 300, ..level })).generator;
    assert_eq!(few.littles_law_error, None);
}

/// An open loop whose requests wait while all of `connections` are open, on a machine that allows so many.
fn waiting(level: Level, resource: ConnectionResource) -> StepSummary {
    let mut run = single(Level { latency_ns: 100_000_000, ..level });
    run.manifest.machine.lowered_to = Some(LoweredTo { connections: 960, resource });
    findings(&run).steps.remove(0)
}

#[test]
fn requests_that_wait_for_connections_that_this_machine_does_not_allow_are_its_own_fault() {
    let level = Level { backlog_growth: 5, connections: 960, ..Level::open(2000.0) };
    for resource in [ConnectionResource::Descriptors, ConnectionResource::Ports] {
        let found = waiting(level.clone(), resource).generator.reasons;
        let expected = GeneratorReason::OutOfConnections { resource, connections: 960, allowed: 960 };
        assert_eq!(found, [expected]);
        let room = waiting(Level { connections: 500, ..level.clone() }, resource);
        assert!(room.generator.healthy(), "there was room for more");
        assert!(waiting(Level { backlog_growth: 0, ..level.clone() }, resource).generator.healthy());
    }
    assert!(reasons(level).is_empty(), "the plan itself asked for no more");
}

#[test]
fn requests_unsent_for_want_of_ports_or_descriptors_are_advised_on_these() {
    let failed = Some((FailureKind::Unsent, 10));
    let level = Level { backlog_growth: 5, connections: 960, failed, ..Level::open(2000.0) };
    let plan = Plan::from_json(&single(level.clone()).manifest.plan).unwrap();
    for resource in [ConnectionResource::Descriptors, ConnectionResource::Ports] {
        let steps = [waiting(level.clone(), resource)];
        let advice = failure_advice(&plan, &steps, FailureKind::Unsent);
        assert_eq!(advice, FailureAdvice::OutOf(resource));
    }
}

/// True if the generator's own resource of this kind is what is used up.
fn is_full(verdict: &Verdict, kind: ResourceKind) -> bool {
    matches!(&verdict.claim, Some(Claim::GeneratorFull { used, .. }) if used.resource.kind == kind)
}

/// A ladder to a plateau of 3,200 requests/s before a host that has enough of everything but perhaps its link.
fn before_a_host(link_bits_per_sec: f64) -> Watch {
    let pool = Watch::pool(16.0, 0.005, 128);
    pool.host("web", 1.0, 50e-6).link("web", link_bits_per_sec, 3_750.0, 200.0)
}

#[test]
fn the_generators_own_link_is_the_limit_where_that_is_full_alone() {
    let found = before_a_host(1e9).link("generator", 100e6, 200.0, 3_750.0).findings();
    let verdict = &found.verdict;
    assert_eq!((verdict.limit, verdict.host()), (Limit::Generator, "generator"));
    assert_eq!(verdict.confidence, Confidence::Measured);
    assert!(is_full(verdict, ResourceKind::BandwidthIn) && verdict.also.is_empty(), "{verdict:?}");
    assert!(found.lower_bound, "the target may do more");
    let wide = before_a_host(1e9).link("generator", 1e9, 200.0, 3_750.0).verdict();
    assert_ne!(wide.limit, Limit::Generator);
}

#[test]
fn two_ends_of_the_network_that_are_as_full_are_both_named_and_neither_is_measured() {
    let verdict = before_a_host(100e6).link("generator", 100e6, 200.0, 3_750.0).verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Generator, Confidence::Inferred));
    let also: Vec<(Limit, &Place)> = verdict.also.iter().map(|one| (one.limit, &one.place)).collect();
    let eth0 = Place::Host { name: "web".to_owned(), part: Part::Interface("eth0".to_owned()) };
    assert_eq!(also, [(Limit::Bandwidth, &eth0)]);
    assert!(matches!(verdict.claim, Some(Claim::GeneratorFull { rival: Some(_), .. })), "{verdict:?}");
}

#[test]
fn the_loopback_is_no_link_whatever_is_declared() {
    let verdict = before_a_host(1e9)
        .gauge(("generator", "declared", ""), "link_in_bits_per_sec", |_, _| 100e6)
        .gauge(("generator", "declared", ""), "link_out_bits_per_sec", |_, _| 100e6)
        .counter(("generator", "interface", "lo"), "received_bytes", |_, x| 3_750.0 * x)
        .counter(("generator", "interface", "lo"), "sent_bytes", |_, x| 3_750.0 * x)
        .verdict();
    assert_ne!(verdict.limit, Limit::Generator);
}

#[test]
fn the_generators_own_quota_is_the_limit_unless_the_targets_processors_are_as_full() {
    let verdict = before_a_host(1e9).host("generator", 0.5, 152e-6).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Generator, "generator"));
    let pool = Watch::pool(16.0, 0.005, 128);
    let shared = pool.host("local", 0.5, 152e-6).host("generator", 0.5, 152e-6).verdict();
    assert_eq!((shared.limit, shared.host()), (Limit::Cpu, "local"), "both may be in one group");
}

#[test]
fn a_delayed_generator_stops_no_growth_that_something_nearly_busy_would_not_stop() {
    let verdict = |cpu_sec: f64| {
        let levels: Vec<Level> =
            pool_levels(16.0, 0.005, 8).into_iter().map(|level| Level { starved: 0.25, ..level }).collect();
        Watch::over(&levels).host("api", 1.0, cpu_sec).process("api", "9 api", cpu_sec).verdict()
    };
    assert_eq!(verdict(565e-6).limit, Limit::Generator, "a tenth of the CPU is left");
    let full = verdict(615e-6);
    assert_eq!((full.limit, full.confidence), (Limit::Cpu, Confidence::Measured));
}

#[test]
fn one_level_shows_no_more_next_to_a_delayed_generator_than_next_to_a_healthy_one() {
    let watch = |level: Level, lost: f64| {
        Watch::single(level)
            .host("api", 1.0, 305e-6)
            .process("api", "8 java", 300e-6)
            .counter(("api", "process", "8 java"), "voluntary_switches", |_, x| 0.3 * x)
            .counter(("generator", "tcp", ""), "segments_sent", |_, x| 2.0 * x)
            .counter(("generator", "tcp", ""), "segments_retransmitted", move |_, x| lost * x)
            .counter(("generator", "tcp", ""), "syn_retransmitted", |_, _| 0.0)
            .verdict()
    };
    let (healthy, delayed) = (watch(Level::closed(64), 0.0), watch(Level::closed(64), 0.05));
    for verdict in [&healthy, &delayed] {
        assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "api"), "{verdict:#?}");
        assert_eq!(verdict.confidence, Confidence::Inferred, "{verdict:#?}");
        assert!(verdict.advice.contains(&Advice::Sweep), "{:?}", verdict.advice);
    }
    // A rate that is kept up with is limited by nothing of the target.
    assert_eq!(watch(Level::open(3200.0), 0.0).limit, Limit::None);
    assert_eq!(watch(Level::open(3200.0), 0.05).limit, Limit::Generator);
}

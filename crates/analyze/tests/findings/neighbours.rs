//! What other programs on the target's machine use.

use std::collections::BTreeSet;

use plimsoll_analyze::{Claim, Confidence, Excluded, Limit, Part, Place, ProcessId, Verdict};
use plimsoll_record::GeneratorShare;

use crate::synthetic::{Level, findings};
use crate::watch::{Watch, pool_levels};

const API: (&str, &str, &str) = ("local", "process", "7 api");

/// A machine of two cores that is full at any load, and its server, of which each request takes this much CPU in microseconds.
fn full(watch: Watch, cpu_us: f64) -> Watch {
    busy(watch, "local", |_| 2.0)
        .counter(API, "cpu_us", move |_, x| cpu_us * x)
        .gauge(API, "threads", |_, _| 16.0)
        .gauge(API, "children_cpu_ms", |_, _| 0.0)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0)
}

/// A machine of two cores, so many of which are used at a throughput.
fn busy(watch: Watch, host: &str, cores: impl Fn(f64) -> f64) -> Watch {
    let cpu = (host, "cpu", "");
    watch.gauge(cpu, "cores", |_, _| 2.0).counter(cpu, "total_ms", |_, _| 2000.0).counter(
        cpu,
        "idle_ms",
        move |_, x| (2000.0 - 1000.0 * cores(x)).max(0.0),
    )
}

fn pool() -> Watch {
    Watch::pool(16.0, 0.005, 128)
}

fn is_used_by_others(verdict: &Verdict) -> bool {
    verdict
        .excluded
        .iter()
        .any(|one| matches!(one, Excluded::UsedByOthers { by_others, .. } if *by_others > 0.9))
}

#[test]
fn a_cpu_that_others_fill_and_the_target_does_not_wait_for_is_no_limit() {
    let verdict = full(pool(), 10.0).counter(API, "run_wait_us", |_, x| 20.0 * x).verdict();
    assert_eq!(verdict.limit, Limit::Pool, "{verdict:#?}");
    assert!(is_used_by_others(&verdict), "{:?}", verdict.excluded);
    assert!(verdict.also.iter().all(|one| one.limit != Limit::Cpu), "{:?}", verdict.also);
    assert_ne!(verdict.next_limit.map(|next| next.limit), Some(Limit::Cpu));
}

/// A watched process that computes without end in its one thread, and serves nothing.
fn looping(watch: Watch) -> Watch {
    let process = ("local", "process", "8 sh");
    let all = [process, ("local", "thread", "8/8 sh")].into_iter();
    let all = all.fold(watch, |watch, one| watch.counter(one, "cpu_us", |_, _| 950_000.0));
    all.gauge(process, "threads", |_, _| 1.0).counter(process, "run_wait_us", |_, _| 30_000.0)
}

#[test]
fn a_thread_that_serves_nothing_says_nothing_of_what_the_target_waits_for() {
    let verdict = looping(full(pool(), 10.0)).counter(API, "run_wait_us", |_, x| 20.0 * x).verdict();
    assert_eq!(verdict.limit, Limit::Pool, "{verdict:#?}");
    assert!(is_used_by_others(&verdict), "{:?}", verdict.excluded);
}

#[test]
fn a_cpu_that_others_fill_is_the_limit_where_requests_wait_for_it() {
    // Each request computes for 0.2 ms and is ready for 2.4 of its 5 ms.
    let verdict = full(pool(), 200.0).counter(API, "run_wait_us", |_, x| 2400.0 * x).verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "local"), "{verdict:#?}");
    assert_eq!(verdict.place.of_host(), Some(&Part::Others), "they live too briefly to be named");
    assert!(matches!(verdict.claim, Some(Claim::CpuTaken { by_others, .. }) if by_others > 0.6));
}

#[test]
fn what_a_request_costs_of_a_cpu_is_known_next_to_others() {
    let findings = full(pool(), 10.0).counter(API, "run_wait_us", |_, x| 20.0 * x).findings();
    let cpu = findings.resources.iter().find(|one| one.host == "local" && one.others.len() > 1).unwrap();
    let cost = cpu.demand.unwrap().per_request.value;
    assert!((cost / 10e-6 - 1.0).abs() < 0.1, "{cost}");
}

#[test]
fn a_generator_on_the_machine_counts_with_what_it_used_while_it_was_measured() {
    let levels = [2, 4].map(|connections| Level { warmup: 30, ..Level::closed(connections) });
    let machine = |watch: Watch, host| watch.gauge((host, "cpu", ""), "machine", |_, _| 77.0);
    let watch = busy(Watch::over(&levels), "local", |x| 0.6 + 1e-3 * x)
        .counter(API, "cpu_us", |_, x| 1000.0 * x)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0);
    let findings = machine(machine(watch, "local"), "generator").findings();
    assert!(findings.steps.iter().all(|step| step.warmup_sec > 1.0), "{:#?}", findings.steps);
    let cpu = findings.resources.iter().find(|one| one.host == "local" && one.others.len() > 1).unwrap();
    // Two workers that use 30 % of a core each; with the CPU time of the warm-up it would be 0.87 cores.
    let is_near = |cores: &Option<f64>| cores.is_some_and(|cores| (cores - 0.6).abs() < 0.1);
    assert!(cpu.others.iter().all(is_near), "{:?}", cpu.others);
}

#[test]
fn processes_that_a_server_starts_for_each_request_are_its_own() {
    let verdict = busy(Watch::over(&pool_levels(2.0, 0.005, 128)), "local", |x| 0.005 * x)
        .counter(API, "cpu_us", |_, x| 100.0 * x)
        .counter(API, "children_cpu_ms", |_, x| 4.8 * x)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.place), (Limit::Cpu, Place::host("local")));
}

#[test]
fn cores_that_the_target_may_not_leave_are_its_capacity() {
    let mut watch = busy(pool(), "local", |x| 305e-6 * x)
        .counter(API, "cpu_us", |_, x| 305.0 * x)
        .gauge(API, "allowed_cores", |_, _| 1.0)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0);
    for core in 0..2 {
        let subject = core.to_string();
        let used = move |x: f64| if core == 0 { 0.305 * x } else { 0.0 };
        watch = watch.counter(("local", "core", &subject), "total_ms", |_, _| 1000.0).counter(
            ("local", "core", &subject),
            "idle_ms",
            move |_, x| 1000.0 - used(x),
        );
    }
    for tid in 8..12 {
        let thread = format!("7/{tid} api");
        watch = watch.counter(("local", "thread", &thread), "cpu_us", |_, x| 76.0 * x);
    }
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Cpu, Confidence::Measured), "{verdict:#?}");
    assert_eq!(verdict.place.of_host(), Some(&Part::Cores(BTreeSet::from([0]))));
    assert!(matches!(verdict.claim, Some(Claim::AllowedCores { .. })));
}

#[test]
fn a_machine_that_is_probed_twice_is_one_and_stands_where_most_of_it_is_used() {
    let of = |watch: Watch, host: &'static str, process: &'static str, cpu_us: f64| {
        busy(watch, host, |x| 610e-6 * x).gauge((host, "cpu", ""), "machine", |_, _| 77.0).counter(
            (host, "process", process),
            "cpu_us",
            move |_, x| cpu_us * x,
        )
    };
    let watch = of(of(pool(), "web", "7 nginx", 40.0), "php", "20 php-fpm", 560.0);
    let verdict = watch.listener("web", "0.0.0.0:8080", 7, |_, _| 0.0).verdict();
    assert_eq!((verdict.limit, verdict.place), (Limit::Cpu, Place::host("php")));
    assert!(verdict.also.is_empty(), "{:?}", verdict.also);
}

#[test]
fn an_outage_next_to_other_work_is_not_the_cpus() {
    let mut levels = pool_levels(16.0, 0.005, 8);
    levels.push(Level { silent: 0..100, ..Level::at(16, 0.0) });
    let verdict = full(Watch::over(&levels), 10.0).counter(API, "run_wait_us", |_, x| 20.0 * x).verdict();
    assert_ne!(verdict.limit, Limit::Cpu, "{verdict:#?}");
}

/// A server of two cores that are full, on the machine that conducts the load. Agents of a fleet on other machines make it, or
/// the machine itself; so many processors of the machine are of a process that is called as the generator.
fn conducted(is_fleet: bool, agent_us: f64) -> Verdict {
    let levels: Vec<Level> =
        pool_levels(16.0, 0.005, 128).into_iter().map(|level| Level { busy: 0.6, ..level }).collect();
    let mut run = busy(Watch::over(&levels), "local", |x| x * 610e-6)
        .gauge(("local", "cpu", ""), "machine", |_, _| 77.0)
        .gauge(("generator", "cpu", ""), "machine", |_, _| 77.0)
        .counter(API, "cpu_us", move |_, x| (600.0 - agent_us) * x)
        .gauge(API, "threads", |_, _| 16.0)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0)
        .counter(("local", "neighbours", "9 plimsoll"), "cpu_us", move |_, x| agent_us * x)
        .run();
    let agent = |first_worker: u32| GeneratorShare {
        name: format!("agent-{first_worker}"),
        first_worker,
        workers: 1,
        ceiling_per_sec: None,
        clock_error_ns: None,
        part_ppm: None,
        wall: None,
        lost_ns: None,
    };
    for step in run.steps.iter_mut().filter(|_| is_fleet) {
        step.generators = vec![agent(0), agent(1)];
    }
    findings(&run).verdict
}

#[test]
fn cores_of_agents_on_other_machines_are_none_of_the_machine_that_conducts_them() {
    let generator = |verdict: &Verdict| match verdict.claim {
        Some(Claim::Cpu { generator, .. } | Claim::CpuTaken { generator, .. }) => generator,
        ref claim => panic!("{claim:?}"),
    };
    let of_fleet = conducted(true, 0.0);
    assert_eq!((&of_fleet.place, generator(&of_fleet)), (&Place::host("local"), None), "{of_fleet:#?}");
    let alone = conducted(false, 0.0);
    assert!(generator(&alone).is_some_and(|part| (part - 0.6).abs() < 0.01), "{:?}", alone.claim);
    // An agent on the target's own machine is known by its process.
    let agent = Part::OtherProcess(ProcessId::new(9, "plimsoll"));
    assert_eq!(conducted(true, 300.0).place, Place::part("local", agent));
}

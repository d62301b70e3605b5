//! What other programs on the target's machine use.

use std::collections::BTreeSet;

use plimsoll_analyze::{
    Advice, Claim, Confidence, Excluded, Limit, Part, Place, ProcessId, ResourceKind, Verdict,
};
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

/// nginx with one-threaded workers that each fill one of eight cores, and may run on no more cores than they are.
fn pinned(workers: u32) -> Watch {
    let cpu = ("local", "cpu", "");
    let used_ms = move |x: f64| 0.297 * x;
    let mut watch = pool()
        .gauge(cpu, "cores", |_, _| 8.0)
        .counter(cpu, "total_ms", |_, _| 8000.0)
        .counter(cpu, "idle_ms", move |_, x| 8000.0 - f64::from(workers) * used_ms(x))
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0);
    for number in 0..8 {
        let subject = number.to_string();
        let core = ("local", "core", &*subject);
        let used_ms = move |x: f64| if number < workers { used_ms(x) } else { 0.0 };
        watch = watch
            .counter(core, "total_ms", |_, _| 1000.0)
            .counter(core, "idle_ms", move |_, x| 1000.0 - used_ms(x));
    }
    for worker in 0..workers {
        let subject = format!("{} nginx", 7 + worker);
        let allowed = f64::from((1_u32 << workers) - 1);
        watch = watch.process("local", &subject, 297e-6);
        watch = watch.gauge(("local", "process", &subject), "allowed_cores", move |_, _| allowed);
    }
    watch
}

#[test]
fn as_many_workers_as_they_have_cores_need_others() {
    let two = pinned(2).verdict();
    assert_eq!(two.limit, Limit::Cpu, "{two:#?}");
    assert_eq!(two.place.of_host(), Some(&Part::Cores(BTreeSet::from([0, 1]))));
    assert_eq!(two.advice, [Advice::MoreOfItsCores { more_workers: true }]);
    assert_eq!(pinned(1).verdict().limit, Limit::Thread, "one thread needs no second core");
}

#[test]
fn a_thread_that_may_run_on_all_cores_has_none_of_those_that_others_are_held_to() {
    let allowed = |watch: Watch, set: u32| {
        let redis = ("local", "process", "90 redis-server");
        watch.process("local", redis.2, 300e-6).gauge(redis, "allowed_cores", move |_, _| f64::from(set))
    };
    // One worker has as many cores as it can use, whatever other threads have.
    let verdict = allowed(pinned(1), 0xff).verdict();
    assert_eq!(verdict.limit, Limit::Thread, "{verdict:#?}");
    let two = allowed(pinned(2), 0xff).verdict();
    let limits: BTreeSet<String> = std::iter::once(two.limit)
        .chain(two.also.iter().map(|also| also.limit))
        .map(|one| format!("{one:?}"))
        .collect();
    assert!(limits.contains("Thread") && limits.contains("Cpu"), "{two:#?}");
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
fn others_on_a_machine_that_is_probed_twice_are_one_limit() {
    let of = |watch: Watch, host: &'static str, process: &'static str, cpu_us: f64| {
        let process = (host, "process", process);
        busy(watch, host, |_| 2.0)
            .gauge((host, "cpu", ""), "machine", |_, _| 77.0)
            .counter(process, "cpu_us", move |_, x| cpu_us * x)
            .counter(process, "run_wait_us", move |_, x| 10.0 * cpu_us * x)
            .counter((host, "neighbours", "9 cc1"), "cpu_us", |_, _| 1.3e6)
    };
    let watch = of(of(pool(), "web", "7 nginx", 40.0), "php", "20 php-fpm", 180.0);
    let verdict = watch.listener("web", "0.0.0.0:8080", 7, |_, _| 0.0).verdict();
    let compiler = Part::OtherProcess(ProcessId::new(9, "cc1"));
    assert_eq!((verdict.limit, &verdict.place), (Limit::Cpu, &Place::part("php", compiler)), "{verdict:#?}");
    assert_eq!((&*verdict.also, verdict.confidence), (&[][..], Confidence::Measured));
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

/// A control group that a host is, with a quota of so many cores.
fn in_group(watch: Watch, host: &str, cores: f64, usage_us: impl Fn(f64) -> f64) -> Watch {
    let group = (host, "cgroup", "");
    watch
        .gauge(group, "quota_us", |_, _| 10_000.0 * cores)
        .gauge(group, "period_us", |_, _| 10_000.0)
        .counter(group, "usage_us", |_, x| usage_us(x))
}

#[test]
fn work_for_packets_is_none_of_others_though_the_top_group_is_read_too() {
    let cpu = ("local", "cpu", "");
    let watch = || {
        busy(pool(), "local", |x| 0.2 + 400e-6 * x)
            .counter(cpu, "softirq_ms", |_, _| 200.0)
            .counter(("local", "cgroup", ""), "usage_us", |_, x| 2e5 + 400.0 * x)
            .counter(API, "cpu_us", |_, x| 400.0 * x)
            .gauge(API, "children_cpu_ms", |_, _| 0.0)
            .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0)
    };
    let others = |watch: Watch| {
        let findings = watch.findings();
        let cpu = findings.resources.iter().find(|one| one.host == "local" && one.others.len() > 1).unwrap();
        cpu.others.iter().map(|others| others.unwrap()).reduce(f64::max).unwrap()
    };
    assert!(others(watch()) < 0.02, "{}", others(watch()));
    // A container's own group counts no packets of its machine.
    let container = || in_group(watch(), "local", 2.0, |x| 2e5 + 400.0 * x);
    assert!((others(container()) - 0.2).abs() < 0.02, "{}", others(container()));
}

#[test]
fn two_containers_of_one_kernel_have_a_cpu_each_and_one_that_is_probed_twice_has_one() {
    let of = |watch: Watch, (host, process): (&'static str, &'static str), (cores, usage_us): (f64, f64)| {
        let watch = busy(watch, host, |x| 800e-6 * x).gauge((host, "cpu", ""), "machine", |_, _| 77.0);
        let watch = watch.counter((host, "process", process), "cpu_us", move |_, x| 0.98 * usage_us * x);
        in_group(watch, host, cores, move |x| usage_us * x)
    };
    let (web, php) = (("web", "7 nginx"), ("php", "20 php-fpm"));
    let two = of(of(pool(), web, (1.0, 309.0)), php, (4.0, 500.0));
    let verdict = two.listener("web", "0.0.0.0:8080", 7, |_, _| 0.0).verdict();
    assert_eq!((verdict.limit, &verdict.place), (Limit::Cpu, &Place::host("web")), "{verdict:#?}");
    let one = of(of(pool(), web, (2.0, 610.0)), php, (2.0, 610.0));
    let cpus = one.findings().resources.into_iter().filter(|one| one.kind == ResourceKind::Cpu);
    let hosts: Vec<String> = cpus.map(|cpu| cpu.host).collect();
    assert_eq!(hosts.len(), 1, "{hosts:?}");
}

/// The part that the load generator is said to have of two full cores, where the target's host and the generator are in control
/// groups of this usage for a request; `None` where they are in none with a quota.
fn part_of_generator(host_us: Option<f64>, generator_us: Option<f64>) -> Option<f64> {
    let levels: Vec<Level> =
        pool_levels(16.0, 0.005, 128).into_iter().map(|level| Level { busy: 0.6, ..level }).collect();
    let mut watch = busy(Watch::over(&levels), "local", |x| x * 610e-6)
        .gauge(("local", "cpu", ""), "machine", |_, _| 77.0)
        .gauge(("generator", "cpu", ""), "machine", |_, _| 77.0)
        .counter(API, "cpu_us", |_, x| 600.0 * x)
        .gauge(API, "threads", |_, _| 16.0)
        .listener("local", "0.0.0.0:8080", 7, |_, _| 0.0);
    for (host, usage_us) in [("local", host_us), ("generator", generator_us)] {
        if let Some(usage_us) = usage_us {
            watch = in_group(watch, host, 2.0, move |x| usage_us * x);
        }
    }
    match watch.verdict().claim {
        Some(Claim::Cpu { generator, .. } | Claim::CpuTaken { generator, .. }) => generator,
        claim => panic!("{claim:?}"),
    }
}

#[test]
fn a_generator_uses_the_cpu_of_its_machine_and_of_its_own_container() {
    assert!(part_of_generator(None, None).is_some());
    assert!(part_of_generator(None, Some(100.0)).is_some(), "it is capped, its machine is not");
    assert!(part_of_generator(Some(610.0), Some(610.0)).is_some(), "one container");
    assert_eq!(part_of_generator(Some(610.0), None), None, "the target alone is in a container");
    assert_eq!(part_of_generator(Some(610.0), Some(100.0)), None, "each is in its own");
}

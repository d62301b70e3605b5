//! Verdicts of memory, and of JVMs: what garbage collection, paging and compilers explain, and what they do not.

use plimsoll_analyze::{Claim, Confidence, Limit, Part, Place, Verdict};

use crate::watch::{Watch, connections};

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

fn also(verdict: &Verdict) -> Vec<Limit> {
    verdict.also.iter().map(|also| also.limit).collect()
}

/// A machine with so many cores, of which each request takes `cpu_us`.
fn machine(watch: Watch, name: &'static str, cores: f64, cpu_us: f64) -> Watch {
    let cpu = (name, "cpu", "");
    watch.gauge(cpu, "cores", move |_, _| cores).counter(cpu, "total_ms", move |_, _| 1000.0 * cores).counter(
        cpu,
        "idle_ms",
        move |_, x| 1000.0 * cores - cpu_us * x / 1000.0,
    )
}

/// A machine whose two cores are full at 400 requests/s, and that reads a page from swap for each fifth request.
fn paging(stalled_us: Option<f64>) -> Verdict {
    let watch = machine(Watch::pool(2.0, 0.005, 64), "vm", 2.0, 4950.0)
        .counter(("vm", "process", "8 api"), "cpu_us", |_, x| 4900.0 * x)
        .counter(("vm", "memory", ""), "swapped_in_pages", |_, x| 0.2 * x);
    let stalled =
        |watch: Watch, us: f64| watch.counter(("vm", "pressure", ""), "memory_some_us", move |_, _| us);
    stalled_us.into_iter().fold(watch, stalled).verdict()
}

#[test]
fn a_full_cpu_is_the_limit_though_pages_are_read_that_few_tasks_wait_for() {
    let rarely = paging(Some(1000.0));
    assert_eq!(found(&rarely), (Limit::Cpu, "vm", Confidence::Measured), "{rarely:#?}");
    for stalled_us in [None, Some(200_000.0)] {
        let perhaps = paging(stalled_us);
        assert_eq!(found(&perhaps), (Limit::Cpu, "vm", Confidence::Inferred), "{stalled_us:?}");
        assert_eq!(also(&perhaps), [Limit::Memory], "{stalled_us:?}");
    }
    assert_eq!(found(&paging(Some(700_000.0))), (Limit::Memory, "vm", Confidence::Measured));
}

/// A JVM of which each request takes `cpu_us`, `collecting_us` of these in its collector, with a heap that is nearly full.
fn java(watch: Watch, host: &'static str, cpu_us: f64, collecting_us: f64) -> Watch {
    watch
        .counter((host, "process", "8 java"), "cpu_us", move |_, x| cpu_us * x)
        .counter((host, "thread", "8/9 GC Thread#0"), "cpu_us", move |_, x| collecting_us * x)
        .gauge((host, "jvm", "8"), "heap_used_bytes", |_, _| 85e6)
        .gauge((host, "jvm", "8"), "heap_max_bytes", |_, _| 100e6)
}

#[test]
fn a_collector_explains_no_thread_of_another_process() {
    let watch = machine(Watch::pool(16.0, 0.005, 128), "vm", 4.0, 560.0);
    let verdict = java(watch, "vm", 187.0, 78.0).process("vm", "9 redis-server", 306e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Thread, "vm", Confidence::Measured), "{verdict:#?}");
    assert_eq!(verdict.place, Place::process("vm", "redis-server"));
}

#[test]
fn a_collector_explains_a_full_cpu_of_which_it_has_a_third() {
    let full = |collecting_us: f64| {
        let watch = Watch::pool(16.0, 0.005, 128).host("api", 1.0, 305e-6);
        java(watch, "api", 1.5 * collecting_us, collecting_us).verdict()
    };
    assert_eq!(found(&full(180.0)), (Limit::Memory, "api", Confidence::Measured));
    assert_eq!(full(60.0).limit, Limit::Cpu, "a fifth of what was used");
}

#[test]
fn the_heap_of_one_jvm_says_nothing_of_another() {
    let watch = |jvm: &'static str| {
        Watch::pool(16.0, 0.005, 128)
            .host("api", 1.0, 305e-6)
            .counter(("api", "process", "8 java"), "cpu_us", |_, x| 250.0 * x)
            .counter(("api", "thread", "8/9 GC Thread#0"), "cpu_us", |_, x| 150.0 * x)
            .counter(("api", "process", "10 java"), "cpu_us", |_, x| 40.0 * x)
            .counter(("api", "jvm", jvm), "gc_time_ms", |_, _| 1.0)
            .gauge(("api", "jvm", jvm), "heap_used_bytes", |_, _| 85e6)
            .gauge(("api", "jvm", jvm), "heap_max_bytes", |_, _| 100e6)
            .verdict()
    };
    let heap = |verdict: &Verdict| match verdict.claim {
        Some(Claim::Collecting { heap, .. }) => heap,
        ref claim => panic!("{claim:?}"),
    };
    let (own, other) = (watch("8"), watch("10"));
    assert_eq!((own.confidence, heap(&own)), (Confidence::Measured, Some(0.85)));
    assert_eq!((other.confidence, heap(&other)), (Confidence::Inferred, None));
    // A page that reports a JVM does not say of which process.
    assert_eq!(watch("10.0.0.2:9404").confidence, Confidence::Measured);
}

/// A JVM that keeps a pool of ten connections to its database.
fn in_front_of_a_database(watch: Watch) -> Watch {
    watch
        .listener("api", "0.0.0.0:8080", 8, |_, _| 0.0)
        .gauge(("api", "peers", "8 java"), "10.0.0.5:3306", |step, _| connections(step).min(10.0))
        .host("db", 1.0, 10e-6)
        .process("db", "9 mariadbd", 10e-6)
        .listener("db", "10.0.0.5:3306", 9, |_, _| 0.0)
}

/// The same on four cores, which collects garbage with a third of the little CPU that it uses.
fn before_a_database(collecting_us: f64, paused_ms: Option<f64>) -> Verdict {
    let watch = Watch::pool(10.0, 0.007, 256).host("api", 4.0, 212e-6);
    let watch = java(in_front_of_a_database(watch), "api", 210.0, collecting_us);
    let paused = |watch: Watch, ms: f64| watch.counter(("api", "jvm", "8"), "gc_time_ms", move |_, _| ms);
    paused_ms.into_iter().fold(watch, paused).verdict()
}

#[test]
fn a_collector_of_a_process_that_hardly_runs_is_not_what_requests_wait_for() {
    for paused_ms in [Some(12.0), None] {
        let verdict = before_a_database(77.0, paused_ms);
        assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured), "{paused_ms:?} {verdict:#?}");
    }
}

#[test]
fn a_collector_that_stops_its_process_a_third_of_the_time_is_waited_for() {
    let reported = before_a_database(77.0, Some(400.0));
    assert_eq!(found(&reported), (Limit::Memory, "api", Confidence::Measured), "{reported:#?}");
    // Threads that collect while the others stand still show the least that these stood still.
    let by_threads =
        java(Watch::pool(10.0, 0.007, 256).host("api", 4.0, 802e-6), "api", 800.0, 280.0).verdict();
    assert_eq!(found(&by_threads), (Limit::Memory, "api", Confidence::Measured), "{by_threads:#?}");
}

#[test]
fn a_compiler_that_has_a_core_while_requests_wait_for_a_pool_is_no_limit() {
    const COMPILING: [f64; 9] = [0.55, 0.65, 0.75, 0.85, 0.93, 0.94, 0.95, 0.95, 0.95];
    let verdict = in_front_of_a_database(Watch::pool(10.0, 0.007, 256).host("api", 4.0, 800e-6))
        .counter(("api", "process", "8 java"), "cpu_us", |step, x| 1e6 * COMPILING[step] + 100.0 * x)
        .counter(("api", "thread", "8/20 C2 CompilerThre"), "cpu_us", |step, _| 1e6 * COMPILING[step])
        .counter(("api", "thread", "8/20 C2 CompilerThre"), "voluntary_switches", |_, x| x)
        .verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured), "{verdict:#?}");
}

/// A database in a container of 64 MB on a machine, so many threads of which wait for a disk.
fn contained(used: f64, waiting: f64) -> Verdict {
    let (group, threads) = (("vm", "cgroup", "/system.slice/docker-x.scope"), ("vm", "waiting", "9 db"));
    machine(Watch::pool(4.0, 0.01, 32), "vm", 2.0, 100.0)
        .gauge(group, "memory_limit_bytes", |_, _| 64e6)
        .gauge(group, "memory_bytes", move |_, _| used)
        .counter(group, "refaulted_pages", |_, x| 2.0 * x)
        .counter(("vm", "process", "9 db"), "cpu_us", |_, x| 100.0 * x)
        .counter(("vm", "process", "9 db"), "major_faults", |_, x| 2.0 * x)
        .counter(threads, "looks", |_, _| 10.0)
        .counter(threads, "disk", move |_, _| 10.0 * waiting)
        .verdict()
}

#[test]
fn a_container_that_is_as_full_as_it_may_be_fetches_its_pages_again() {
    let full = contained(63.9e6, 3.5);
    assert_eq!(found(&full), (Limit::Memory, "vm", Confidence::Inferred), "{full:#?}");
    let group = Part::Group("/system.slice/docker-x.scope".to_owned());
    assert_eq!(full.place, Place::part("vm", group));
    assert_eq!(also(&full), [Limit::Disk]);
    assert_eq!(contained(30e6, 3.5).limit, Limit::Disk, "half of its memory is left");
    assert_eq!(contained(63.9e6, 0.0).limit, Limit::Pool, "no thread waits for its pages");
}

#[test]
fn pages_that_are_read_while_hardly_a_task_waits_for_memory_are_not_what_requests_wait_for() {
    let verdict = |stalled_us: f64| {
        machine(Watch::pool(4.0, 0.025, 32), "vm", 2.0, 100.0)
            .counter(("vm", "memory", ""), "swapped_in_pages", |_, _| 20.0)
            .counter(("vm", "pressure", ""), "memory_some_us", move |_, _| stalled_us)
            .verdict()
    };
    assert_eq!(found(&verdict(1000.0)), (Limit::Pool, "vm", Confidence::Inferred));
    assert_eq!(verdict(200_000.0).limit, Limit::Memory, "a page for each eighth request");
}

//! Servers that look like something else than they are: what the verdict must not say of them, or not for certain.

use plimsoll_analyze::{Advice, Claim, Confidence, Limit, Observation, Part, Place, ProcessId, Verdict};
use plimsoll_record::Run;

use crate::synthetic::{INTERVAL_NS, Level, findings};
use crate::watch::{Watch, connections, pool_levels, waiting};

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

fn also(verdict: &Verdict, limit: Limit) -> bool {
    verdict.also.iter().any(|also| also.limit == limit)
}

/// One worker that takes 500 µs for a request, 88 % of them on a CPU, on a host of four cores.
fn one_worker(waits_us: f64) -> Watch {
    let thread = ("db", "thread", "9/9 redis-server");
    Watch::pool(1.0, 500e-6, 32)
        .host("db", 4.0, 440e-6)
        .process("db", "9 redis-server", 440e-6)
        .counter(("db", "process", "9 redis-server"), "voluntary_switches", |step, x| x / connections(step))
        .counter(thread, "cpu_us", |_, x| 440.0 * x)
        .counter(thread, "voluntary_switches", |step, x| x / connections(step))
        .counter(thread, "run_wait_us", move |_, x| waits_us * x)
        .counter(("db", "process", "9 redis-server"), "run_wait_us", move |_, x| waits_us * x)
        .listener("db", "0.0.0.0:8080", 9, |step, _| waiting(step, 1.0))
}

#[test]
fn a_thread_that_is_always_ready_is_at_its_end_though_it_is_not_always_let_run() {
    let reported = one_worker(50.0).verdict();
    assert_eq!(found(&reported), (Limit::Thread, "db", Confidence::Inferred));
    assert_eq!(reported.place, Place::process("db", "redis-server"));
    assert!(matches!(reported.claim, Some(Claim::Thread { waited: Some(_), .. })), "{:?}", reported.claim);
    assert!(also(&reported, Limit::Cpu), "what keeps it from the CPU is named: {:?}", reported.also);
    assert!(!also(&reported, Limit::Pool), "{:?}", reported.also);
    // With next to no waiting it would get no further on a CPU of its own.
    let alone = one_worker(25.0).verdict();
    assert_eq!(found(&alone), (Limit::Thread, "db", Confidence::Measured));
    // And a worker that pauses is none: it waits for something.
    let pausing = one_worker(0.0).verdict();
    assert_eq!(pausing.limit, Limit::Pool);
    assert!(also(&pausing, Limit::Thread), "{:?}", pausing.also);
}

fn other_process(host: &str, pid: u32, name: &str) -> Place {
    Place::part(host, Part::OtherProcess(ProcessId::new(pid, name)))
}

/// The same worker next to another thread of its process, while so many of its threads wait for another.
fn waited_for(other: &str, cost_us: impl Fn(usize) -> f64 + Copy, waits: f64) -> Verdict {
    let waiting = ("db", "waiting", "9 redis-server");
    one_worker(25.0)
        .counter(("db", "thread", other), "cpu_us", move |step, x| cost_us(step) * x)
        .counter(("db", "process", "9 redis-server"), "cpu_us", move |step, x| (440.0 + cost_us(step)) * x)
        .counter(waiting, "looks", |_, _| 10.0)
        .counter(waiting, "futex", move |_, _| 10.0 * waits)
        .verdict()
}

fn next_to(other: &str, cost_us: impl Fn(usize) -> f64 + Copy) -> Verdict {
    waited_for(other, cost_us, 3.0)
}

#[test]
fn a_hot_thread_next_to_others_that_serve_too_may_be_a_lock_that_stays_with_it() {
    let several = next_to("9/10 redis-server", |_| 150.0);
    assert_eq!(found(&several), (Limit::Thread, "db", Confidence::Inferred));
    assert!(also(&several, Limit::Lock), "{:?}", several.also);
    let little = next_to("9/10 redis-server", |_| 20.0);
    assert_eq!(little.confidence, Confidence::Measured, "a timer's share reports nothing");
}

#[test]
fn work_that_one_thread_has_at_a_time_and_not_always_the_same_is_a_lock() {
    let first_steps = |most: f64| move |step: usize| if step < 3 { most } else { 150.0 };
    let turns = next_to("9/10 redis-server", first_steps(800.0));
    assert_eq!(found(&turns), (Limit::Lock, "db", Confidence::Inferred));
    assert!(also(&turns, Limit::Thread), "{:?}", turns.also);
    // Event loops with more connections each in turn wait for no thread.
    let loops = waited_for("9/10 redis-server", first_steps(800.0), 0.0);
    assert_eq!(found(&loops), (Limit::Thread, "db", Confidence::Inferred));
    assert!(also(&loops, Limit::Lock), "{:?}", loops.also);
    // A compiler that had more to do than the server in the first steps has other work.
    let compiler = next_to("9/10 C2 Compiler", first_steps(800.0));
    assert_eq!(found(&compiler), (Limit::Thread, "db", Confidence::Measured));
    // Where two have more than half a core each there are two that work.
    let both = next_to("9/10 redis-server", |step| if step < 3 { 800.0 } else { 400.0 });
    assert_eq!(both.limit, Limit::Thread);
}

#[test]
fn threads_that_all_work_and_hardly_two_at_once_take_turns() {
    let process = ("api", "process", "8 server");
    let watch = |at_once: f64| {
        let mut watch = Watch::pool(at_once, 1e-3, 64)
            .host("api", 8.0, 960e-6)
            .counter(process, "cpu_us", |_, x| 950.0 * x)
            .counter(process, "voluntary_switches", |step, x| 2.0 * x / connections(step));
        for tid in 8..14 {
            let subject = format!("8/{tid} server");
            watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 158.0 * x);
        }
        watch.verdict()
    };
    let turns = watch(1.3);
    assert_eq!(found(&turns), (Limit::Lock, "api", Confidence::Inferred));
    assert!(
        also(&turns, Limit::Thread) && matches!(turns.claim, Some(Claim::TakingTurns { .. })),
        "{:?}",
        turns.claim
    );
    assert_eq!(watch(2.0).limit, Limit::Thread, "two at once are two that a runtime lets run");
}

#[test]
fn time_that_other_guests_took_counts_as_needed() {
    let cpu = ("db", "cpu", "");
    let watch = |steal: f64| {
        Watch::pool(1.0, 500e-6, 32)
            .gauge(cpu, "cores", |_, _| 4.0)
            .counter(cpu, "total_ms", |_, _| 4000.0)
            .counter(cpu, "idle_ms", move |_, x| 4000.0 - (0.43 + steal) * x)
            .counter(cpu, "steal_ms", move |_, x| steal * x)
            .process("db", "9 redis-server", 430e-6)
    };
    let stolen = watch(0.065).verdict();
    assert_eq!(found(&stolen), (Limit::Thread, "db", Confidence::Inferred));
    assert!(also(&stolen, Limit::Cpu), "{:?}", stolen.also);
    assert_ne!(watch(0.0).verdict().limit, Limit::Thread);
}

#[test]
fn workers_that_compute_all_the_time_are_threads_and_no_pool() {
    // Four processes of one thread each take turns at eight cores' worth of requests: none is quite at its end.
    let mut watch = Watch::pool(4.0, 1e-3, 64).host("api", 16.0, 930e-6);
    for pid in 20..24 {
        let subject = format!("{pid} gunicorn");
        let share = if pid == 20 { 210.0 } else { 220.0 };
        watch = watch
            .counter(("api", "process", &subject), "cpu_us", move |_, x| share * x)
            .counter(("api", "process", &subject), "run_wait_us", |_, x| 12.0 * x)
            .gauge(("api", "process", &subject), "threads", |_, _| 2.0);
    }
    let verdict = watch.listener("api", "0.0.0.0:8080", 20, |step, _| waiting(step, 4.0)).verdict();
    assert_eq!(found(&verdict), (Limit::Thread, "api", Confidence::Inferred));
    assert!(!also(&verdict, Limit::Pool), "{:?}", verdict.also);
}

#[test]
fn a_runtime_that_lets_two_of_its_threads_run_is_no_pool_of_two() {
    let process = ("api", "process", "8 server");
    let mut watch =
        Watch::pool(2.0, 1e-3, 64).host("api", 8.0, 980e-6).counter(process, "cpu_us", |_, x| 970.0 * x);
    watch = watch.counter(process, "voluntary_switches", |step, x| 2.0 * x / connections(step));
    for tid in 8..14 {
        let subject = format!("8/{tid} server");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 160.0 * x);
    }
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Thread, "api", Confidence::Inferred));
    assert!(also(&verdict, Limit::Lock), "{:?}", verdict.also);
}

#[test]
fn workers_that_sleep_are_a_pool_whether_they_are_threads_or_processes() {
    let mut watch = Watch::pool(8.0, 0.02, 128).host("api", 1.0, 300e-6);
    for pid in 20..28 {
        watch = watch.process("api", &format!("{pid} gunicorn"), 35e-6);
    }
    // Connections that no worker has accepted: their requests are there, so that they are counted as unread too.
    let address = ("api", "listener", "0.0.0.0:8080");
    let verdict = watch
        .listener("api", "0.0.0.0:8080", 20, |step, _| waiting(step, 8.0))
        .gauge(address, "queue", |step, _| waiting(step, 8.0))
        .verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured));
    assert!(verdict.size.is_some_and(|size| (size.value / 8.0 - 1.0).abs() < 0.05), "{:?}", verdict.size);
}

#[test]
fn workers_that_all_wait_for_what_is_not_seen_are_not_measured_as_a_small_pool() {
    // Fifty workers, all waiting for a database over a unix socket that serves two at a time.
    let verdict = Watch::pool(2.0, 0.005, 256)
        .host("api", 2.0, 50e-6)
        .process("api", "20 php-fpm", 50e-6)
        .listener("api", "0.0.0.0:8080", 20, |step, _| waiting(step, 50.0))
        .verdict();
    assert_ne!(verdict.confidence, Confidence::Measured, "{verdict:#?}");
}

/// A server whose threads poll without pause, before a pool of `workers`.
fn polling(levels: &[Level], threads: u32) -> Watch {
    let cores = f64::from(threads);
    let mut watch = Watch::over(levels)
        .gauge(("api", "cgroup", ""), "quota_us", |_, _| 40_000.0)
        .gauge(("api", "cgroup", ""), "period_us", |_, _| 10_000.0)
        .counter(("api", "cgroup", ""), "usage_us", move |_, _| 990_000.0 * cores)
        .counter(("api", "process", "8 envoy"), "cpu_us", move |_, _| 985_000.0 * cores)
        .counter(("api", "process", "8 envoy"), "run_wait_us", |_, _| 1_000.0);
    for tid in 0..threads {
        let subject = format!("8/{} wrk:worker", tid + 8);
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, _| 985_000.0);
    }
    watch
}

#[test]
fn threads_that_poll_without_pause_are_not_what_stops_growth() {
    let climb = pool_levels(16.0, 0.005, 128);
    let all_at_plateau: Vec<Level> = [50, 100, 200, 400].map(|n| Level::at(n, 3200.0)).to_vec();
    for threads in [1, 2, 4] {
        let climbed = polling(&climb, threads).verdict();
        assert_eq!((climbed.limit, climbed.confidence), (Limit::Pool, Confidence::Inferred), "{threads}");
        assert!(also(&climbed, Limit::Thread) || also(&climbed, Limit::Cpu), "{:?}", climbed.also);
        assert_ne!(polling(&all_at_plateau, threads).verdict().confidence, Confidence::Measured, "{threads}");
    }
}

#[test]
fn a_cpu_that_is_half_used_without_load_may_have_that_half_to_give() {
    let usage = |idle: f64, each: f64| {
        Watch::pool(16.0, 0.005, 128)
            .gauge(("api", "cgroup", ""), "quota_us", |_, _| 20_000.0)
            .gauge(("api", "cgroup", ""), "period_us", |_, _| 10_000.0)
            .counter(("api", "cgroup", ""), "usage_us", move |_, x| 1e6 * (idle + each * x))
            .counter(("api", "process", "8 java"), "cpu_us", move |_, x| 1e6 * (idle + each * x))
            .verdict()
    };
    assert_eq!(found(&usage(0.92, 300e-6)), (Limit::Cpu, "api", Confidence::Inferred));
    assert_eq!(found(&usage(0.2, 525e-6)), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn what_never_sleeps_is_a_neighbour_though_the_load_never_fell() {
    let steps: Vec<Level> = [1, 2, 4, 8].map(|n| Level::at(n, 1400.0)).to_vec();
    let watch = |sleeps: f64| {
        Watch::over(&steps)
            .host("api", 0.8, 571e-6)
            .process("api", "7 api", 321e-6)
            .counter(("api", "process", "7 api"), "run_wait_us", |_, x| 300.0 * x)
            .counter(("api", "process", "7 api"), "voluntary_switches", |_, x| 0.2 * x)
            .listener("api", "0.0.0.0:8080", 7, |_, _| 0.0)
            .process("api", "9 sh", 250e-6)
            .counter(("api", "process", "9 sh"), "voluntary_switches", move |_, _| sleeps)
            .verdict()
    };
    let hog = watch(0.0);
    assert_eq!(found(&hog), (Limit::Cpu, "api", Confidence::Measured));
    assert_eq!(hog.place, other_process("api", 9, "sh"));
    let worker = watch(300.0);
    assert_eq!((worker.place, worker.confidence), (Place::host("api"), Confidence::Measured));
}

#[test]
fn a_server_behind_a_unix_socket_is_no_neighbour() {
    // nginx before php-fpm, which no connection of TCP leads to.
    let watch = |source: &'static str| {
        Watch::pool(16.0, 0.005, 128)
            .host("web", 1.0, 305e-6)
            .process("web", "7 nginx", 40e-6)
            .counter(("web", "process", "7 nginx"), "run_wait_us", |_, x| 60.0 * x)
            .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
            .counter(("web", source, "20 php-fpm"), "cpu_us", |_, x| 260.0 * x)
    };
    for source in ["process", "neighbours"] {
        let verdict = watch(source).verdict();
        assert_eq!((verdict.limit, verdict.place), (Limit::Cpu, Place::host("web")));
    }
}

#[test]
fn a_neighbour_is_certain_only_if_the_load_fell_far_enough_to_tell() {
    let steps: Vec<Level> = [50, 100, 200, 400].map(|n| Level::at(n, 3200.0)).to_vec();
    let verdict = Watch::over(&steps)
        .host("web", 1.0, 305e-6)
        .process("web", "7 nginx", 40e-6)
        .counter(("web", "process", "7 nginx"), "run_wait_us", |_, x| 60.0 * x)
        .counter(("web", "neighbours", "20 php-fpm"), "cpu_us", |_, x| 260.0 * x)
        .verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Cpu, Confidence::Inferred));
}

#[test]
fn the_load_generator_on_the_targets_host_takes_its_cpu() {
    let verdict = Watch::pool(16.0, 0.005, 128)
        .host("local", 2.0, 610e-6)
        .process("local", "7 nginx", 240e-6)
        .counter(("local", "process", "7 nginx"), "run_wait_us", |_, x| 200.0 * x)
        .counter(("local", "neighbours", "99 plimsoll"), "cpu_us", |_, x| 360.0 * x)
        .verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "local"));
    assert_eq!(verdict.place, other_process("local", 99, "plimsoll"));
}

#[test]
fn threads_kept_to_a_few_cores_do_not_blame_the_machine_below() {
    let process = ("api", "process", "8 api");
    let mut watch = Watch::pool(16.0, 0.005, 128)
        .gauge(("api", "cpu", ""), "cores", |_, _| 4.0)
        .counter(("api", "cpu", ""), "total_ms", |_, _| 4000.0)
        .counter(("api", "cpu", ""), "idle_ms", |_, x| 4000.0 - 0.31 * x)
        .counter(process, "cpu_us", |_, x| 305.0 * x)
        .counter(process, "run_wait_us", |_, x| 900.0 * x);
    for tid in 8..12 {
        let subject = format!("8/{tid} api");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 76.0 * x).counter(
            ("api", "thread", &subject),
            "run_wait_us",
            |_, x| 225.0 * x,
        );
    }
    for core in 0..4 {
        let number = core.to_string();
        let busy = move |x: f64| if core == 0 { 0.31 * x } else { 1.0 };
        watch = watch.counter(("api", "core", &number), "total_ms", |_, _| 1000.0).counter(
            ("api", "core", &number),
            "idle_ms",
            move |_, x| 1000.0 - busy(x),
        );
    }
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "api", Confidence::Inferred));
    assert!(matches!(verdict.claim, Some(Claim::Confined { .. })), "{:?}", verdict.claim);
}

#[test]
fn a_quota_that_keeps_its_own_threads_waiting_is_no_neighbour() {
    let group = ("api", "cgroup", "");
    let thread = ("api", "thread", "8/8 api");
    let verdict = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 225e-6)
        .counter(group, "periods", |_, _| 100.0)
        .counter(group, "throttled_periods", |_, x| if x > 3000.0 { 80.0 } else { 0.0 })
        .process("api", "8 api", 90e-6)
        .counter(thread, "cpu_us", |_, x| 90.0 * x)
        .counter(thread, "run_wait_us", |_, x| 220.0 * x)
        .counter(("api", "process", "8 api"), "run_wait_us", |_, x| 220.0 * x)
        .verdict();
    let others = Place::Host { name: "api".to_owned(), part: Part::Others };
    assert_ne!(verdict.place, others, "{:?}", verdict.claim);
    assert!(verdict.limit == Limit::Cpu || also(&verdict, Limit::Cpu), "{:?}", verdict.also);
}

#[test]
fn a_core_in_use_by_chance_is_no_lock_where_many_requests_are_served_at_once() {
    let process = ("api", "process", "8 java");
    let mut watch =
        Watch::pool(16.0, 0.005, 128).host("api", 4.0, 312e-6).counter(process, "cpu_us", |_, x| 310.0 * x);
    for tid in 8..12 {
        let subject = format!("8/{tid} java");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 76.0 * x);
    }
    assert_eq!(watch.verdict().limit, Limit::Pool);
}

#[test]
fn one_core_shared_by_threads_may_be_a_runtime_that_runs_one_at_a_time() {
    let mut watch = Watch::pool(1.0, 310e-6, 32).host("api", 4.0, 310e-6);
    watch = watch.counter(("api", "process", "8 python3"), "cpu_us", |_, x| 305.0 * x);
    for tid in 8..12 {
        let subject = format!("8/{tid} python3");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 76.0 * x);
    }
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Lock, "api", Confidence::Inferred));
    assert!(also(&verdict, Limit::Thread), "{:?}", verdict.also);
}

#[test]
fn a_rate_limit_that_delays_is_never_measured_as_something_else() {
    // 800 requests/s however many ask, all of them read at once; a request takes 1 ms where the limit is not met.
    let steps: Vec<Level> =
        (0..8).map(|power| Level { intervals: 60, ..Level::at(1 << power, 800.0) }).collect();
    let verdict = Watch::over(&steps)
        .host("web", 1.0, 20e-6)
        .process("web", "7 nginx", 20e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred, "{verdict:#?}");
    assert!(
        verdict.advice.iter().any(|advice| matches!(advice, Advice::HeldBack(_))),
        "{:?}",
        verdict.advice
    );
}

#[test]
fn a_thread_that_refuses_all_the_time_it_is_let_run_is_not_what_limits() {
    let level = |n: u32| {
        let offered = (f64::from(n) * 7_000.0).min(14_000.0);
        Level { refused: 1.0 - 500.0 / offered, ..Level::at(n, offered) }
    };
    let levels: Vec<Level> = (0..6).map(|power| level(1 << power)).collect();
    let verdict = Watch::over(&levels)
        .host("web", 2.0, 45e-6)
        .process("web", "7 nginx", 45e-6)
        .counter(("web", "process", "7 nginx"), "run_wait_us", |_, x| 24.0 * x)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .verdict();
    assert_eq!(found(&verdict), (Limit::Refused, "web", Confidence::Measured));
}

#[test]
fn refusals_of_what_waited_too_long_are_no_certain_policy() {
    // A proxy before sixteen workers, which refuses what has waited for a second.
    let mut levels = pool_levels(16.0, 0.005, 64);
    levels.push(Level { refused: 0.3, ..Level::at(128, 4570.0) });
    levels.push(Level { refused: 0.6, ..Level::at(256, 8000.0) });
    let verdict = Watch::over(&levels)
        .host("web", 1.0, 20e-6)
        .process("web", "7 haproxy", 20e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .verdict();
    assert_ne!(verdict.confidence, Confidence::Measured);
    assert!(verdict.limit == Limit::Pool || also(&verdict, Limit::Pool), "{verdict:#?}");
}

#[test]
fn descriptors_that_are_all_taken_at_any_load_stop_nothing() {
    let process = ("api", "process", "8 server");
    let verdict = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 50e-6)
        .gauge(process, "descriptors", |_, _| 63.0)
        .gauge(process, "descriptors_limit", |_, _| 64.0)
        .verdict();
    assert_eq!(verdict.limit, Limit::Pool);
}

#[test]
fn two_servers_of_one_name_are_distinguished_by_their_ports() {
    // The load goes to one of them; the other belongs to others, and requests wait at its door too.
    let verdict = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 50e-6)
        .process("api", "8 java", 40e-6)
        .process("api", "9 java", 10e-6)
        .listener("api", "0.0.0.0:8080", 8, |_, _| 0.0)
        .listener("api", "0.0.0.0:9090", 9, |_, _| 500.0)
        .verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Inferred));
    assert!(
        verdict
            .evidence
            .iter()
            .any(|row| matches!(row.observed, Observation::AtTheDoor(_)) && row.value == 0.0),
        "{:?}",
        verdict.evidence
    );
}

#[test]
fn lost_segments_alone_do_not_make_the_generator_certain() {
    let tcp = ("generator", "tcp", "");
    let verdict = Watch::pool(16.0, 0.005, 128)
        .counter(tcp, "segments_sent", |_, x| 2.0 * x)
        .counter(tcp, "segments_retransmitted", |_, x| 0.1 * x)
        .counter(tcp, "syn_retransmitted", |_, _| 0.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Generator, Confidence::Inferred));
}

/// The run with all but the first interval of its only step cut off, as if its requests had been few.
fn cut(mut run: Run) -> Run {
    run.frames.retain(|frame| frame.head.interval == 0);
    run.steps[0].ended_ns = run.steps[0].began_ns + INTERVAL_NS;
    run
}

#[test]
fn a_window_of_a_few_ticks_tells_nothing_of_hosts() {
    let watch = || Watch::single(Level::closed(64)).host("api", 1.0, 305e-6).process("api", "8 java", 300e-6);
    assert_eq!(found(&watch().verdict()), (Limit::Cpu, "api", Confidence::Inferred));
    let short = findings(&cut(watch().run())).verdict;
    assert_eq!((short.limit, short.confidence), (Limit::Unknown, Confidence::Unknown));
    assert_eq!(short.evidence[0].observed, Observation::MeasuredTime);
    assert_eq!(short.advice, [Advice::TooShort]);
    let kept_up = findings(&cut(crate::synthetic::single(Level::open(1000.0)))).verdict;
    assert_eq!((kept_up.limit, kept_up.confidence), (Limit::Unknown, Confidence::Unknown));
}

#[test]
fn reads_that_are_mostly_of_another_time_tell_nothing() {
    // One step of half a second, and hosts that were read a second before its end and a second after.
    let mut run = Watch::single(Level { intervals: 10, ..Level::closed(64) })
        .host("api", 1.0, 305e-6)
        .process("api", "8 java", 300e-6)
        .run();
    let ended_ns = 10 * INTERVAL_NS;
    for sample in &mut run.hosts {
        let early = sample.began_ns < ended_ns / 2;
        sample.began_ns = if early { 0 } else { ended_ns + 1_400_000_000 };
        sample.ended_ns = sample.began_ns;
    }
    let verdict = findings(&run).verdict;
    assert_eq!(verdict.limit, Limit::Unknown, "{verdict:#?}");
}

#[test]
fn who_used_less_than_half_of_a_cpu_is_not_said_to_have_used_most_of_it() {
    let part_of_nginx = |nginx: f64| {
        let watch = Watch::pool(16.0, 0.005, 128)
            .host("web", 1.0, 305e-6)
            .process("web", "7 nginx", nginx)
            .process("web", "8 java", 60e-6);
        match watch.verdict().claim {
            Some(Claim::Cpu { busiest: Some(busiest), .. }) if busiest.name == "nginx" => busiest.part,
            claim => panic!("{claim:?}"),
        }
    };
    let (most, less) = (part_of_nginx(230e-6), part_of_nginx(120e-6));
    assert!(most > 0.5 && (less - 0.39).abs() < 0.01, "{most} {less}");
}

#[test]
fn a_queue_inside_a_proxy_is_a_bound_of_the_proxy_where_its_connections_are_as_many() {
    // haproxy that lets sixteen connections through to a server that could do more.
    let verdict = Watch::pool(16.0, 0.005, 128)
        .host("web", 1.0, 20e-6)
        .process("web", "7 haproxy", 20e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .gauge(("web", "peers", "7 haproxy"), "10.0.0.3:9000", |step, _| connections(step).min(16.0))
        .host("api", 4.0, 50e-6)
        .process("api", "8 java", 50e-6)
        .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "web"), "{:?}", verdict.claim);
}

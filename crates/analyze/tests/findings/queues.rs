//! Verdicts where nothing is used up and requests wait: pools, locks, dependencies, disks, memory, connections, refusals.

use plimsoll_analyze::{Advice, Claim, Confidence, Excluded, Limit, Place, PlaceCount, Verdict};
use plimsoll_record::{FailureKind, Reading, Source};

use crate::synthetic::{Level, findings};
use crate::watch::{Watch, before_a_slow_service, connections, pool_levels, waiting};

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

fn size(verdict: &Verdict) -> f64 {
    verdict.size.map_or(0.0, |size| size.value)
}

const NGINX: (&str, &str, &str) = ("web", "peers", "7 nginx");
const JAVA: (&str, &str, &str) = ("api", "peers", "8 java");

/// nginx before a Java API with `workers` threads, all of them idle but for waiting.
fn proxied(workers: f64) -> Watch {
    Watch::pool(workers, 0.007, 256)
        .host("web", 1.0, 8e-6)
        .process("web", "7 nginx", 8e-6)
        .host("api", 1.0, 20e-6)
        .process("api", "8 java", 20e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .gauge(NGINX, "10.0.0.3:9000", |step, _| connections(step))
}

/// The target is at 10.0.0.2:8080, which leads to nginx.
fn with_door(watch: Watch, workers: f64) -> Watch {
    watch.listener("api", "10.0.0.3:9000", 8, move |step, _| waiting(step, workers))
}

#[test]
fn a_pool_behind_a_proxy_is_found_where_requests_wait_unread() {
    let watch = with_door(proxied(32.0), 32.0).gauge(JAVA, "10.0.0.9:1", |_, _| 0.0);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured));
    assert!((size(&verdict) / 32.0 - 1.0).abs() < 0.05, "{:?}", verdict.size);
    assert!(verdict.size.unwrap().interval.is_some_and(|(low, high)| low <= 32.0 && 32.0 <= high));
    let size = size(&verdict);
    assert!(matches!(verdict.advice[0], Advice::LargerPool { size: given, .. } if given == size));
}

#[test]
fn a_process_that_opened_no_connections_is_listed_nowhere_and_waits_for_no_process() {
    let mut run = with_door(proxied(32.0), 32.0).run();
    assert_eq!(found(&findings(&run).verdict), (Limit::Pool, "api", Confidence::Measured));
    let mut failed = run.hosts[0].clone();
    (failed.host, failed.source) = ("api".into(), "peers".into());
    failed.reading = Reading::Failed("permission denied".to_owned());
    run.hosts.push(failed);
    assert_eq!(found(&findings(&run).verdict), (Limit::Pool, "api", Confidence::Inferred));
}

#[test]
fn addresses_of_both_families_lead_to_the_same_listener() {
    let watch = Watch::pool(32.0, 0.007, 256)
        .host("web", 1.0, 8e-6)
        .process("web", "7 nginx", 8e-6)
        .host("api", 1.0, 20e-6)
        .process("api", "8 java", 20e-6)
        .listener("web", "[::]:8080", 7, |_, _| 0.0)
        .gauge(NGINX, "10.0.0.3:9000", |step, _| connections(step))
        .listener("api", "[::ffff:10.0.0.3]:9000", 8, |step, _| waiting(step, 32.0));
    assert_eq!(found(&watch.verdict()), (Limit::Pool, "api", Confidence::Measured));
}

#[test]
fn a_busy_service_that_reads_late_is_not_where_most_requests_wait() {
    let slow = |late: f64| before_a_slow_service(800e-6, late).verdict();
    assert_eq!((slow(0.3).limit, slow(0.3).host()), (Limit::Pool, "slow"));
    assert_eq!((slow(0.9).limit, slow(0.9).host()), (Limit::Pool, "api"));
}

#[test]
fn two_apis_share_the_pool_between_them() {
    let mut watch = Watch::pool(64.0, 0.007, 256)
        .host("web", 1.0, 8e-6)
        .process("web", "7 nginx", 8e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0);
    for (host, address) in [("api1", "10.0.0.3:9000"), ("api2", "10.0.0.4:9000")] {
        watch = watch
            .gauge(NGINX, address, |step, _| connections(step) / 2.0)
            .host(host, 1.0, 10e-6)
            .process(host, "8 java", 10e-6)
            .listener(host, address, 8, |step, _| waiting(step, 64.0) / 2.0);
    }
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api1"));
    assert!((size(&verdict) / 32.0 - 1.0).abs() < 0.05, "{:?}", verdict.size);
    let owner = |host: &str| PlaceCount { place: Place::process(host, "java"), count: 1 };
    assert!(
        matches!(&verdict.claim, Some(Claim::Pool { owners, .. }) if *owners == [owner("api1"), owner("api2")])
    );
}

#[test]
fn a_pool_of_connections_to_a_database_is_in_the_api_that_holds_it() {
    let database = ("db", "listener", "10.0.0.5:3306");
    let watch = proxied(10.0)
        .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
        .gauge(JAVA, "10.0.0.5:3306", |step, _| connections(step).min(10.0))
        .host("db", 1.0, 10e-6)
        .process("db", "9 mariadbd", 10e-6)
        .gauge(database, "pid", |_, _| 9.0)
        .gauge(database, "unread", |_, _| 0.0);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Measured));
    assert!((size(&verdict) / 10.0 - 1.0).abs() < 0.05);
}

#[test]
fn connections_of_one_request_each_are_no_pool_but_what_the_callee_allows() {
    let database = ("db", "listener", "10.0.0.5:3306");
    let watch = |unread: fn(usize) -> f64| {
        proxied(10.0)
            .listener("api", "10.0.0.3:9000", 8, move |step, _| unread(step))
            .counter(("api", "tcp", ""), "active_opens", |_, x| x)
            .gauge(JAVA, "10.0.0.5:3306", |step, _| connections(step).min(10.0))
            .host("db", 1.0, 10e-6)
            .process("db", "9 mariadbd", 10e-6)
            .gauge(database, "pid", |_, _| 9.0)
            .gauge(database, "unread", |_, _| 0.0)
    };
    let verdict = watch(|_| 0.0).verdict();
    assert_eq!(found(&verdict), (Limit::Connections, "db", Confidence::Inferred));
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Pool), "{:?}", verdict.also);
    // Some may wait for a worker, as long as more have one than are served.
    let some = watch(|step| waiting(step, 40.0)).verdict();
    assert_eq!(found(&some), (Limit::Connections, "db", Confidence::Inferred));
    // Where the others are not read, the service itself lets no more in.
    let unread = watch(|step| waiting(step, 10.0)).verdict();
    assert_eq!(found(&unread), (Limit::Pool, "api", Confidence::Measured));
}

#[test]
fn requests_may_wait_behind_a_connection_that_they_share() {
    let watch = |out: f64| {
        let watch = proxied(6.0)
            .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
            .gauge(JAVA, "10.0.0.5:4222", move |_, _| out)
            .host("broker", 1.0, 10e-6)
            .process("broker", "9 nats-server", 10e-6)
            .listener("broker", "10.0.0.5:4222", 9, |_, _| 0.0);
        watch.verdict()
    };
    let shared = watch(1.0);
    assert_eq!(found(&shared), (Limit::Pool, "api", Confidence::Inferred));
    assert!(shared.also.iter().any(|also| also.limit == Limit::Dependency), "{:?}", shared.also);
    assert_eq!(watch(6.0).also, [], "one for each that is served");
}

#[test]
fn a_server_without_a_thread_for_each_connection_has_a_bound_of_connections() {
    // Where each request opens a connection, `between` of them are open to nothing at times.
    let watch = |threads: u32, running: u32, between: f64| {
        let address = ("api", "listener", "0.0.0.0:8080");
        let mut watch = Watch::pool(8.0, 0.05, 64)
            .host("api", 1.0, 300e-6)
            .process("api", "20 server", 300e-6)
            .gauge(("api", "process", "20 server"), "threads", move |_, _| threads.into())
            .listener("api", "0.0.0.0:8080", 20, |step, _| waiting(step, 8.0))
            .gauge(address, "queue", |step, _| waiting(step, 8.0))
            .gauge(address, "established", move |step, _| {
                connections(step) - if connections(step) == 16.0 { between } else { 0.0 }
            });
        for thread in 0..running {
            let subject = format!("20/{} worker", 30 + thread);
            watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 20.0 * x);
        }
        watch.verdict()
    };
    for (threads, running, between) in [(2, 0, 0.0), (25, 4, 0.0), (2, 0, 2.0)] {
        let verdict = watch(threads, running, between);
        assert_eq!(found(&verdict), (Limit::Connections, "api", Confidence::Inferred), "{threads} {running}");
    }
    assert_eq!(found(&watch(25, 9, 0.0)), (Limit::Pool, "api", Confidence::Measured), "a thread for each");
}

/// A Java API with a pool of twenty in front of a pooler that keeps six connections to its database.
fn pools_in_series(of_api: impl Fn(usize) -> f64) -> Watch {
    let pooler = ("pooler", "peers", "9 pgbouncer");
    proxied(6.0)
        .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
        .gauge(JAVA, "10.0.0.5:6432", |step, _| of_api(step))
        .host("pooler", 1.0, 10e-6)
        .process("pooler", "9 pgbouncer", 10e-6)
        .listener("pooler", "10.0.0.5:6432", 9, |_, _| 0.0)
        .gauge(pooler, "10.0.0.6:5432", |step, _| connections(step).min(6.0))
        .host("db", 1.0, 10e-6)
        .process("db", "5 postgres", 10e-6)
        .listener("db", "10.0.0.6:5432", 5, |_, _| 0.0)
}

#[test]
fn of_two_pools_in_series_the_smaller_one_behind_is_the_limit() {
    let verdict = pools_in_series(|step| connections(step).min(20.0)).verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "pooler", Confidence::Measured));
    let idle = pools_in_series(|_| 20.0).verdict();
    assert_eq!(idle.host(), "api", "connections kept ready may be idle");
}

#[test]
fn idle_connections_kept_ready_are_no_requests_passed_on() {
    // Ten workers hold a hundred connections to a database that no probe watches; requests wait before the workers.
    let watch = with_door(proxied(10.0), 10.0).gauge(JAVA, "10.0.0.5:3306", |_, _| 100.0);
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api"));
    assert!((size(&verdict) / 10.0 - 1.0).abs() < 0.05);
    assert_eq!(verdict.confidence, Confidence::Inferred, "what they wait for may be the database");
}

#[test]
fn connections_that_a_warm_up_opened_are_of_requests_passed_on() {
    let place = |kept: f64, warmed: bool| {
        let watch = proxied(8.0).listener("api", "10.0.0.3:9000", 8, |_, _| 0.0);
        let mut run = watch.gauge(JAVA, "10.0.0.5:3306", move |_, _| kept).run();
        if warmed {
            let plan = run.manifest.plan.trim_end().strip_suffix('}').unwrap().to_owned();
            run.manifest.plan = plan + r#","warm":{"secs":10,"nanos":0}}"#;
        }
        findings(&run).verdict.host().to_owned()
    };
    // The most of the ladder is 256, which the warm-up held: a client that keeps connections has them at the lowest step too.
    assert_eq!((place(256.0, false), place(256.0, true)), ("api".to_owned(), "10.0.0.5:3306".to_owned()));
    assert_eq!(place(400.0, true), "api", "no warm-up of 256 requests at once opened those");
}

#[test]
fn requests_passed_on_to_what_no_probe_watches_wait_for_a_dependency() {
    let watch = proxied(8.0).listener("api", "10.0.0.3:9000", 8, |_, _| 0.0).gauge(
        JAVA,
        "10.0.0.5:3306",
        |step, _| connections(step),
    );
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Dependency, "10.0.0.5:3306", Confidence::Inferred));
    assert!(matches!(verdict.claim, Some(Claim::Dependency { .. })), "{:?}", verdict.claim);
}

#[test]
fn a_dependency_carries_the_name_that_the_plan_gives_its_address() {
    let watch = proxied(8.0).listener("api", "10.0.0.3:9000", 8, |_, _| 0.0).gauge(
        JAVA,
        "10.0.0.5:3306",
        |step, _| connections(step),
    );
    let mut run = watch.run();
    let mut plan = run.manifest.plan.trim_end().strip_suffix('}').unwrap().to_owned();
    plan.push_str(r#","hosts":[{"name":"db","address":"10.0.0.5"}]}"#);
    run.manifest.plan = plan;
    assert_eq!(findings(&run).verdict.place, Place::Unwatched("db".to_owned()));
}

#[test]
fn the_callee_is_the_one_that_most_connections_led_to_where_they_were_listed() {
    let database = ("db", "listener", "10.0.0.5:3306");
    let mut run = proxied(10.0)
        .gauge(("web", "listener", "0.0.0.0:8080"), "established", |step, _| connections(step))
        .listener("api", "10.0.0.3:9000", 8, |_, _| 0.0)
        .counter(("api", "tcp", ""), "active_opens", |_, x| x)
        .gauge(JAVA, "10.0.0.5:3306", |step, _| connections(step).min(10.0))
        .gauge(JAVA, "10.0.0.6:6379", |_, _| 1.0)
        .gauge(database, "pid", |_, _| 9.0)
        .gauge(database, "unread", |_, _| 0.0)
        .host("cache", 1.0, 10e-6)
        .listener("cache", "10.0.0.6:6379", 9, |_, _| 0.0)
        .run();
    // At the highest load, and in the second before it, connections were too many to be listed.
    let began_ns = run.steps.last().unwrap().began_ns;
    let is_list = |source: &str| matches!(source, "listener" | "peers");
    run.hosts.retain(|one| !is_list(one.source.as_str()) || one.ended_ns + 1_000_000_000 < began_ns);
    let verdict = findings(&run).verdict;
    assert_eq!(found(&verdict), (Limit::Connections, "db", Confidence::Inferred), "{verdict:#?}");
}

#[test]
fn a_ladder_that_begins_at_the_plateau_shows_no_size_of_a_pool() {
    let ladder = |loads: [u32; 4]| Watch::over(&loads.map(|n| Level::at(n, 3200.0))).host("api", 1.0, 20e-6);
    let verdict = ladder([200, 400, 800, 1600]).verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Inferred));
    assert_eq!(verdict.size, None);
    assert!(matches!(verdict.advice[..], [Advice::BeginLower, Advice::HeldBack(_)]), "{:?}", verdict.advice);
    let also: Vec<Limit> = verdict.also.iter().map(|also| also.limit).collect();
    assert_eq!(also, [Limit::Lock, Limit::Bandwidth]);
    assert_eq!(size(&ladder([1, 2, 4, 8]).verdict()).round(), 1.0, "one request waits for no other");
}

#[test]
fn a_pool_whose_queue_was_not_observed_is_inferred() {
    let verdict = Watch::pool(16.0, 0.005, 128).host("api", 2.0, 50e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Inferred));
    assert!((size(&verdict) / 16.0 - 1.0).abs() < 0.05);
}

#[test]
fn a_host_whose_cpu_was_not_seen_is_not_ruled_out() {
    let mut run = with_door(proxied(32.0), 32.0).gauge(JAVA, "10.0.0.9:1", |_, _| 0.0).run();
    run.hosts.retain(|sample| !(sample.host == "web" && sample.source.as_str() == "cgroup"));
    let verdict = findings(&run).verdict;
    assert_eq!(found(&verdict), (Limit::Pool, "api", Confidence::Inferred));
    let unobserved = Excluded::Unobserved { host: "web".to_owned(), why: None };
    assert!(verdict.excluded.contains(&unobserved), "{:?}", verdict.excluded);
}

#[test]
fn nothing_is_named_where_no_cpu_was_seen_at_all() {
    let watch = Watch::pool(16.0, 0.005, 128).gauge(("api", "memory", ""), "total_bytes", |_, _| 1e9);
    assert_eq!(watch.verdict().limit, Limit::Unknown);
}

#[test]
fn something_nearly_busy_is_named_next_to_a_pool() {
    let verdict = Watch::pool(16.0, 0.005, 128).host("api", 1.0, 250e-6).verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Pool, Confidence::Inferred));
    assert_eq!((verdict.also[0].limit, verdict.also[0].host()), (Limit::Cpu, "api"));
}

#[test]
fn turns_taken_within_a_process_are_a_lock_and_at_its_door_a_pool_of_one() {
    let one = || Watch::pool(1.0, 0.002, 32).host("api", 2.0, 50e-6).process("api", "8 api", 50e-6);
    let within = one().listener("api", "0.0.0.0:8080", 8, |_, _| 0.0).verdict();
    assert_eq!(found(&within), (Limit::Lock, "api", Confidence::Inferred));
    let before = one().listener("api", "0.0.0.0:8080", 8, |step, _| waiting(step, 1.0)).verdict();
    assert_eq!((before.limit, before.host()), (Limit::Pool, "api"));
    assert_eq!(size(&before).round(), 1.0);
}

#[test]
fn threads_that_share_one_core_of_four_run_one_at_a_time() {
    let mut watch = Watch::pool(1.0, 310e-6, 32).host("api", 4.0, 310e-6);
    watch = watch.counter(("api", "process", "8 python3"), "cpu_us", |_, x| 305.0 * x);
    for tid in 8..12 {
        let subject = format!("8/{tid} python3");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 76.0 * x);
    }
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Lock, "api", Confidence::Inferred));
    assert_eq!(verdict.place, Place::process("api", "python3"));
}

#[test]
fn threads_in_uninterruptible_sleep_on_a_busy_disk_are_disk() {
    let waiting = ("db", "waiting", "9 server");
    let watch = Watch::pool(2.0, 0.01, 32)
        .host("db", 2.0, 100e-6)
        .counter(waiting, "looks", |_, _| 10.0)
        .counter(waiting, "disk", |_, x| 0.1 * x)
        .counter(("db", "disk", "vda"), "busy_ms", |_, x| 4.8 * x)
        .counter(("db", "pressure", ""), "io_some_us", |_, x| 4900.0 * x);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Disk, "db", Confidence::Measured));
}

#[test]
fn a_disk_that_is_busy_with_others_is_not_waited_for() {
    let watch = Watch::pool(16.0, 0.005, 128)
        .host("api", 2.0, 50e-6)
        .counter(("api", "waiting", "9 api"), "looks", |_, _| 10.0)
        .counter(("api", "waiting", "9 api"), "disk", |_, _| 0.0)
        .counter(("api", "disk", "vda"), "busy_ms", |_, _| 990.0);
    assert_eq!(watch.verdict().limit, Limit::Pool);
}

#[test]
fn a_heap_too_small_is_memory_though_the_cpu_is_full() {
    let process = ("api", "process", "8 java");
    let watch = || {
        Watch::pool(16.0, 0.005, 128)
            .host("api", 1.0, 305e-6)
            .counter(process, "cpu_us", |_, x| 300.0 * x)
            .counter(("api", "thread", "8/9 GC Thread#0"), "cpu_us", |_, x| 180.0 * x)
            .counter(("api", "thread", "8/10 http-nio-1"), "cpu_us", |_, x| 120.0 * x)
    };
    let by_threads = watch().verdict();
    assert_eq!(found(&by_threads), (Limit::Memory, "api", Confidence::Inferred));
    let jvm = ("api", "jvm", "8");
    let with_heap = watch()
        .counter(jvm, "gc_time_ms", |_, x| 0.17 * x)
        .gauge(jvm, "heap_used_bytes", |_, _| 60e6)
        .gauge(jvm, "heap_max_bytes", |_, _| 64e6);
    assert_eq!(found(&with_heap.verdict()), (Limit::Memory, "api", Confidence::Measured));
    let healthy = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 305e-6)
        .counter(process, "cpu_us", |_, x| 300.0 * x)
        .counter(("api", "thread", "8/9 GC Thread#0"), "cpu_us", |_, x| 30.0 * x);
    assert_eq!(healthy.verdict().limit, Limit::Cpu);
}

#[test]
fn pages_fetched_again_for_requests_are_memory() {
    let watch = Watch::pool(4.0, 0.01, 32)
        .host("db", 2.0, 100e-6)
        .counter(("db", "cgroup", ""), "memory_failures", |_, x| 3.0 * x)
        .counter(("db", "process", "9 db"), "cpu_us", |_, x| 100.0 * x)
        .counter(("db", "process", "9 db"), "major_faults", |_, x| 2.0 * x);
    assert_eq!((watch.verdict().limit), Limit::Memory);
}

#[test]
fn pages_fetched_into_a_group_as_full_as_it_may_be_are_memory_though_no_refusal_was_counted() {
    let group = ("db", "cgroup", "");
    let watch = |used: f64| {
        Watch::pool(4.0, 0.01, 32)
            .host("db", 2.0, 100e-6)
            .gauge(group, "memory_limit_bytes", |_, _| 64e6)
            .gauge(group, "memory_bytes", move |_, _| used)
            .counter(group, "memory_failures", |_, _| 0.0)
            .counter(("db", "process", "9 db"), "major_faults", |_, x| 2.0 * x)
            .counter(("db", "waiting", "9 db"), "looks", |_, _| 10.0)
            .counter(("db", "waiting", "9 db"), "disk", |_, _| 35.0)
    };
    let full = watch(63.9e6).verdict();
    assert_eq!(found(&full), (Limit::Memory, "db", Confidence::Inferred));
    assert!(full.also.iter().any(|also| also.limit == Limit::Disk), "{:?}", full.also);
    assert_eq!(watch(30e6).verdict().limit, Limit::Disk);
}

#[test]
fn throughput_that_hardly_differs_over_eight_times_the_load_is_not_growing() {
    let ladder = |last: f64| {
        let levels = [(1, 487.0), (2, 469.0), (4, 490.0), (8, last)];
        Watch::over(&levels.map(|(connections, throughput)| Level::at(connections, throughput)))
            .host("db", 2.0, 100e-6)
            .counter(("db", "cgroup", ""), "memory_failures", |_, x| 3.0 * x)
            .counter(("db", "process", "9 db"), "cpu_us", |_, x| 100.0 * x)
            .counter(("db", "process", "9 db"), "major_faults", |_, x| 2.0 * x)
            .verdict()
    };
    assert_eq!(found(&ladder(527.0)), (Limit::Memory, "db", Confidence::Inferred));
    assert_eq!(ladder(620.0).limit, Limit::None);
}

#[test]
fn a_last_gain_smaller_than_its_scatter_is_none() {
    let ladder = |last: Level| {
        let mut levels = [(1, 20.0), (2, 40.0), (4, 80.0), (8, 100.0), (16, 99.0)]
            .map(|(connections, throughput)| Level::at(connections, throughput))
            .to_vec();
        levels.push(last);
        Watch::over(&levels)
            .host("api", 0.8, 100e-6)
            .gauge(("api", "listener", "0.0.0.0:9000"), "queue", |step, _| if step > 2 { 5.0 } else { 1.0 })
            .gauge(("api", "listener", "0.0.0.0:9000"), "queue_limit", |_, _| 4.0)
            .counter(("api", "tcp", ""), "listen_overflows", |step, _| if step > 2 { 20.0 } else { 0.0 })
            .counter(("api", "tcp", ""), "passive_opens", |_, x| x)
            .verdict()
    };
    let scattered = ladder(Level { wobble: 0.9, intervals: 40, ..Level::at(32, 107.0) });
    assert_eq!(found(&scattered), (Limit::Connections, "api", Confidence::Inferred));
    // Where nothing else is to be seen, a pool as large as the load is none.
    let noisy = Level { wobble: 0.95, intervals: 12, ..Level::at(5, 460.0) };
    let levels = [Level::at(1, 100.0), Level::at(2, 200.0), Level::at(4, 400.0), noisy];
    let straight = Watch::over(&levels).host("api", 0.8, 100e-6).verdict();
    assert_eq!((straight.limit, straight.confidence), (Limit::None, Confidence::Inferred));
    let seen = ladder(Level::at(32, 120.0));
    assert_eq!((seen.limit, seen.confidence), (Limit::None, Confidence::Measured));
}

#[test]
fn descriptors_that_run_out_end_the_ladder() {
    let mut levels = pool_levels(64.0, 0.02, 32);
    let failed = Some((FailureKind::ConnectTimedOut, 20));
    levels.push(Level { failed, ..Level::at(64, 1300.0) });
    let process = ("api", "process", "8 server");
    let watch = Watch::over(&levels)
        .host("api", 1.0, 50e-6)
        .gauge(process, "descriptors", |step, _| if step >= 6 { 64.0 } else { 10.0 + connections(step) })
        .gauge(process, "descriptors_limit", |_, _| 64.0);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Connections, "api", Confidence::Measured));
    assert!(matches!(verdict.claim, Some(Claim::Descriptors { limit: 64.0, .. })), "{:?}", verdict.claim);
    assert_eq!(verdict.advice, [Advice::MoreDescriptors]);
}

#[test]
fn descriptors_that_run_out_beyond_the_plateau_did_not_stop_growth() {
    let process = ("api", "process", "8 server");
    let watch = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 50e-6)
        .gauge(process, "descriptors", |step, _| (10.0 + connections(step)).min(64.0))
        .gauge(process, "descriptors_limit", |_, _| 64.0);
    assert_eq!(watch.verdict().limit, Limit::Pool);
}

#[test]
fn a_group_held_up_in_most_periods_is_not_ruled_out() {
    let group = ("api", "cgroup", "");
    let watch = Watch::pool(16.0, 0.005, 128)
        .host("api", 1.0, 100e-6)
        .counter(group, "periods", |_, _| 100.0)
        .counter(group, "throttled_periods", |_, x| if x > 3000.0 { 70.0 } else { 0.0 });
    let verdict = watch.verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred);
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Cpu), "{:?}", verdict.also);
}

#[test]
fn an_accept_queue_that_overflows_under_failures_is_connections() {
    let failed = Some((FailureKind::ConnectTimedOut, 20));
    let mut levels = pool_levels(64.0, 0.02, 16);
    levels.push(Level { failed, ..Level::at(32, 800.0) });
    let tcp = ("api", "tcp", "");
    let overflow = |step: usize, _: f64| if step >= 5 { 200.0 } else { 0.0 };
    let watch = |levels: &[Level]| {
        Watch::over(levels).host("api", 1.0, 50e-6).counter(tcp, "listen_overflows", overflow).counter(
            tcp,
            "passive_opens",
            |_, _| 100.0,
        )
    };
    assert_eq!(found(&watch(&levels).verdict()), (Limit::Connections, "api", Confidence::Inferred));
}

#[test]
fn connections_that_nginx_does_not_handle_are_connections() {
    let nginx = ("web", "nginx", "10.0.0.2:80");
    let failed = Some((FailureKind::ClosedBeforeResponse, 20));
    let mut levels = pool_levels(64.0, 0.02, 16);
    levels.push(Level { failed, ..Level::at(32, 800.0) });
    let watch = Watch::over(&levels)
        .host("web", 1.0, 50e-6)
        .counter(nginx, "accepts", |step, _| if step >= 5 { 400.0 } else { 10.0 })
        .counter(nginx, "handled", |_, _| 10.0);
    let mut run = watch.run();
    let verdict = findings(&run).verdict;
    assert_eq!(found(&verdict), (Limit::Connections, "web", Confidence::Measured));
    assert_eq!(
        (verdict.place, &*verdict.advice),
        (Place::component("web", Source::Nginx), &[Advice::RaiseSetting][..])
    );
    // The page that tells it is turned away as well, but once.
    let (failing_ns, end_ns) = (run.steps[5].began_ns, run.steps[5].ended_ns);
    for sample in run.hosts.iter_mut().filter(|sample| sample.source.as_str() == "nginx") {
        if (failing_ns + 1..end_ns).contains(&sample.ended_ns) {
            sample.reading = Reading::Failed("connection closed".to_owned());
        }
    }
    let looked_once = findings(&run).verdict;
    assert_eq!(found(&looked_once), (Limit::Connections, "web", Confidence::Measured));
}

/// A limit of 1,000 requests/s: what is more is refused at once.
fn limited_by_policy() -> Vec<Level> {
    let level = |n: u32| {
        let offered = (f64::from(n) * 450.0).min(16_000.0);
        Level { refused: (1.0 - 1000.0 / offered).max(0.0), ..Level::at(n, offered) }
    };
    (0..8).map(|power| level(1 << power)).collect()
}

#[test]
fn refusals_while_everything_idles_are_a_policy() {
    let watch = Watch::over(&limited_by_policy())
        .host("web", 1.0, 20e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .process("web", "7 nginx", 20e-6);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Refused, "web", Confidence::Measured));
    assert!(
        matches!(verdict.claim, Some(Claim::Refused { per_sec, .. }) if (per_sec / 1000.0 - 1.0).abs() < 0.02),
        "{:?}",
        verdict.claim
    );
    let unwatched = Watch::over(&limited_by_policy()).verdict();
    assert_eq!((unwatched.limit, unwatched.confidence), (Limit::Refused, Confidence::Inferred));
}

#[test]
fn load_that_is_shed_because_the_cpu_is_full_is_the_cpu() {
    let mut levels = pool_levels(16.0, 0.005, 32);
    levels.push(Level { refused: 0.3, ..Level::at(64, 4400.0) });
    levels.push(Level { refused: 0.6, ..Level::at(128, 7000.0) });
    let busy = |step: usize, x: f64| if step >= 4 { 990_000.0 } else { 305.0 * x };
    let watch = Watch::over(&levels)
        .gauge(("api", "cgroup", ""), "quota_us", |_, _| 10_000.0)
        .gauge(("api", "cgroup", ""), "period_us", |_, _| 10_000.0)
        .counter(("api", "cgroup", ""), "usage_us", busy)
        .process("api", "8 java", 300e-6);
    assert_eq!(found(&watch.verdict()), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn a_source_that_fails_is_named_where_it_is_missed() {
    let mut run = Watch::pool(16.0, 0.005, 128).host("api", 1.0, 50e-6).host("db", 1.0, 20e-6).run();
    for sample in run.hosts.iter_mut().filter(|sample| sample.host == "db") {
        sample.reading = Reading::Failed("permission denied".to_owned());
    }
    let verdict = findings(&run).verdict;
    assert_ne!(verdict.confidence, Confidence::Measured);
    let why = Some("permission denied".to_owned());
    let unobserved = Excluded::Unobserved { host: "db".to_owned(), why };
    assert!(verdict.excluded.contains(&unobserved), "{:?}", verdict.excluded);
}

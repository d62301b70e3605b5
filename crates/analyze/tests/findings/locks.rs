//! Locks that show in how requests wait.

use plimsoll_analyze::{Claim, Confidence, Limit, Verdict};

use crate::synthetic::Level;
use crate::watch::{Watch, connections, waiting};

/// A process of four threads that use 0.87 of a core together, on a host of so many cores and in a group with a quota.
fn on_a_core(cores: f64, quota: f64) -> Watch {
    let group = ("api", "cgroup", "/app.service");
    let mut watch = Watch::pool(1.0, 340e-6, 32)
        .host("api", cores, 295e-6)
        .counter(("api", "process", "8 python3"), "cpu_us", |_, x| 295.0 * x)
        .gauge(group, "quota_us", move |_, _| quota * 10_000.0)
        .gauge(group, "period_us", |_, _| 10_000.0)
        .counter(group, "usage_us", |_, x| 295.0 * x);
    for tid in 8..12 {
        let thread = format!("8/{tid} python3");
        watch = watch.counter(("api", "thread", &thread), "cpu_us", |_, x| 73.75 * x);
    }
    watch
}

fn is_lock(verdict: &Verdict) -> bool {
    matches!(verdict.claim, Some(Claim::OneAtATime { .. }))
}

#[test]
fn a_cap_on_others_of_the_host_hides_no_turns() {
    let (cron, api) = (("api", "cgroup", "/cron.service"), ("api", "process", "8 python3"));
    let with = |own: Option<f64>, used_us: f64| {
        let mut watch = on_a_core(4.0, 4.0);
        for core in 0..4 {
            let subject = core.to_string();
            let core = ("api", "core", &*subject);
            watch = watch.counter(core, "total_ms", |_, _| 1000.0).counter(core, "idle_ms", |_, _| 700.0);
        }
        watch = watch
            .gauge(cron, "quota_us", |_, _| 10_000.0)
            .gauge(cron, "period_us", |_, _| 10_000.0)
            .counter(cron, "usage_us", move |_, x| used_us * x)
            .process("api", "9 cron", 100e-6)
            .gauge(("api", "process", "9 cron"), "allowed_cores", |_, _| 1.0);
        if let Some(cores) = own {
            watch = watch.gauge(api, "quota_us", move |_, _| cores * 10_000.0);
            watch = watch.gauge(api, "period_us", |_, _| 10_000.0);
        }
        is_lock(&watch.verdict())
    };
    assert!(with(None, 100.0), "what uses less does not hold it");
    assert!(with(Some(4.0), 295.0), "it has a quota of its own");
    assert!(!with(Some(1.0), 100.0) && !with(None, 295.0));
    let held = on_a_core(4.0, 4.0).gauge(api, "allowed_cores", |_, _| 1.0);
    let core = |watch: Watch, core: &str, busy_us: f64| {
        let core = ("api", "core", core);
        let watch = watch.counter(core, "total_ms", |_, _| 1000.0);
        watch.counter(core, "idle_ms", move |_, x| 1000.0 - busy_us * x / 1000.0)
    };
    assert!(!is_lock(&core(core(held, "0", 295.0), "1", 0.0).verdict()));
}

#[test]
fn threads_that_have_no_more_than_one_core_to_share_take_no_turns_at_it() {
    assert!(is_lock(&on_a_core(4.0, 4.0).verdict()));
    for (cores, quota) in [(1.0, 4.0), (4.0, 1.0)] {
        let verdict = on_a_core(cores, quota).verdict();
        assert!(!is_lock(&verdict), "{cores} {quota} {verdict:#?}");
    }
}

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

#[test]
fn requests_that_each_have_a_process_wait_for_what_the_processes_share() {
    let watch = |threads: f64| {
        let mut watch = Watch::pool(4.0, 0.02, 32).host("web", 1.0, 100e-6);
        for pid in 20..55 {
            let subject = format!("{pid} apache2");
            watch = watch.process("web", &subject, 3e-6);
            watch = watch.gauge(("web", "process", &subject), "threads", move |_, _| threads);
        }
        watch.listener("web", "0.0.0.0:8080", 20, |_, _| 0.0).verdict()
    };
    let verdict = watch(1.0);
    assert_eq!(found(&verdict), (Limit::Lock, "web", Confidence::Inferred));
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Pool), "{:?}", verdict.also);
    assert_eq!(watch(8.0).limit, Limit::Pool, "each of these may hold many requests");
}

#[test]
fn a_lock_that_some_requests_take_is_no_pool_for_all() {
    // From eight connections on a tenth of the requests waits for all that the mean grows by, and the others do not wait.
    let free_sec = 0.0165;
    let level = |power: u32, some: bool| {
        let level = Level::at(1 << power, f64::from(1 << power).min(4.0) / free_sec);
        let grown = f64::from(1 << power) / 4.0;
        let slow_tenth = if some && grown > 1.0 { 10.0 - 9.0 / grown } else { 1.0 };
        Level { slow_tenth, intervals: 60, ..level }
    };
    let verdict = |some: bool, read: f64| {
        let levels: Vec<Level> = (0..6).map(|power| level(power, some)).collect();
        Watch::over(&levels)
            .host("api", 1.0, 100e-6)
            .process("api", "8 java", 100e-6)
            .listener("api", "0.0.0.0:8080", 8, move |step, _| waiting(step, read))
            .verdict()
    };
    let lock = verdict(true, 12.0);
    assert_eq!(found(&lock), (Limit::Lock, "api", Confidence::Inferred), "{lock:#?}");
    assert!(matches!(lock.claim, Some(Claim::SomeTakeTurns { .. })), "{:?}", lock.claim);
    assert_eq!(lock.also.iter().map(|also| also.limit).collect::<Vec<_>>(), [Limit::Pool]);
    assert_eq!(verdict(false, 12.0).limit, Limit::Pool, "all of them wait");
    assert_eq!(verdict(true, 4.0).limit, Limit::Pool, "what waits was not read");
}

#[test]
fn a_bend_before_the_plateau_may_be_a_lock() {
    let by_turns = |n: u32| {
        let n_real = f64::from(n);
        Level { intervals: 60, ..Level::at(n, 200.0 * n_real / (1.0 + n_real / 16.0)) }
    };
    let levels: Vec<Level> = (0..10).map(|power| by_turns(1 << power)).collect();
    let verdict = Watch::over(&levels).host("api", 2.0, 50e-6).verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Pool, Confidence::Inferred));
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Lock), "{:?}", verdict.also);
}

/// A host of an API and its address, the connections that nginx has to it at a step, and those that it has to the store.
type Api = (&'static str, &'static str, fn(usize) -> f64, fn(usize) -> f64);

/// nginx before APIs that call one store, which works on one request at a time.
fn before_a_store(apis: &[Api]) -> Verdict {
    let mut watch = Watch::pool(1.0, 0.004, 64)
        .host("web", 1.0, 8e-6)
        .process("web", "7 nginx", 8e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .host("store", 1.0, 100e-6)
        .process("store", "9 store", 100e-6)
        .listener("store", "10.0.0.9:9000", 9, |_, _| 0.0);
    for (host, address, by_nginx, by_api) in apis {
        watch = watch
            .gauge(("web", "peers", "7 nginx"), address, |step, _| by_nginx(step))
            .host(host, 1.0, 50e-6)
            .process(host, "8 api", 50e-6)
            .listener(host, address, 8, |_, _| 0.0)
            .gauge((host, "peers", "8 api"), "10.0.0.9:9000", |step, _| by_api(step));
    }
    watch.verdict()
}

#[test]
fn an_instance_with_fewer_connections_passes_requests_on_as_well() {
    // Connections to the first API are still open from an earlier load, which went to it alone.
    let first: Api = ("api1", "10.0.0.3:9000", |_| 70.0, |_| 61.0);
    let some = |step| connections(step).min(24.0);
    let second: Api = ("api2", "10.0.0.4:9000", some, some);
    let verdict = before_a_store(&[first, second]);
    assert_eq!(found(&verdict), (Limit::Lock, "store", Confidence::Inferred), "{verdict:#?}");
}

#[test]
fn an_instance_that_idles_has_no_part_of_a_pool() {
    let nginx = ("web", "peers", "7 nginx");
    let mut watch = Watch::pool(8.0, 0.004, 64)
        .host("web", 1.0, 8e-6)
        .process("web", "7 nginx", 8e-6)
        .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
        .gauge(nginx, "10.0.0.3:9000", |step, _| connections(step))
        .gauge(nginx, "10.0.0.4:9000", |_, _| 15.0);
    for (host, address, workers) in [("api1", "10.0.0.3:9000", 8.0), ("api2", "10.0.0.4:9000", 64.0)] {
        watch = watch.host(host, 1.0, 50e-6).process(host, "8 api", 50e-6).listener(
            host,
            address,
            8,
            move |step, _| waiting(step, workers),
        );
    }
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Pool, "api1"));
    assert!((verdict.size.unwrap().value / 8.0 - 1.0).abs() < 0.1, "{:?}", verdict.size);
}

#[test]
fn a_lock_may_be_in_what_is_called_over_as_many_connections() {
    let lock_of = |by_api: fn(usize) -> f64| {
        let verdict = before_a_store(&[("api", "10.0.0.3:9000", connections, by_api)]);
        assert_eq!(found(&verdict), (Limit::Lock, "api", Confidence::Inferred), "{verdict:#?}");
        verdict.also.iter().any(|also| (also.limit, also.place.host_name()) == (Limit::Lock, "store"))
    };
    assert!(lock_of(|_| 64.0), "all requests may have gone on");
    assert!(!lock_of(|_| 2.0), "most that wait do so in the api");
}

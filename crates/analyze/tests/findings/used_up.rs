//! Verdicts where something is used up: processors, threads, quotas, links.

use plimsoll_analyze::{
    Advice, Claim, Confidence, Excluded, GeneratorReason, Limit, Observation, Part, Place, ProcessId,
    ResourceKind, Verdict,
};
use plimsoll_record::{HostSample, Reading};

use crate::synthetic::{Level, findings};
use crate::watch::{Watch, before_a_slow_service, pool_levels};

/// A ladder to a plateau of 3,200 requests/s, which nothing but the samples explains.
fn ladder() -> Watch {
    Watch::pool(16.0, 0.005, 128)
}

fn found(verdict: &Verdict) -> (Limit, &str, Confidence) {
    (verdict.limit, verdict.host(), verdict.confidence)
}

/// A proxy with a CPU of its own before an API.
fn proxy_and_api(proxy_sec: f64, api_sec: f64) -> Watch {
    ladder()
        .host("web", 0.5, proxy_sec)
        .process("web", "7 nginx", proxy_sec)
        .host("api", 1.0, api_sec)
        .process("api", "8 java", api_sec)
}

#[test]
fn the_cpu_of_a_proxy_before_an_idle_api_is_named_with_what_comes_next() {
    let verdict = proxy_and_api(152e-6, 180e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "web", Confidence::Measured));
    assert!(
        matches!(&verdict.claim, Some(Claim::Cpu { used, busiest: Some(busiest), .. })
            if busiest.name == "nginx" && used.per_request.is_some()),
        "{:?}",
        verdict.claim
    );
    let next = verdict.next_limit.unwrap();
    assert_eq!((next.limit, &next.place), (Limit::Cpu, &Place::host("api")));
    assert!((next.at_per_sec.value / (0.99 / 180e-6) - 1.0).abs() < 0.05, "{next:?}");
    assert!(next.at_per_sec.interval.is_some_and(|(low, high)| low <= 5501.0 && 5499.0 <= high), "{next:?}");
    let api = |excluded: &Excluded| {
        matches!(excluded, Excluded::MostUsed(used)
            if used.resource.host == "api" && (used.share - 0.59).abs() < 0.01)
    };
    assert!(verdict.excluded.iter().any(api), "{:?}", verdict.excluded);
    assert!(verdict.also.is_empty());
}

#[test]
fn the_cpu_of_an_api_behind_an_idle_proxy_is_named() {
    assert_eq!(found(&proxy_and_api(50e-6, 310e-6).verdict()), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn one_hot_thread_on_a_host_with_idle_cores_is_a_thread() {
    let verdict = ladder().host("cache", 4.0, 305e-6).process("cache", "9 redis-server", 305e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Thread, "cache", Confidence::Measured));
    assert_eq!(verdict.place, Place::process("cache", "redis-server"));
    assert!(matches!(verdict.claim, Some(Claim::Thread { idle: Some(_), .. })), "{:?}", verdict.claim);
}

#[test]
fn one_hot_thread_among_many_is_found_by_its_name() {
    let mut watch =
        ladder().host("api", 4.0, 500e-6).counter(("api", "process", "9 server"), "cpu_us", |_, x| 500.0 * x);
    watch = watch.gauge(("api", "process", "9 server"), "threads", |_, _| 20.0);
    watch = watch.counter(("api", "thread", "9/10 acceptor"), "cpu_us", |_, x| 300.0 * x);
    for tid in 11..29 {
        let subject = format!("9/{tid} worker");
        watch = watch.counter(("api", "thread", &subject), "cpu_us", |_, x| 11.0 * x);
    }
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Thread, "api", Confidence::Measured));
    let acceptor = Part::Thread { pid: 9, tid: 10, name: "acceptor".to_owned() };
    assert!(
        matches!(&verdict.evidence[0].observed, Observation::Thread(thread) if thread.part == acceptor),
        "{:?}",
        verdict.evidence
    );
}

#[test]
fn a_redis_server_that_reads_and_writes_in_other_threads_is_judged_by_the_one_that_runs_commands() {
    let redis = ("cache", "redis", "10.0.0.2:6379");
    let watch = || ladder().counter(redis, "cpu_us", |_, x| 800.0 * x);
    let threads =
        |main_us: f64| watch().counter(redis, "main_thread_cpu_us", move |_, x| main_us * x).verdict();
    let full = threads(300.0);
    assert_eq!(found(&full), (Limit::Thread, "cache", Confidence::Inferred));
    assert!(
        matches!(full.claim, Some(Claim::Thread { used, .. }) if (used.share - 0.96).abs() < 0.01),
        "{:?}",
        full.claim
    );
    assert_ne!(threads(150.0).limit, Limit::Thread);
    assert_eq!(watch().verdict().limit, Limit::Thread, "an old version reports no more than its process");
}

#[test]
fn a_thread_that_has_all_that_its_host_has_is_the_hosts_cpu() {
    let verdict = ladder().host("api", 1.0, 305e-6).process("api", "9 server", 305e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn more_cores_alone_are_not_advised_where_one_thread_has_a_whole_one() {
    let another_worker = |watch: Watch| match watch.verdict().advice[..] {
        [Advice::MoreCores { another_worker, .. }] => another_worker,
        ref other => panic!("{other:?}"),
    };
    assert!(another_worker(ladder().host("web", 1.0, 305e-6).process("web", "7 nginx", 300e-6)));
    assert!(!another_worker(proxy_and_api(152e-6, 180e-6)));
}

#[test]
fn the_quota_of_a_host_is_no_limit_next_to_its_cpu_where_its_processes_tell_it_too() {
    let process = ("web", "process", "7 nginx");
    let watch = ladder().host("web", 0.5, 152e-6).process("web", "7 nginx", 152e-6);
    let watch = watch.gauge(process, "quota_us", |_, _| 5_000.0).gauge(process, "period_us", |_, _| 10_000.0);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "web", Confidence::Measured));
    assert!(verdict.next_limit.as_ref().is_none_or(|next| next.limit != Limit::Quota), "{verdict:?}");
    let quota = |kind: ResourceKind| kind == ResourceKind::Quota;
    assert!(verdict.busiest_other.is_none_or(|other| !quota(other.resource.kind)));
}

#[test]
fn a_quota_below_its_host_is_not_the_host() {
    let verdict = with_quota(ladder().host("api", 2.0, 155e-6)).verdict();
    assert_eq!(found(&verdict), (Limit::Quota, "api", Confidence::Measured));
    assert!(matches!(verdict.claim, Some(Claim::Quota { used, .. }) if used.capacity == 0.5));
}

#[test]
fn a_quota_that_is_used_up_needs_no_processors_of_its_host_to_be_the_limit() {
    let verdict = with_quota(ladder()).verdict();
    assert_eq!((verdict.limit, verdict.place.host_name()), (Limit::Quota, "api"), "{verdict:?}");
    let unobserved = Excluded::Unobserved { host: "api".to_owned(), why: None };
    assert!(!verdict.excluded.contains(&unobserved), "{:?}", verdict.excluded);
}

/// A JVM that still compiles: it uses all of its half core at any load, and serves more under more load all the same.
fn cold(ready: f64) -> Verdict {
    const USED: [f64; 6] = [0.498, 0.491, 0.499, 0.493, 0.497, 0.496];
    let levels = [(1, 60.0), (2, 130.0), (4, 240.0), (8, 400.0), (16, 400.0), (32, 400.0)];
    let (group, java) = (("api", "cgroup", "/api/service"), ("api", "process", "8 java"));
    Watch::over(&levels.map(|(connections, per_sec)| Level::at(connections, per_sec)))
        .host("api", 4.0, 1e-3)
        .gauge(group, "quota_us", |_, _| 5_000.0)
        .gauge(group, "period_us", |_, _| 10_000.0)
        .counter(group, "usage_us", |step, _| 1e6 * USED[step])
        .counter(group, "periods", |_, _| 100.0)
        .counter(group, "throttled_periods", |_, _| 95.0)
        .counter(java, "cpu_us", |step, _| 1e6 * USED[step])
        .counter(java, "run_wait_us", move |_, _| 1e6 * ready)
        .verdict()
}

#[test]
fn a_quota_that_is_full_at_any_load_is_the_limit_where_threads_wait_for_it() {
    assert_eq!(found(&cold(3.0)), (Limit::Quota, "api", Confidence::Inferred));
    assert_ne!(cold(0.05).limit, Limit::Quota, "threads that poll do not wait");
}

/// A group of half a core on `api`, which is throttled at the plateau of [`ladder`].
fn with_quota(watch: Watch) -> Watch {
    let group = ("api", "cgroup", "/api/service");
    watch
        .gauge(group, "quota_us", |_, _| 5_000.0)
        .gauge(group, "period_us", |_, _| 10_000.0)
        .counter(group, "usage_us", |_, x| 152.0 * x)
        .counter(group, "periods", |_, _| 100.0)
        .counter(group, "throttled_periods", |_, x| if x > 3000.0 { 95.0 } else { 3.0 })
}

fn full_link(verdict: &Verdict) -> (ResourceKind, Option<f64>) {
    match &verdict.claim {
        Some(Claim::Link { link, .. }) => (link.kind, link.capacity),
        claim => panic!("{claim:?}"),
    }
}

#[test]
fn links_are_named_by_way_and_by_packets() {
    let out = ladder().host("web", 1.0, 50e-6).link("web", 100e6, 3_750.0, 200.0).verdict();
    assert_eq!(found(&out), (Limit::Bandwidth, "web", Confidence::Measured));
    assert_eq!(full_link(&out), (ResourceKind::BandwidthOut, Some(100e6)));
    let into = ladder().host("web", 1.0, 50e-6).link("web", 100e6, 200.0, 3_750.0).verdict();
    assert_eq!(found(&into), (Limit::Bandwidth, "web", Confidence::Measured));
    assert_eq!(full_link(&into), (ResourceKind::BandwidthIn, Some(100e6)));
    let packets = ladder()
        .host("web", 1.0, 50e-6)
        .link("web", 100e6, 200.0, 200.0)
        .gauge(("web", "declared", ""), "packets_per_sec", |_, _| 6_500.0)
        .verdict();
    assert_eq!(found(&packets), (Limit::Packets, "web", Confidence::Measured));
}

#[test]
fn what_is_declared_of_a_link_is_not_said_of_a_bridge_behind_it() {
    let inner = |name: &'static str| {
        ladder()
            .host("web", 1.0, 50e-6)
            .link("web", 200e6, 1_170.0, 200.0)
            .counter(("web", "interface", name), "sent_bytes", |_, x| 7_400.0 * x)
            .verdict()
    };
    for name in ["docker0", "br-4f0c", "veth12ab", "cni0", "virbr0", "flannel.1", "tun0", "wg0"] {
        assert_ne!(inner(name).limit, Limit::Bandwidth, "{name}");
    }
    assert_eq!(inner("eth1").limit, Limit::Bandwidth);
}

#[test]
fn the_speed_that_a_tunnel_reports_is_no_limit() {
    let reported = |name: &'static str| {
        let link = ("web", "interface", name);
        let watch = ladder().host("web", 1.0, 50e-6).counter(link, "sent_bytes", |_, x| 385.0 * x);
        watch.gauge(link, "speed_bits_per_sec", |_, _| 10e6).verdict().limit
    };
    for name in ["tun0", "tap0", "vnet3", "tailscale0", "lxc4f0c", "cilium_host"] {
        assert_ne!(reported(name), Limit::Bandwidth, "{name}");
    }
    assert_eq!(reported("eth1"), Limit::Bandwidth);
}

#[test]
fn a_group_that_writes_as_much_as_it_may_is_disk_and_without_a_limit_it_is_not() {
    let group = ("db", "cgroup", "");
    let watch = |limit: Option<f64>| {
        let watch = ladder().host("db", 1.0, 50e-6).counter(group, "disk_written_bytes", |_, x| 4_000.0 * x);
        limit.into_iter().fold(watch, |watch, limit| {
            watch.gauge(group, "disk_write_limit_bytes_per_sec", move |_, _| limit)
        })
    };
    let capped = watch(Some(13.1e6)).verdict();
    assert_eq!(found(&capped), (Limit::Disk, "db", Confidence::Measured));
    let Some(Claim::DiskCap { used, .. }) = capped.claim else { panic!("{:?}", capped.claim) };
    assert_eq!(used.capacity, 13.1e6);
    assert!(used.per_request.is_some_and(|bytes| (bytes / 4_000.0 - 1.0).abs() < 0.01), "{used:?}");
    assert_ne!(watch(Some(30e6)).verdict().limit, Limit::Disk, "half of it is left");
    assert_ne!(watch(None).verdict().limit, Limit::Disk);
}

#[test]
fn a_link_whose_speed_is_not_known_is_never_full() {
    let watch =
        ladder().host("web", 1.0, 50e-6).counter(("web", "interface", "eth0"), "sent_bytes", |_, x| 1e6 * x);
    let found = watch.findings();
    assert_ne!(found.verdict.limit, Limit::Bandwidth);
    let link = found.resources.iter().find(|resource| resource.kind == ResourceKind::BandwidthOut).unwrap();
    assert_eq!((link.capacity, link.utilisation(0)), (None, None));
}

#[test]
fn two_limits_within_five_per_cent_are_both_named_and_neither_is_measured() {
    let verdict = ladder().host("web", 1.0, 302e-6).link("web", 100e6, 3_780.0, 200.0).verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred);
    let mut named = vec![(verdict.limit, verdict.host().to_owned())];
    named.extend(verdict.also.iter().map(|also| (also.limit, also.host().to_owned())));
    named.sort();
    assert_eq!(named, [(Limit::Cpu, "web".to_owned()), (Limit::Bandwidth, "web".to_owned())]);
}

#[test]
fn a_host_that_is_busy_whatever_the_load_is_no_limit_of_it() {
    let busy = |_: usize, _: f64| 1e6;
    let watch = ladder()
        .host("web", 1.0, 50e-6)
        .link("web", 100e6, 3_750.0, 200.0)
        .gauge(("batch", "cgroup", ""), "quota_us", |_, _| 10_000.0)
        .gauge(("batch", "cgroup", ""), "period_us", |_, _| 10_000.0)
        .counter(("batch", "cgroup", ""), "usage_us", busy);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Bandwidth, "web", Confidence::Measured));
    assert!(verdict.also.is_empty(), "{:?}", verdict.also);
}

#[test]
fn a_neighbour_on_the_host_is_named() {
    let watch = ladder()
        .gauge(("web", "cgroup", ""), "quota_us", |_, _| 10_000.0)
        .gauge(("web", "cgroup", ""), "period_us", |_, _| 10_000.0)
        .counter(("web", "cgroup", ""), "usage_us", |_, _| 995_000.0)
        .counter(("web", "process", "7 nginx"), "cpu_us", |_, x| 120.0 * x)
        .counter(("web", "process", "7 nginx"), "run_wait_us", |_, x| 120.0 * x)
        .counter(("web", "neighbours", "99 stress"), "cpu_us", |_, x| 990_000.0 - 120.0 * x);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "web", Confidence::Measured));
    let stress = Part::OtherProcess(ProcessId::new(99, "stress"));
    assert_eq!(verdict.place, Place::Host { name: "web".to_owned(), part: stress });
    assert_eq!(verdict.advice, [Advice::MoveOthers]);
}

#[test]
fn time_stolen_by_other_guests_is_busy_and_named() {
    let cpu = ("web", "cpu", "");
    let watch = ladder()
        .gauge(cpu, "cores", |_, _| 2.0)
        .counter(cpu, "total_ms", |_, _| 2000.0)
        .counter(cpu, "idle_ms", |_, x| 1000.0 - 0.3 * x)
        .counter(cpu, "steal_ms", |_, _| 1000.0);
    let verdict = watch.verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "web"));
    assert_eq!(verdict.place.of_host(), Some(&Part::OtherGuests));
}

#[test]
fn a_machines_cpu_is_what_proc_stat_says_and_not_what_its_top_group_counts() {
    let (cpu, group) = (("vm", "cpu", ""), ("vm", "cgroup", ""));
    let watch = || {
        ladder()
            .gauge(cpu, "cores", |_, _| 2.0)
            .counter(cpu, "total_ms", |_, _| 2000.0)
            .counter(cpu, "idle_ms", |_, x| 1300.0 - 0.4 * x)
            .counter(cpu, "steal_ms", |_, _| 700.0)
            .counter(group, "usage_us", |_, x| 400.0 * x)
    };
    let verdict = watch().verdict();
    assert_eq!((verdict.limit, verdict.host()), (Limit::Cpu, "vm"), "{verdict:#?}");
    // A container with a quota has no more than that, whatever the rest of its machine does.
    let container =
        watch().gauge(group, "quota_us", |_, _| 20_000.0).gauge(group, "period_us", |_, _| 10_000.0);
    let container = container.findings();
    let used =
        container.resources.iter().find(|one| one.kind == ResourceKind::Cpu && one.host == "vm").unwrap();
    assert!(used.utilisation(7).is_some_and(|share| (share - 0.64).abs() < 0.01), "{used:?}");
    assert_ne!(container.verdict.limit, Limit::Cpu);
}

#[test]
fn threads_that_wait_for_a_cpu_their_host_has_left_point_below_it() {
    let thread = ("api", "thread", "8/8 api");
    let watch = ladder()
        .host("api", 2.0, 100e-6)
        .process("api", "8 api", 100e-6)
        .counter(thread, "cpu_us", |_, x| 100.0 * x)
        .counter(thread, "run_wait_us", |_, x| 210.0 * x)
        .counter(("api", "process", "8 api"), "run_wait_us", |_, x| 210.0 * x);
    let verdict = watch.verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "api", Confidence::Inferred));
    assert!(matches!(verdict.claim, Some(Claim::CpuBelow { .. })), "{:?}", verdict.claim);
}

#[test]
fn cores_that_threads_use_or_are_ready_for_are_full_though_others_had_a_part() {
    let api = ("api", "process", "8 api");
    let verdict = |waited_us: f64| {
        let watch = ladder().host("api", 2.0, 550e-6).counter(api, "cpu_us", |_, x| 550.0 * x);
        let watch = watch.gauge(api, "threads", |_, _| 4.0);
        watch.counter(api, "run_wait_us", move |_, x| waited_us * x).verdict()
    };
    assert_eq!((verdict(80.0).limit, verdict(80.0).host()), (Limit::Cpu, "api"));
    assert_ne!(verdict(0.0).limit, Limit::Cpu, "88 % of the cores are not all");
}

#[test]
fn tasks_that_wait_for_a_moment_do_not_fill_a_machine_that_idles_a_fifth_of_its_time() {
    let (cpu, api) = (("api", "cpu", ""), ("api", "process", "8 api"));
    let verdict = ladder()
        .gauge(cpu, "cores", |_, _| 4.0)
        .counter(cpu, "total_ms", |_, _| 4000.0)
        .counter(cpu, "idle_ms", |_, x| 4000.0 - 1.025 * x)
        .counter(api, "cpu_us", |_, x| 1000.0 * x)
        .counter(api, "run_wait_us", |_, x| 190.0 * x)
        .gauge(api, "threads", |_, _| 16.0)
        .verdict();
    assert_eq!((verdict.limit, verdict.confidence), (Limit::Pool, Confidence::Inferred), "{verdict:#?}");
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Cpu), "{:?}", verdict.also);
}

#[test]
fn what_is_full_in_all_steps_may_be_full_without_load_too() {
    let levels: Vec<Level> = [50, 100, 200, 400].map(|n| Level::at(n, 3200.0)).to_vec();
    let watch = || Watch::over(&levels).host("api", 1.0, 305e-6);
    let with_process = watch().process("api", "8 java", 300e-6).verdict();
    assert_eq!(found(&with_process), (Limit::Cpu, "api", Confidence::Inferred));
    assert_eq!(found(&watch().verdict()), (Limit::Cpu, "api", Confidence::Inferred));
    // A thread that sleeps until the next request is there does not poll.
    let sleeping = watch().process("api", "8 java", 300e-6);
    let sleeping = sleeping.counter(("api", "process", "8 java"), "voluntary_switches", |_, x| 0.3 * x);
    assert_eq!(found(&sleeping.verdict()), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn one_level_is_judged_with_less_confidence() {
    let verdict =
        Watch::single(Level::closed(64)).host("api", 1.0, 305e-6).process("api", "8 java", 300e-6).verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "api", Confidence::Inferred));
    assert!(verdict.advice.contains(&Advice::Sweep), "{:?}", verdict.advice);
}

#[test]
fn a_ladder_of_one_step_is_one_level() {
    let ladder = |cpu_sec: f64| Watch::over(&[Level::closed(64)]).host("api", 1.0, cpu_sec).verdict();
    assert_eq!((ladder(305e-6).limit, ladder(305e-6).confidence), (Limit::Cpu, Confidence::Inferred));
    let unknown = ladder(50e-6);
    assert_eq!((unknown.limit, unknown.confidence), (Limit::Unknown, Confidence::Unknown));
    assert!(!unknown.advice.iter().any(|advice| matches!(advice, Advice::Climb(_))), "{:?}", unknown.advice);
}

#[test]
fn a_ladder_that_still_grows_has_no_limit_but_a_next_one() {
    let verdict = Watch::over(&pool_levels(16.0, 0.005, 8)).host("api", 1.0, 400e-6).verdict();
    assert_eq!(verdict.limit, Limit::None);
    let next = verdict.next_limit.unwrap();
    assert_eq!((next.limit, &next.place), (Limit::Cpu, &Place::host("api")));
    assert!((next.at_per_sec.value / 2475.0 - 1.0).abs() < 0.05, "{next:?}");
}

#[test]
fn a_ladder_that_still_grows_is_not_stopped_by_what_has_a_tenth_left() {
    let verdict = |cpu_sec: f64| {
        Watch::over(&pool_levels(16.0, 0.005, 8))
            .host("api", 1.0, cpu_sec)
            .process("api", "9 api", cpu_sec)
            .verdict()
    };
    let left = verdict(565e-6);
    assert_eq!(left.limit, Limit::None);
    assert_eq!(left.next_limit.map(|next| next.limit), Some(Limit::Cpu));
    assert_eq!(found(&verdict(615e-6)), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn two_that_are_used_up_are_named_though_the_last_step_gained_a_little() {
    let levels: Vec<Level> = [(1, 250.0), (2, 320.0), (4, 340.0), (8, 360.0)]
        .map(|(connections, throughput)| Level::at(connections, throughput))
        .into();
    let watch = || Watch::over(&levels).host("api", 0.4, 1.04e-3).process("api", "9 api", 1.06e-3);
    let verdict = watch().link("api", 4e6, 1340.0, 50.0).verdict();
    assert_eq!(verdict.confidence, Confidence::Inferred);
    let named = |limit| verdict.limit == limit || verdict.also.iter().any(|also| also.limit == limit);
    assert!(named(Limit::Cpu) && named(Limit::Bandwidth), "{verdict:?}");
    assert_eq!(found(&watch().verdict()), (Limit::Cpu, "api", Confidence::Measured));
}

#[test]
fn the_generators_own_link_is_the_generator() {
    let verdict = ladder().host("web", 1.0, 50e-6).link("generator", 100e6, 200.0, 3_800.0).verdict();
    assert_eq!(found(&verdict), (Limit::Generator, "generator", Confidence::Measured));
    assert!(matches!(
        verdict.claim,
        Some(Claim::GeneratorFull { used, .. }) if used.resource.kind == ResourceKind::BandwidthIn
    ));
}

#[test]
fn segments_lost_on_the_targets_full_link_are_not_the_generators_fault() {
    let tcp = ("generator", "tcp", "");
    let watch = || {
        ladder()
            .counter(tcp, "segments_sent", |_, x| 2.0 * x)
            .counter(tcp, "segments_retransmitted", |_, x| 0.1 * x)
            .counter(tcp, "syn_retransmitted", |_, _| 0.0)
    };
    let alone = watch().findings();
    assert!(
        alone.generator.reasons.iter().any(|reason| matches!(reason, GeneratorReason::Retransmits { .. }))
    );
    assert_eq!(alone.verdict.limit, Limit::Generator);
    let verdict = watch().host("web", 1.0, 50e-6).link("web", 100e6, 200.0, 3_800.0).verdict();
    assert_eq!(found(&verdict), (Limit::Bandwidth, "web", Confidence::Measured));
}

#[test]
fn a_link_that_is_full_from_the_first_step_on_explains_lost_segments() {
    let tcp = ("generator", "tcp", "");
    let levels: Vec<Level> = [1, 2, 4, 8].map(|connections| Level::at(connections, 120.0)).into();
    let watch = || {
        Watch::over(&levels)
            .counter(tcp, "segments_sent", |_, x| 60.0 * x)
            .counter(tcp, "segments_retransmitted", |_, x| 3.0 * x)
            .counter(tcp, "syn_retransmitted", |_, _| 0.0)
            .host("api", 1.0, 1.4e-3)
    };
    assert_eq!(watch().verdict().limit, Limit::Generator);
    let verdict = watch().link("api", 20e6, 20_800.0, 97.0).verdict();
    assert_eq!((verdict.limit, verdict.place.host_name()), (Limit::Bandwidth, "api"), "{verdict:?}");
}

#[test]
fn a_probe_that_failed_midway_leaves_no_zero_behind() {
    let mut run = ladder().host("web", 1.0, 305e-6).process("web", "7 nginx", 300e-6).run();
    let middle_ns = run.steps[4].began_ns;
    for sample in run.hosts.iter_mut().filter(|sample| sample.ended_ns > middle_ns) {
        sample.reading = Reading::Failed("connection lost".to_owned());
    }
    let found = findings(&run);
    assert_eq!((found.verdict.limit, found.verdict.confidence), (Limit::Unknown, Confidence::Inferred));
    let why = Some("connection lost".to_owned());
    let unobserved = Excluded::Unobserved { host: "web".to_owned(), why };
    assert!(found.verdict.excluded.contains(&unobserved), "{:?}", found.verdict.excluded);
    let cpu = found.resources.iter().find(|resource| resource.kind == ResourceKind::Cpu).unwrap();
    assert!(cpu.used[0].is_some() && cpu.used[7].is_none(), "{:?}", cpu.used);
}

#[test]
fn samples_in_any_order_give_the_same_verdict() {
    let mut run = proxy_and_api(152e-6, 180e-6).run();
    let before = findings(&run).verdict;
    run.hosts.reverse();
    assert_eq!(findings(&run).verdict, before);
}

#[test]
fn unwatched_hosts_leave_the_verdict_as_the_load_alone_tells_it() {
    let mut run = ladder().run();
    let alone = findings(&run).verdict;
    run.hosts.push(HostSample {
        host: "web".into(),
        source: "cpu".into(),
        subject: "".into(),
        began_ns: 0,
        ended_ns: 1,
        reading: Reading::Absent,
    });
    assert_eq!(findings(&run).verdict, alone);
    assert_eq!((alone.limit, alone.claim), (Limit::Unknown, None));
}

#[test]
fn a_throttled_cpu_with_room_left_does_not_hide_a_pool_behind_it() {
    let throttled = before_a_slow_service(1080e-6, 0.3)
        .counter(("api", "cgroup", ""), "periods", |_, _| 100.0)
        .counter(("api", "cgroup", ""), "throttled_periods", |_, x| if x > 300.0 { 92.0 } else { 3.0 });
    let verdict = throttled.verdict();
    assert_eq!(found(&verdict), (Limit::Cpu, "api", Confidence::Inferred));
    assert!(verdict.also.iter().any(|also| also.limit == Limit::Pool), "{verdict:?}");
}

//! Machines for a rate, by runs in which not all of a tier is known.

use plimsoll_analyze::{
    Doubt, Findings, Goal, Limit, Remark, RowRun, TierPlan, observe_runs, plan_machines, tier_rows,
};
use plimsoll_plan::{Plan, PlanHost, RowSpec};

use crate::refusals::refusing_beyond;
use crate::synthetic::{Level, findings};
use crate::watch::Watch;

const HOSTS: [&str; 3] = ["api1", "api2", "api3"];
/// What a request takes of each host, which is full at the plateau of 3,200 requests/s.
const CPU_SEC: f64 = 152e-6;

/// A load on these hosts of one tier, as far as they were sampled, in runs of this group.
fn on_hosts(sampled: Watch, hosts: &[&str], group: &str) -> Findings {
    let mut run = sampled.run();
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    let host = |name: &&str| PlanHost { tier: Some("api".to_owned()), ..PlanHost::named(name) };
    plan.hosts = hosts.iter().map(host).collect();
    plan.group = Some(group.to_owned());
    run.manifest.plan = plan.to_json();
    findings(&run)
}

fn on_tier(sampled: Watch) -> Findings {
    on_hosts(sampled, &HOSTS, "all")
}

fn sampled(hosts: &[&str]) -> Watch {
    hosts.iter().fold(Watch::pool(16.0, 0.005, 128), |watch, host| watch.host(host, 0.5, CPU_SEC))
}

fn planned(runs: &[(&str, &Findings)]) -> TierPlan {
    planned_for(20_000.0, runs)
}

fn planned_for(target_per_sec: f64, runs: &[(&str, &Findings)]) -> TierPlan {
    let goal = Goal { target_per_sec, utilisation: 0.7 };
    plan_machines(&observe_runs(runs), goal).tiers.remove(0)
}

/// So many machines whose CPU is full at this rate; a request takes a millisecond of it.
fn full_at(per_sec: f64, machines: usize, group: &str) -> Findings {
    let each = 1e-3 / machines as f64;
    let cores = 0.01 + per_sec * each;
    let pool = Watch::pool(16.0, 16.0 / per_sec, 128);
    let hosts = &HOSTS[..machines];
    on_hosts(hosts.iter().fold(pool, |watch, host| watch.host(host, cores, each)), hosts, group)
}

#[test]
fn a_tier_counts_machines_that_were_not_sampled() {
    let all = planned(&[("all", &on_tier(sampled(&HOSTS)))]);
    let machines = all.machines.unwrap();
    assert!(!machines.at_least && all.doubts.is_empty(), "{:?}", all.doubts);
    let part = on_tier(sampled(&["api1"]));
    let one = planned(&[("part", &part)]);
    let found = one.machines.unwrap();
    assert!(found.at_least && found.count.abs_diff(machines.count) <= 1, "{found:?}, not {machines:?}");
    let names = vec!["api2".to_owned(), "api3".to_owned()];
    let doubt = Doubt::NotSampled { runs: vec!["part".to_owned()], machines: names.clone() };
    assert!(one.doubts.contains(&doubt), "{:?}", one.doubts);
    let both = planned(&[("part", &part), ("again", &part)]).doubts;
    let runs = vec!["part".to_owned(), "again".to_owned()];
    assert!(both.contains(&Doubt::NotSampled { runs, machines: names }), "{both:?}");
}

#[test]
fn a_link_that_something_else_uses_makes_the_number_a_least_one() {
    // 3,200 requests/s of 500 bytes fill the link of each, or something else fills it whatever the load.
    let linked = || HOSTS.iter().fold(sampled(&[]), |watch, host| watch.link(host, 13e6, 500.0, 10.0));
    let full = planned(&[("quiet", &on_tier(linked()))]);
    assert!(!full.machines.unwrap().at_least, "{full:?}");
    let steady = |watch: Watch, host: &'static str| {
        watch.counter((host, "interface", "eth0"), "sent_bytes", |step, _| 1.5e6 + 1e3 * (step % 2) as f64)
    };
    let noisy = planned(&[("noisy", &on_tier(steady(steady(linked(), "api2"), "api3")))]);
    let is_other_use = |doubt: &Doubt| matches!(doubt, Doubt::UsedOtherwise { .. });
    assert!(noisy.doubts.iter().any(is_other_use), "{:?}", noisy.doubts);
    assert!(noisy.machines.unwrap().at_least, "{noisy:?}");
}

#[test]
fn refused_answers_are_no_capacity() {
    // It answers 3,200 requests/s, and 6,400 with every second one refused.
    let refusing = refusing_beyond(true).findings();
    let goal = Goal { target_per_sec: 6_400.0, utilisation: 0.7 };
    let plan = plan_machines(&observe_runs(&[("refusing", &refusing)]), goal);
    let web = plan.tiers.iter().find(|tier| tier.tier == "web").unwrap();
    assert!(web.machines.unwrap().count >= 3, "{web:?}");
    let row = tier_rows(&[("refusing", &refusing)]).remove(0);
    assert!(row.throughput.value <= 3_500.0, "{row:?}");
    let row = RowRun::from_findings("refusing", &RowSpec::default(), &refusing).unwrap();
    assert_eq!(row.measured.throughput, tier_rows(&[("refusing", &refusing)])[0].throughput);
}

#[test]
fn a_run_that_refuses_too_much_at_any_load_has_no_number() {
    let level = Level { refused: 0.5, ..Level::at(8, 1_000.0) };
    let refusing = Watch::over(&[level]).host("web", 1.0, 1e-4).findings();
    let observed = observe_runs(&[("refusing", &refusing)]);
    assert!(observed.tiers.is_empty());
    assert_eq!(observed.remarks, [Remark::NothingCarried("refusing".to_owned())]);
    assert!(tier_rows(&[("refusing", &refusing)]).is_empty());
}

#[test]
fn the_scaling_of_small_machines_says_nothing_of_large_ones() {
    let (small, two_small) = (full_at(300.0, 1, "all"), full_at(600.0, 2, "all"));
    let large = full_at(3_000.0, 2, "all");
    assert_eq!([&small, &two_small, &large].map(|run| run.verdict.limit), [Limit::Cpu; 3]);
    let tier = planned_for(900.0, &[("small", &small), ("two small", &two_small), ("large", &large)]);
    // One large machine carries 1,050/s at 70 %; two small ones were measured to carry less than the target.
    assert_eq!((tier.machines.unwrap().count, tier.scaling), (1, None), "{:?}", tier.needs);
    let of_size = vec!["small".to_owned(), "two small".to_owned()];
    let left_out = Doubt::OtherRuns { of_requests: Vec::new(), of_size };
    assert!(tier.doubts.contains(&left_out), "{:?}", tier.doubts);
}

#[test]
fn what_a_machine_of_a_size_carries_is_that_of_the_dearest_requests() {
    let one = ["api1"];
    let load = |per_sec: f64, cpu_sec: f64, group: &str| {
        let pool = Watch::pool(16.0, 16.0 / per_sec, 128);
        on_hosts(pool.host("api1", 1.0, cpu_sec), &one, group)
    };
    // Both on one core: the cheap requests fill it, the dear ones use most of it.
    let (cheap, dear) = (load(9_900.0, 1e-4, "cheap"), load(850.0, 1e-3, "dear"));
    let tier = planned(&[("cheap", &cheap), ("dear", &dear)]);
    let carried = tier.sizes[0].per_sec.unwrap();
    // A dear one takes a millisecond; of cheap ones it would carry ten times as many.
    assert!((500.0..800.0).contains(&carried), "{carried}");
}

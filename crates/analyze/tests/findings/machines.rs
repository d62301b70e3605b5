//! Machines for a rate, by runs in which not all of a tier is known.

use plimsoll_analyze::{
    Doubt, Findings, FleetDoubt, Goal, Limit, PriceList, Remark, RowRun, TierPlan, fleet_capacity,
    observe_runs, plan_machines, price_plan, tier_rows,
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
    let left_out = Doubt::OtherRuns { of_requests: Vec::new(), of_size, lower_bounds: Vec::new() };
    assert!(tier.doubts.contains(&left_out), "{:?}", tier.doubts);
}

#[test]
fn a_throughput_that_the_generator_had_a_part_in_is_a_lower_bound_and_no_scaling() {
    let bound = |findings: Findings| Findings { lower_bound: true, ..findings };
    let (one, two) = (bound(full_at(300.0, 1, "all")), bound(full_at(600.0, 2, "all")));
    let observed = observe_runs(&[("one", &one), ("two", &two)]);
    let names = || vec!["one".to_owned(), "two".to_owned()];
    let remarks: Vec<Remark> = names().into_iter().map(Remark::SharedWithGenerator).collect();
    assert_eq!(observed.remarks, remarks);
    let left_out = Doubt::OtherRuns { of_requests: Vec::new(), of_size: Vec::new(), lower_bounds: names() };
    let tier = &observed.tiers[0];
    assert!(tier.scaling.is_none() && tier.doubts.contains(&left_out), "{:?}", tier.doubts);
    let capacity = fleet_capacity(&observed, &"api=3".parse().unwrap(), 0.7).unwrap();
    for remark in remarks {
        assert!(capacity.doubts.contains(&FleetDoubt::Remark(remark)), "{:?}", capacity.doubts);
    }
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

/// A proxy before an API, each a tier of its own; the pool gives this rate.
fn proxied(per_sec: f64, web: (f64, f64), api_cores: f64) -> Findings {
    let pool = Watch::pool(16.0, 16.0 / per_sec, 128);
    let mut run = pool.host("web", web.0, web.1).host("api", api_cores, 1.2e-3).run();
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    plan.hosts =
        ["web", "api"].map(|name| PlanHost { tier: Some(name.to_owned()), ..PlanHost::named(name) }).into();
    plan.group = Some("all".to_owned());
    run.manifest.plan = plan.to_json();
    findings(&run)
}

#[test]
fn the_cost_is_that_of_the_planned_machines_where_smaller_ones_pressed_the_tier() {
    // At 30 % of its CPU a request costs the proxy 43 µs, and 37 µs with 0.04 cores, which are full.
    let (base, pressed) = (proxied(825.0, (0.15, 43e-6), 1.0), proxied(808.0, (0.04, 37e-6), 4.0));
    assert_eq!([base.verdict.host(), pressed.verdict.host()], ["api", "web"]);
    let observed = observe_runs(&[("base", &base), ("pressed", &pressed)]);
    let plan = plan_machines(&observed, Goal { target_per_sec: 20_000.0, utilisation: 0.7 });
    let web = plan.tiers.iter().find(|tier| tier.tier == "web").unwrap();
    let count = web.machines.unwrap().count;
    // 20,000/s × 37 µs / (0.15 × 70 % − 0.01).
    assert_eq!(count, 8, "{:?}", web.needs);
    let priced = |prices: &[&str]| {
        let prices = prices.iter().map(|price| price.parse().unwrap()).collect();
        price_plan(&plan, &PriceList::new(prices).unwrap().unwrap()).tiers.remove(0)
    };
    let cost = priced(&["web=0.09/h"]);
    let machines = &cost.machines[0];
    assert_eq!((cost.machines.len(), machines.count), (1, count), "{cost:?}");
    assert_eq!(machines.size.and_then(|size| size.cores), Some(0.15));
    let named = priced(&["web@0.15=0.09/h", "web@0.04=1/h"]);
    assert_eq!((named.alone.len(), named.per_hour), (2, cost.per_hour), "{named:?}");
}

//! Machines for a rate, by runs in which not all of a tier is known.

use plimsoll_analyze::{Doubt, Findings, Goal, TierPlan, observe_runs, plan_machines};
use plimsoll_plan::{Plan, PlanHost};

use crate::synthetic::findings;
use crate::watch::Watch;

const HOSTS: [&str; 3] = ["api1", "api2", "api3"];
/// What a request takes of each host, which is full at the plateau of 3,200 requests/s.
const CPU_SEC: f64 = 152e-6;

/// A load on these hosts of one tier, as far as they were sampled.
fn on_tier(sampled: Watch) -> Findings {
    let mut run = sampled.run();
    let mut plan = Plan::from_json(&run.manifest.plan).unwrap();
    plan.hosts =
        HOSTS.map(|name| PlanHost { tier: Some("api".to_owned()), ..PlanHost::named(name) }).to_vec();
    run.manifest.plan = plan.to_json();
    findings(&run)
}

fn sampled(hosts: &[&str]) -> Watch {
    hosts.iter().fold(Watch::pool(16.0, 0.005, 128), |watch, host| watch.host(host, 0.5, CPU_SEC))
}

fn planned(runs: &[(&str, &Findings)]) -> TierPlan {
    let goal = Goal { target_per_sec: 20_000.0, utilisation: 0.7 };
    plan_machines(&observe_runs(runs), goal).tiers.remove(0)
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

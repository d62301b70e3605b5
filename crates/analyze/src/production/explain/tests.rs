//! Simulated weeks whose laws are known.

use std::f64::consts::TAU;

use plimsoll_testkit::Noise;

use super::*;
use crate::production::{
    AmountUnit, Instances, LimitUnknown, ProductionKind, ProductionLimit, ResourceSeries,
};

const DAY_SEC: f64 = 86_400.0;
const STEP_SEC: f64 = 600.0;
/// Four days of ten minutes each.
const INSTANTS: usize = 576;
const PER_REQUEST: f64 = 0.004;
const BACKGROUND: f64 = 0.3;

/// Between 100 and 400 requests per second, by the time of day, with some noise.
fn day(seed: u64) -> ProductionSeries {
    let mut noise = Noise::new(seed);
    let rate = |at: usize, noise: &mut Noise| {
        let curve = 250.0 - 150.0 * (TAU * at as f64 * STEP_SEC / DAY_SEC).cos();
        Some(curve * (1.0 + 0.03 * noise.normal()))
    };
    ProductionSeries {
        start_sec: 20_000.0 * DAY_SEC,
        step_sec: STEP_SEC,
        rate_per_sec: (0..INSTANTS).map(|at| rate(at, &mut noise)).collect(),
        resources: Vec::new(),
    }
}

/// A CPU whose use is this function of the rate, with noise that depends on itself.
fn cpu(series: &ProductionSeries, seed: u64, usage: impl Fn(f64) -> f64) -> ResourceSeries {
    let (mut noise, mut deviation) = (Noise::new(seed ^ 0xc0de), 0.0);
    let mut at = |rate: &Option<f64>| {
        deviation = 0.7 * deviation + 0.02 * noise.normal();
        Some(usage((*rate)?) + deviation)
    };
    ResourceSeries {
        kind: ProductionKind::HostCpu,
        of: String::new(),
        instance: Some("web".to_owned()),
        unit: AmountUnit::Cores,
        scale: 1.0,
        usage: series.rate_per_sec.iter().map(&mut at).collect(),
        capacity: Some(4.0),
    }
}

fn linear(rate: f64) -> f64 {
    BACKGROUND + PER_REQUEST * rate
}

fn with_cpu(seed: u64, usage: impl Fn(f64) -> f64) -> ProductionSeries {
    let mut series = day(seed);
    series.resources = vec![cpu(&series, seed, usage)];
    series
}

fn found(series: &ProductionSeries) -> ProductionFindings {
    explain_production(series, 0.7)
}

fn covers(estimate: Estimate, truth: f64) -> bool {
    estimate.interval.is_some_and(|(lower, upper)| (lower..=upper).contains(&truth))
}

#[test]
fn the_limit_is_predicted_from_less_than_half_of_it_and_its_interval_covers_it() {
    let full_at = (4.0 - BACKGROUND) / PER_REQUEST;
    let mut covered = [0; 3];
    for seed in 0..60 {
        let findings = found(&with_cpu(seed, linear));
        let cpu = &findings.resources[0];
        let demand = cpu.demand.unwrap();
        let predicted = cpu.full_at().unwrap();
        assert!(findings.rate.unwrap().highest < full_at / 2.0);
        assert!((predicted.value / full_at - 1.0).abs() < 0.05, "{predicted:?}");
        assert_eq!(findings.limit, ProductionLimit::Known { first: 0, tied: Vec::new() });
        covered[0] += usize::from(covers(predicted, full_at));
        covered[1] += usize::from(covers(demand.per_request, PER_REQUEST));
        covered[2] += usize::from(covers(demand.background, BACKGROUND));
    }
    assert!(covered.iter().all(|count| *count >= 51), "{covered:?} of 60");
}

#[test]
fn a_nightly_job_is_background_and_moves_nothing() {
    let mut series = with_cpu(1, linear);
    let night = |at: usize| (12..18).contains(&(at % 144));
    for (at, usage) in series.resources[0].usage.iter_mut().enumerate().filter(|(at, _)| night(*at)) {
        *usage = usage.map(|usage| usage + 1.5 + 0.01 * (at % 3) as f64);
    }
    let findings = found(&series);
    let cpu = &findings.resources[0];
    let work = cpu.background_work.unwrap();
    assert_eq!((work.episodes, cpu.left_out.background), (4, 24));
    assert_eq!(work.daily_at_sec, Some(7_200.0));
    assert!((work.mean_extra - 1.5).abs() < 0.1, "{work:?}");
    assert!((cpu.demand.unwrap().per_request.value / PER_REQUEST - 1.0).abs() < 0.03);
    assert_eq!(cpu.law, ProductionLaw::Holds);
}

#[test]
fn gaps_are_missing_and_never_zero() {
    let mut series = with_cpu(2, linear);
    series.rate_per_sec[100..160].fill(None);
    series.resources[0].usage[300..340].fill(None);
    let findings = found(&series);
    let cpu = &findings.resources[0];
    assert_eq!((findings.with_rate, findings.instants), (INSTANTS - 60, INSTANTS));
    assert_eq!(findings.longest_gap_sec, 60.0 * STEP_SEC);
    assert_eq!(cpu.left_out.missing, 40);
    assert!((cpu.demand.unwrap().background.value - BACKGROUND).abs() < 0.05);
}

#[test]
fn requests_that_cost_more_at_high_rates_bend_the_law_and_bring_the_limit_nearer() {
    let series = with_cpu(3, |rate| BACKGROUND + 0.002 * rate + 0.000_01 * rate * rate);
    let findings = found(&series);
    let cpu = &findings.resources[0];
    assert_eq!(cpu.law, ProductionLaw::Bent);
    assert!(cpu.demand.unwrap().bend.value > 0.5);
    // 0.3 + 0.002 λ + 0.00001 λ² = 4.
    let truth = 516.0;
    assert!((cpu.full_at().unwrap().value / truth - 1.0).abs() < 0.15, "{:?}", cpu.full_at());
    assert!(found(&with_cpu(3, linear)).resources[0].law == ProductionLaw::Holds);
}

#[test]
fn a_tangent_that_never_reaches_the_capacity_states_no_rate_by_the_line() {
    let findings = found(&with_cpu(3, |rate| BACKGROUND + 0.01 * rate - 0.000_014 * rate * rate));
    let (cpu, highest) = (&findings.resources[0], findings.rate.unwrap().highest);
    assert_eq!(cpu.law, ProductionLaw::Bent);
    assert_eq!(cpu.demand.unwrap().full_at, FullAt::Beyond(4.0 * highest));
    assert_eq!(cpu.demand.unwrap().safe_at, None);
}

#[test]
fn a_share_that_is_used_without_requests_is_used_at_no_rate() {
    let demand = |background: f64| {
        let findings = found(&with_cpu(14, |rate| background + 0.0015 * rate));
        assert!(findings.resources[0].full_at().is_some());
        findings.resources[0].demand.unwrap()
    };
    assert_eq!(demand(3.0).safe_at, Some(Estimate::exact(0.0)), "70 % of 4 cores are 2.8");
    // A line without one of the blocks may lie above it.
    let near = demand(2.799).safe_at.unwrap().value;
    assert!((0.0..20.0).contains(&near), "{near}");
}

#[test]
fn of_a_law_that_is_bent_no_line_says_when_a_share_is_used() {
    // Along the tangent at the high end 2.8 of 4 cores are used at no rate, and at 100 requests/s there is little more.
    let findings = found(&with_cpu(15, |rate| 2.4 + 0.0046 * rate - 3e-6 * rate * rate));
    let resource = &findings.resources[0];
    assert_eq!(resource.law, ProductionLaw::Bent);
    assert!(resource.full_at().is_some() && resource.demand.unwrap().safe_at.is_none(), "{resource:?}");
}

#[test]
fn a_rate_that_hardly_changes_tells_nothing() {
    let mut series = day(4);
    let mut noise = Noise::new(4);
    series.rate_per_sec.fill_with(|| Some(300.0 * (1.0 + 0.02 * noise.normal())));
    series.resources = vec![cpu(&series, 4, linear)];
    let findings = found(&series);
    assert_eq!(findings.resources[0].law, ProductionLaw::TooLittleVariation);
    assert_eq!(findings.limit, ProductionLimit::Unknown(LimitUnknown::TooLittleVariation));
}

#[test]
fn no_rate_is_stated_beyond_four_times_the_highest() {
    let mut series = with_cpu(5, linear);
    series.resources[0].capacity = Some(64.0);
    let findings = found(&series);
    let highest = findings.rate.unwrap().highest;
    assert_eq!(findings.resources[0].demand.unwrap().full_at, FullAt::Beyond(4.0 * highest));
    assert_eq!(findings.limit, ProductionLimit::Unknown(LimitUnknown::Beyond));
}

#[test]
fn what_does_not_follow_the_rate_is_no_limit() {
    let mut series = with_cpu(6, |_| 1.0);
    assert_eq!(found(&series).resources[0].law, ProductionLaw::Unrelated);
    assert_eq!(found(&series).limit, ProductionLimit::Unknown(LimitUnknown::NothingFollows));
    series.resources[0].capacity = None;
    assert_eq!(found(&series).limit, ProductionLimit::Unknown(LimitUnknown::NoCapacity));
    series.resources.clear();
    assert_eq!(found(&series).limit, ProductionLimit::Unknown(LimitUnknown::NoResource));
    series.rate_per_sec.fill(None);
    assert_eq!(found(&series).limit, ProductionLimit::Unknown(LimitUnknown::TooFewPoints));
}

#[test]
fn what_was_full_at_times_is_judged_by_the_other_times() {
    let mut series = with_cpu(7, linear);
    series.resources[0].capacity = Some(1.6);
    series.resources[0].usage.iter_mut().for_each(|usage| *usage = usage.map(|usage| usage.min(1.6)));
    let cpu = &found(&series).resources[0];
    assert!(cpu.left_out.full > 50, "{:?}", cpu.left_out);
    let full_at = cpu.full_at().unwrap().value;
    assert!((full_at / 325.0 - 1.0).abs() < 0.05, "{full_at}");
}

/// Next to a link that follows the rate, a CPU whose use is this.
fn with_link(usage: impl Fn(usize, f64) -> f64) -> ProductionSeries {
    let mut series = with_cpu(13, linear);
    let link = ResourceSeries { kind: ProductionKind::NetworkOut, ..series.resources[0].clone() };
    series.resources.push(link);
    for (at, value) in series.resources[0].usage.iter_mut().enumerate() {
        *value = value.map(|value| usage(at, value));
    }
    series
}

fn is_full(findings: &ProductionFindings) -> bool {
    let ProductionLimit::Unknown(LimitUnknown::Full(at)) = findings.limit else { return false };
    findings.resources[at].kind == ProductionKind::HostCpu
}

#[test]
fn what_is_full_all_the_time_leaves_no_other_the_first() {
    let findings = found(&with_link(|_, _| 3.9));
    assert!(is_full(&findings), "{:?}", findings.limit);
    let findings = found(&with_link(|at, _| if at % 50 == 0 { 3.0 } else { 4.0 }));
    assert!(is_full(&findings), "{:?}", findings.limit);
}

#[test]
fn what_a_nightly_job_fills_does_not_hide_the_limit() {
    // The rate is lowest at the begin of each day.
    let night = |at: usize, _| if at % 144 < 6 { 4.0 } else { 1.0 + 0.01 * (at % 7) as f64 };
    let findings = found(&with_link(night));
    let ProductionLimit::Known { first, .. } = findings.limit else { panic!("{:?}", findings.limit) };
    assert_eq!(findings.resources[first].kind, ProductionKind::NetworkOut);
}

#[test]
fn several_instances_are_a_sum_and_one_that_comes_and_goes_counts_there_alone() {
    let mut series = day(8);
    let mut half = |seed: u64, name: &str, cores: f64| {
        let one = cpu(&series, seed, |rate| 0.1 + PER_REQUEST / 2.0 * rate);
        series.resources.push(ResourceSeries {
            instance: Some(name.to_owned()),
            capacity: Some(cores),
            ..one
        });
    };
    half(8, "a", 2.0);
    half(9, "b", 1.5);
    half(10, "c", 1.0);
    series.resources[2].usage[100..].fill(None);
    let findings = found(&series);
    let of = |instances: Instances| {
        findings.resources.iter().find(|resource| resource.instances == instances).unwrap()
    };
    // The smaller of the two fills first, and the sum of both is no other resource.
    assert_eq!(findings.resources[0].instances, Instances::One("b".to_owned()));
    assert_eq!(findings.limit, ProductionLimit::Known { first: 0, tied: Vec::new() });
    assert_eq!(of(Instances::One("c".to_owned())).law, ProductionLaw::NotThroughout);
    assert_eq!(of(Instances::Sum(3)).capacity, Some(3.5), "what ended has no capacity");
}

#[test]
fn the_busiest_core_is_no_limit_of_its_own() {
    let mut series = with_cpu(11, linear);
    let mut core = cpu(&series, 12, |rate| 0.1 + 0.002 * rate);
    (core.kind, core.capacity) = (ProductionKind::BusiestCore, Some(1.0));
    series.resources.push(core);
    let findings = found(&series);
    let ProductionLimit::Known { first, tied } = &findings.limit else { panic!("{:?}", findings.limit) };
    assert_eq!(findings.resources[0].kind, ProductionKind::BusiestCore);
    assert_eq!((findings.resources[*first].kind, tied.len()), (ProductionKind::HostCpu, 0));
}

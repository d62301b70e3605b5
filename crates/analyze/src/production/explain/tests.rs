//! Simulated weeks whose laws are known.

use std::f64::consts::TAU;

use plimsoll_testkit::Noise;

use super::*;
use crate::production::{
    AmountUnit, InstanceCount, Instances, LimitUnknown, ProductionKind, ProductionLimit, ResourceSeries,
};

const DAY_SEC: f64 = 86_400.0;
const STEP_SEC: f64 = 600.0;
/// Four days of ten minutes each.
const INSTANTS: usize = 576;
const PER_DAY: usize = 144;
const PER_REQUEST: f64 = 0.004;
const BACKGROUND: f64 = 0.3;

/// Between 100 and 400 requests per second, by the time of day, with some noise.
fn day(seed: u64) -> ProductionSeries {
    days(seed, INSTANTS, (100.0, 400.0))
}

/// So many instants with rates between two, by the time of day.
fn days(seed: u64, instants: usize, (low, high): (f64, f64)) -> ProductionSeries {
    let mut noise = Noise::new(seed);
    let rate = |at: usize, noise: &mut Noise| {
        let share = 0.5 - 0.5 * (TAU * at as f64 * STEP_SEC / DAY_SEC).cos();
        let curve = low + (high - low) * share;
        Some(curve * (1.0 + 0.03 * noise.normal()))
    };
    ProductionSeries {
        start_sec: 20_000.0 * DAY_SEC,
        step_sec: STEP_SEC,
        rate_per_sec: (0..instants).map(|at| rate(at, &mut noise)).collect(),
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
    add(&mut series, nightly);
    let findings = found(&series);
    let cpu = &findings.resources[0];
    let work = cpu.background_work.unwrap();
    assert_eq!((work.episodes, cpu.left_out.background), (4, 24));
    assert_eq!(work.daily_at_sec, Some(7_200.0));
    assert!((work.mean_extra - 1.5).abs() < 0.1, "{work:?}");
    assert!((cpu.demand.unwrap().per_request.value / PER_REQUEST - 1.0).abs() < 0.03);
    assert_eq!((cpu.law, cpu.change), (ProductionLaw::Holds, None));
}

/// Cores of a job from 2 to 3 o'clock.
fn nightly(at: usize, _: f64) -> f64 {
    if (12..18).contains(&(at % PER_DAY)) { 1.5 + 0.01 * (at % 3) as f64 } else { 0.0 }
}

/// Adds to the use of the first resource a function of the instant and the rate.
fn add(series: &mut ProductionSeries, extra: impl Fn(usize, f64) -> f64) {
    let rates = series.rate_per_sec.iter().enumerate();
    for (usage, (at, rate)) in series.resources[0].usage.iter_mut().zip(rates) {
        *usage = usage.zip(*rate).map(|(usage, rate)| usage + extra(at, rate));
    }
}

/// A week of a CPU.
fn week(seed: u64) -> ProductionSeries {
    let mut series = days(seed, 7 * PER_DAY, (100.0, 450.0));
    series.resources = vec![cpu(&series, seed, linear)];
    series
}

/// What half as much again for a request from this instant on adds.
fn release(from: usize) -> impl Fn(usize, f64) -> f64 {
    move |at, rate| if at >= from { 0.5 * PER_REQUEST * rate } else { 0.0 }
}

#[test]
fn after_a_release_the_limit_is_that_of_the_code_that_runs() {
    // At midnight, and in the evening of the last day but one.
    for (seed, from) in (0..6).zip([6 * PER_DAY, 5 * PER_DAY + 120].into_iter().cycle()) {
        let mut series = week(seed);
        add(&mut series, release(from));
        let findings = found(&series);
        let cpu = &findings.resources[0];
        let change = cpu.change.unwrap();
        let late_sec = change.since_sec - series.instant_sec(from);
        assert!(late_sec.abs() <= 3.0 * STEP_SEC && change.is_judged_alone, "{change:?}");
        assert!((0.3..0.5).contains(&change.share()), "{change:?}");
        assert_eq!((cpu.background_work, cpu.left_out.background), (None, 0));
        let truth = (4.0 - BACKGROUND) / (1.5 * PER_REQUEST);
        let full_at = cpu.full_at().unwrap();
        assert!((full_at.value / truth - 1.0).abs() < 0.08, "{full_at:?}");
    }
}

#[test]
fn a_nightly_job_next_to_a_release_is_background() {
    let mut series = week(20);
    add(&mut series, nightly);
    add(&mut series, release(6 * PER_DAY));
    let findings = found(&series);
    let cpu = &findings.resources[0];
    let work = cpu.background_work.unwrap();
    assert_eq!((work.daily_at_sec, cpu.change.unwrap().is_judged_alone), (Some(7_200.0), true));
    assert!((work.mean_extra - 1.5).abs() < 0.1, "{work:?}");
    let truth = (4.0 - BACKGROUND) / (1.5 * PER_REQUEST);
    assert!((cpu.full_at().unwrap().value / truth - 1.0).abs() < 0.08, "{:?}", cpu.full_at());
}

#[test]
fn a_job_under_way_at_the_end_is_background_if_it_comes_daily() {
    let mut series = days(21, INSTANTS + 15, (100.0, 400.0));
    series.resources = vec![cpu(&series, 21, linear)];
    let mut once = series.clone();
    add(&mut series, nightly);
    let cpu = &found(&series).resources[0];
    assert_eq!((cpu.left_out.background, cpu.change), (27, None));

    add(&mut once, |at, _| if at >= INSTANTS + 5 { 1.5 } else { 0.0 });
    let cpu = &found(&once).resources[0];
    let change = cpu.change.unwrap();
    assert_eq!(change.since_sec, once.instant_sec(INSTANTS + 5));
    assert!(!change.is_judged_alone && change.share() > 1.0, "{change:?}");
    assert_eq!((cpu.background_work, cpu.left_out.before_change), (None, 0));
}

#[test]
fn what_requests_cost_at_their_time_of_day_is_no_change() {
    let mut series = week(22);
    // A fifth more in the evening, with which the time ends.
    add(&mut series, |at, rate| if at % PER_DAY >= 110 { 0.2 * PER_REQUEST * rate } else { 0.0 });
    let cpu = &found(&series).resources[0];
    assert!(cpu.change.is_none(), "{:?}", cpu.change);
    let bent = found(&with_cpu(3, |rate| BACKGROUND + 0.002 * rate + 0.000_01 * rate * rate));
    assert_eq!(bent.resources[0].change, None);
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
fn the_interval_of_a_law_that_bends_upwards_reaches_down_to_where_the_cost_rises_on() {
    let mut series = with_cpu(3, |rate| BACKGROUND + 0.002 * rate + 0.000_01 * rate * rate);
    series.resources[0].capacity = Some(12.0);
    let full_at = found(&series).resources[0].full_at().unwrap();
    // 0.3 + 0.002 λ + 0.00001 λ² = 12; along the tangent it is some 1,340.
    assert!(covers(full_at, 986.0) && (1_200.0..1_500.0).contains(&full_at.value), "{full_at:?}");
    assert!(full_at.interval.unwrap().1 < 1_600.0, "{full_at:?}");
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

/// A CPU that is known at rates between two alone, as if recording had begun late.
fn known_between(low: f64, high: f64) -> ProductionSeries {
    let mut series = days(25, INSTANTS, (100.0, 1_000.0));
    series.resources = vec![ResourceSeries { capacity: Some(10.0), ..cpu(&series, 25, linear) }];
    let rates = series.rate_per_sec.iter().flatten();
    for (usage, rate) in series.resources[0].usage.iter_mut().zip(rates) {
        *usage = usage.filter(|_| (low..high).contains(rate));
    }
    series
}

#[test]
fn a_resource_is_judged_by_the_rates_at_which_it_is_known() {
    let findings = found(&known_between(300.0, 360.0));
    assert!(findings.resources[0].points.used.len() >= 20);
    assert_eq!(findings.resources[0].law, ProductionLaw::TooLittleVariation);
    assert_eq!(findings.limit, ProductionLimit::Unknown(LimitUnknown::TooLittleVariation));
    // (10 − 0.3) / 0.004 is less than four times the highest rate of all, and more than that of its own.
    let findings = found(&known_between(300.0, 500.0));
    let cpu = &findings.resources[0];
    assert_eq!(cpu.demand.unwrap().full_at, FullAt::Beyond(4.0 * cpu.highest_rate().unwrap()));
    assert!(cpu.highest_rate().unwrap() < 500.0 && findings.rate.unwrap().highest > 950.0);
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
fn what_is_full_at_a_part_of_the_busy_points_does_not_hide_the_limit() {
    let first = |findings: &ProductionFindings| match findings.limit {
        ProductionLimit::Known { first, .. } => findings.resources[first].kind,
        ProductionLimit::Unknown(why) => panic!("{why:?}"),
    };
    // It goes up and down by much, and is full at one point at noon.
    let mut noise = Noise::new(13);
    let unclear: Vec<f64> = (0..INSTANTS).map(|_| if noise.normal() > 0.0 { 3.6 } else { 0.1 }).collect();
    let findings = found(&with_link(|at, _| if at % PER_DAY == 72 { 4.0 } else { unclear[at] }));
    let cpu = findings.resources.iter().find(|one| one.kind == ProductionKind::HostCpu).unwrap();
    assert!(cpu.law == ProductionLaw::Unclear && cpu.left_out.full == 4, "{cpu:?}");
    assert_eq!(first(&findings), ProductionKind::NetworkOut);
    // A job of the night that uses all of its quota, and is not there by day.
    let mut series = with_link(|_, _| 4.0);
    for (at, usage) in series.resources[0].usage.iter_mut().enumerate() {
        *usage = usage.filter(|_| at % PER_DAY < 5);
    }
    assert_eq!(first(&found(&series)), ProductionKind::NetworkOut);
}

#[test]
fn a_disk_that_is_busy_all_the_time_is_no_answer_unless_there_is_no_other() {
    let mut series = with_link(|_, _| 3.9);
    series.resources[0].kind = ProductionKind::Disk;
    let findings = found(&series);
    let ProductionLimit::Known { first, .. } = findings.limit else { panic!("{:?}", findings.limit) };
    assert_eq!(findings.resources[first].kind, ProductionKind::NetworkOut);
    series.resources.truncate(1);
    assert_eq!(found(&series).limit, ProductionLimit::Unknown(LimitUnknown::Full(0)));
}

#[test]
fn two_are_tied_if_the_second_may_be_full_before_the_first() {
    let tied = |other: (f64, f64, f64)| {
        let mut findings = found(&with_link(|_, usage| usage));
        let rates = [(900.0, 850.0, 950.0), other];
        for (resource, (value, lower, upper)) in findings.resources.iter_mut().zip(rates) {
            let full_at = FullAt::At(Estimate { value, interval: Some((lower, upper)) });
            resource.demand = resource.demand.map(|demand| ProductionDemand { full_at, ..demand });
        }
        let [first, second] = &findings.resources[..] else { panic!("{:?}", findings.resources) };
        let is_tied = match limit(findings.rate.as_ref(), &findings.resources) {
            ProductionLimit::Known { first: 0, tied } => tied == [1],
            other => panic!("{other:?}"),
        };
        (is_tied, second.may_fill_with(first))
    };
    assert_eq!(tied((1_000.0, 500.0, 2_000.0)), (true, true));
    assert_eq!(tied((940.0, 951.0, 960.0)), (true, false));
    assert_eq!(tied((1_000.0, 960.0, 1_100.0)), (false, false));
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
    let ended = series.resources.pop().unwrap();
    let findings = found(&series);
    // The smaller of the two fills first, and the sum of both is no other resource.
    assert_eq!(findings.resources[0].instances, Instances::One("b".to_owned()));
    assert_eq!(findings.limit, ProductionLimit::Known { first: 0, tied: Vec::new() });
    series.resources.push(ended);
    series.resources[2].usage[100..].fill(None);
    let findings = found(&series);
    let of = |instances: Instances| {
        findings.resources.iter().find(|resource| resource.instances == instances).unwrap()
    };
    let sum = |now| Instances::Sum(InstanceCount { now, least: 2, most: 3 });
    // Each had another part of the rate while there were three.
    let ProductionLimit::Known { first, .. } = findings.limit else { panic!("{:?}", findings.limit) };
    assert_eq!(findings.resources[first].instances, sum(2));
    assert!(of(Instances::One("b".to_owned())).full_at().is_some());
    assert_eq!(of(Instances::One("c".to_owned())).law, ProductionLaw::NotThroughout);
    assert_eq!(of(sum(2)).capacity, Some(3.5), "what ended has no capacity");
    // One that came and ended just before the end, before its capacity was recorded.
    let last = &mut series.resources[2];
    last.usage[..100].fill(None);
    last.usage[500..INSTANTS - 1].fill(Some(0.5));
    last.capacity = None;
    let findings = found(&series);
    let sum = findings.resources.iter().find(|resource| resource.instances == sum(2));
    assert_eq!(sum.unwrap().capacity, Some(3.5));
}

#[test]
fn pods_that_replaced_others_just_before_the_end_are_those_of_the_answer() {
    let mut series = day(26);
    let release = INSTANTS - 30;
    let mut pod = |seed: u64, name: &str, cores: f64| {
        let one = cpu(&series, seed, |rate| 0.1 + PER_REQUEST / 2.0 * rate);
        let usage = one.usage.iter().enumerate();
        let usage = usage.map(|(at, usage)| usage.filter(|_| (at < release) == name.starts_with("old")));
        let (usage, instance) = (usage.collect(), Some(name.to_owned()));
        series.resources.push(ResourceSeries { instance, capacity: Some(cores), usage, ..one });
    };
    pod(26, "old-a", 2.0);
    pod(27, "old-b", 2.0);
    pod(28, "new-a", 1.5);
    pod(29, "new-b", 1.5);
    let findings = found(&series);
    let (sum, pods): (Vec<&ResourceFinding>, Vec<_>) =
        findings.resources.iter().partition(|one| one.count().is_some());
    assert!(pods.len() == 4 && pods.iter().all(|pod| pod.law == ProductionLaw::NotThroughout), "{pods:?}");
    assert_eq!((sum[0].count().unwrap().now, sum[0].capacity, sum[0].left_out.missing), (2, Some(3.0), 0));
    assert_eq!(findings.limit, ProductionLimit::Known { first: 0, tied: Vec::new() });
    let full_at = sum[0].full_at().unwrap().value;
    assert!((full_at / 700.0 - 1.0).abs() < 0.05, "{full_at}");
    // The last scrape of one that runs is missing: there are two still.
    series.resources[3].usage[INSTANTS - 1] = None;
    let sum = &found(&series).resources[0];
    assert_eq!((sum.count().unwrap().now, sum.capacity), (2, Some(3.0)));
}

/// Between 2 and 10 pods of one core each, as many as 70 % of them need for 20 ms a request.
fn scaled(instants: usize) -> ProductionSeries {
    let mut series = days(23, instants, (50.0, 400.0));
    let (per_request, mut noise) = (0.02, Noise::new(24));
    let mut pods = vec![vec![None; instants]; 10];
    for (at, rate) in series.rate_per_sec.iter().flatten().enumerate() {
        let count = (per_request * rate / 0.7).ceil().clamp(2.0, 10.0);
        for pod in pods.iter_mut().take(count as usize) {
            pod[at] = Some(per_request * rate / count + 0.01 + 0.01 * noise.normal());
        }
    }
    let one = |(name, usage): (usize, Vec<Option<f64>>)| ResourceSeries {
        kind: ProductionKind::ContainerCpu,
        of: "shop/api".to_owned(),
        instance: Some(format!("api-{name}")),
        unit: AmountUnit::Cores,
        scale: 1.0,
        usage,
        capacity: Some(1.0),
    };
    series.resources = pods.into_iter().enumerate().map(one).collect();
    series
}

#[test]
fn pods_that_are_scaled_are_judged_by_what_there_was_and_answer_for_those_of_now() {
    let findings = found(&scaled(INSTANTS));
    let ProductionLimit::Known { first, .. } = findings.limit else { panic!("{:?}", findings.limit) };
    let sum = &findings.resources[first];
    assert_eq!(sum.count(), Some(InstanceCount { now: 2, least: 2, most: 10 }));
    assert_eq!((sum.capacity, sum.left_out.full), (Some(2.0), 0));
    let full_at = sum.full_at().unwrap().value;
    assert!((full_at / 100.0 - 1.0).abs() < 0.1, "{full_at}");
    assert!(
        findings
            .resources
            .iter()
            .all(|one| one.law != ProductionLaw::NotThroughout || one.points.used.is_empty())
    );
    // Asked at noon, the ten of then are full later.
    let noon = found(&scaled(INSTANTS - PER_DAY / 2 + 1));
    let sum = noon.resources.iter().find_map(|one| Some((one.count()?, one.full_at()?.value))).unwrap();
    assert!(sum.0.now == 10 && (sum.1 / 500.0 - 1.0).abs() < 0.1, "{sum:?}");
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

//! The machines needed in each hour, for a rate that changes over the day.

use std::collections::BTreeMap;

use super::cost::{PlanCost, PricedMachines, price_plan};
use super::observed::Observed;
use super::plan::{MachinePlan, Machines, TierPlan, plan_machines};
use super::price::{Currency, PriceList};
use super::terms::Goal;

/// One row of a rate curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The number of the hour, from any origin.
    pub hour: i64,
    /// The hour as the user writes it, such as `09:00` or `2026-01-05 09:00`.
    pub label: String,
    /// Requests per second; 0 or above.
    pub per_sec: f64,
}

/// The highest rate of each hour.
#[derive(Debug, Clone, PartialEq)]
pub struct RateCurve {
    hours: BTreeMap<i64, (String, f64)>,
    /// True if its rows are of several days that it does not distinguish.
    merges_days: bool,
}

/// The machines of one hour.
#[derive(Debug, Clone, PartialEq)]
pub struct HourPlan {
    pub hour: i64,
    pub label: String,
    /// The highest rate within the hour.
    pub peak_per_sec: f64,
    /// Machines of each tier, in the order of the plan; `None` where the number is not known.
    pub machines: Vec<Option<Machines>>,
    /// Machines by size at the lowest cost; empty for a tier without a price or a number.
    pub sizes: Vec<Vec<PricedMachines>>,
    /// Their cost, without the tiers in [`DayCost::without`]; `None` without prices, where no tier is left, and where one of the others
    /// has no number in this hour.
    pub cost: Option<f64>,
}

/// Machine-hours of a tier over all hours.
#[derive(Debug, Clone, PartialEq)]
pub struct TierHours {
    pub tier: String,
    /// With the machines of each hour; `None` if one is not known.
    pub by_hour: Option<u64>,
    /// With the machines of the peak in all hours.
    pub constant: Option<u64>,
}

/// The plan of a day.
#[derive(Debug, Clone, PartialEq)]
pub struct DayPlan {
    /// The plan of the highest rate.
    pub peak: MachinePlan,
    /// Its cost; `None` without prices.
    pub peak_cost: Option<PlanCost>,
    pub hours: Vec<HourPlan>,
    /// Hours between the first and the last without a row in the curve; they are in no sum.
    pub missing: Vec<i64>,
    /// True if the rows are of several days; each hour then has the highest rate of all days.
    pub merges_days: bool,
    pub tiers: Vec<TierHours>,
    /// `None` without prices, and where no tier has a price and a number at the peak.
    pub cost: Option<DayCost>,
}

/// The cost of a day.
#[derive(Debug, Clone, PartialEq)]
pub struct DayCost {
    pub currency: Currency,
    /// With the machines of each hour; hours of unknown cost are left out.
    pub by_hour: f64,
    pub constant: f64,
    /// Tiers without a price, or without a number of machines at the peak.
    pub without: Vec<String>,
    /// True if it may cost more: a tier is left out, a tier may need more machines in an hour, or the cost of an hour is not known.
    pub at_least: bool,
}

impl RateCurve {
    /// Takes the highest rate of each hour; `None` if no rate is above 0.
    pub fn new(points: impl IntoIterator<Item = CurvePoint>) -> Option<Self> {
        let mut hours: BTreeMap<i64, (String, f64)> = BTreeMap::new();
        for CurvePoint { hour, label, per_sec } in points {
            let known = hours.entry(hour).or_insert((label, 0.0));
            known.1 = known.1.max(per_sec);
        }
        Some(Self { hours, merges_days: false }).filter(|curve| curve.peak_per_sec() > 0.0)
    }

    /// Sets whether the rows are of several days that the curve does not distinguish.
    #[must_use]
    pub fn merging_days(self, merges_days: bool) -> Self {
        Self { merges_days, ..self }
    }

    /// The highest rate, requests per second.
    pub fn peak_per_sec(&self) -> f64 {
        self.hours.values().map(|(_, per_sec)| *per_sec).fold(0.0, f64::max)
    }
}

/// Plans each hour for its highest rate. With prices, the cheapest sizes are counted.
pub fn plan_day(
    observed: &Observed,
    curve: &RateCurve,
    utilisation: f64,
    prices: Option<&PriceList>,
) -> DayPlan {
    let plan = |target_per_sec| plan_machines(observed, Goal { target_per_sec, utilisation });
    let peak = plan(curve.peak_per_sec());
    let peak_cost = prices.map(|prices| price_plan(&peak, prices));
    // Costs are only comparable over the same tiers: those with a cost at the peak.
    let counted: Vec<String> =
        peak_cost.iter().flat_map(|cost| &cost.tiers).map(|cost| cost.tier.clone()).collect();
    let hour = |(hour, (label, per_sec)): (&i64, &(String, f64))| {
        let (hour, label, peak_per_sec) = (*hour, label.clone(), *per_sec);
        let Priced { machines, sizes, cost } = Priced::new(&plan(peak_per_sec), prices, &counted);
        HourPlan { hour, label, peak_per_sec, machines, sizes, cost }
    };
    let hours: Vec<HourPlan> = curve.hours.iter().map(hour).collect();
    let constant = Priced::new(&peak, prices, &counted).machines;
    let tiers = peak.tiers.iter().enumerate().map(|(index, tier)| TierHours {
        tier: tier.tier.clone(),
        by_hour: hours.iter().map(|hour| hour.machines[index].map(|machines| machines.count)).sum(),
        constant: constant[index].map(|machines| machines.count * hours.len() as u64),
    });
    let tiers = tiers.collect();
    let cost = peak_cost.as_ref().and_then(|cost| day_cost(cost, &hours));
    let known = |hour: &i64| curve.hours.contains_key(hour);
    let span = curve.hours.keys().next().zip(curve.hours.keys().next_back());
    let missing =
        span.map_or_else(Vec::new, |(first, last)| (*first..*last).filter(|hour| !known(hour)).collect());
    DayPlan { peak, peak_cost, hours, missing, merges_days: curve.merges_days, tiers, cost }
}

/// The cost of all hours, and of the peak's machines in all of them; `None` if no tier has a cost at the peak.
fn day_cost(peak: &PlanCost, hours: &[HourPlan]) -> Option<DayCost> {
    let mut machines = hours.iter().flat_map(|hour| &hour.machines).flatten();
    let may_need_more = machines.any(|machines| machines.at_least);
    let is_unknown = hours.iter().any(|hour| hour.cost.is_none());
    Some(DayCost {
        currency: peak.currency.clone(),
        by_hour: hours.iter().filter_map(|hour| hour.cost).sum(),
        constant: peak.per_hour? * hours.len() as f64,
        without: peak.without.clone(),
        at_least: !peak.without.is_empty() || may_need_more || is_unknown,
    })
}

/// The machines of a plan with their prices, as in [`HourPlan`].
struct Priced {
    machines: Vec<Option<Machines>>,
    sizes: Vec<Vec<PricedMachines>>,
    cost: Option<f64>,
}

impl Priced {
    /// Prices a plan. `counted` are the tiers that the cost includes.
    fn new(plan: &MachinePlan, prices: Option<&PriceList>, counted: &[String]) -> Self {
        let cost = prices.map(|prices| price_plan(plan, prices));
        let of_tier =
            |name: &String| cost.iter().flat_map(|cost| &cost.tiers).find(|cost| cost.tier == *name);
        let sizes = |tier: &TierPlan| of_tier(&tier.tier).map_or_else(Vec::new, |cost| cost.machines.clone());
        let sizes: Vec<Vec<PricedMachines>> = plan.tiers.iter().map(sizes).collect();
        let machines =
            plan.tiers.iter().zip(&sizes).map(|(tier, sizes)| Some(counted_by(sizes, tier.machines?)));
        // A sum without one of them would look cheaper.
        let total: Option<f64> = counted.iter().map(|name| of_tier(name).map(|cost| cost.per_hour)).sum();
        Self { machines: machines.collect(), cost: total.filter(|_| !counted.is_empty()), sizes }
    }
}

/// The number of machines at the lowest cost, where it differs from the number of the planned size.
fn counted_by(sizes: &[PricedMachines], machines: Machines) -> Machines {
    let count = sizes.iter().map(|machines| machines.count).sum::<u64>();
    let is_other = sizes.len() > 1 || count != machines.count;
    // The interval is for machines of one size.
    if sizes.is_empty() || !is_other { machines } else { Machines { count, range: None, ..machines } }
}

#[cfg(test)]
mod tests {
    use super::super::demand::TierDemand;
    use super::super::doubt::Doubt;
    use super::super::observed::{ObservedTier, SizedDemands};
    use super::super::scaling::Scaling;
    use super::super::size::MachineSize;
    use super::super::terms::TierResource;
    use super::*;
    use crate::Estimate;

    /// A request takes 1 ms of a core, on machines of these sizes; the first is planned.
    fn observed(cores: &[f64]) -> Observed {
        let planned = cores[0];
        let demand =
            |cores: f64| TierDemand { capacity: Some(cores), ..TierDemand::of_core(Estimate::exact(1e-3)) };
        let size = |cores: &f64| SizedDemands {
            size: MachineSize { cores: Some(*cores), ..MachineSize::default() },
            is_planned: *cores == planned,
            demands: vec![demand(*cores)],
        };
        let tier = ObservedTier {
            name: "api".to_owned(),
            demands: vec![demand(planned)],
            sizes: cores.iter().map(size).collect(),
            ..ObservedTier::default()
        };
        Observed { tiers: vec![tier], ..Observed::default() }
    }

    fn curve(rates: &[(i64, f64)]) -> RateCurve {
        let point = |(hour, per_sec): &(i64, f64)| CurvePoint {
            hour: *hour,
            label: format!("{hour:02}:00"),
            per_sec: *per_sec,
        };
        RateCurve::new(rates.iter().map(point)).unwrap()
    }

    fn prices(texts: &[&str]) -> PriceList {
        PriceList::new(texts.iter().map(|text| text.parse().unwrap()).collect()).unwrap().unwrap()
    }

    fn counts(day: &DayPlan) -> Vec<u64> {
        day.hours.iter().map(|hour| hour.machines[0].unwrap().count).collect()
    }

    #[test]
    fn each_hour_has_the_machines_of_its_highest_rate() {
        let day =
            plan_day(&observed(&[1.0]), &curve(&[(0, 100.0), (0, 900.0), (1, 0.0), (3, 2_000.0)]), 0.7, None);
        // 700/s a machine.
        assert_eq!(counts(&day), [2, 1, 3]);
        assert_eq!(day.missing, [2]);
        assert_eq!((day.tiers[0].by_hour, day.tiers[0].constant), (Some(6), Some(9)));
        assert_eq!(day.cost, None);
        assert_eq!(RateCurve::new([]), None);
    }

    #[test]
    fn the_cost_of_a_day_is_that_of_each_hours_machines() {
        let day = plan_day(
            &observed(&[1.0]),
            &curve(&[(0, 1_300.0), (1, 600.0)]),
            0.7,
            Some(&prices(&["api=$2/h"])),
        );
        let cost = day.cost.unwrap();
        assert_eq!((cost.by_hour, cost.constant, cost.currency.symbol.as_str()), (6.0, 8.0, "$"));
    }

    #[test]
    fn a_tier_that_no_number_of_machines_carries_at_the_peak_is_in_neither_cost() {
        let mut observed = observed(&[1.0]);
        let web = ObservedTier { name: "web".to_owned(), ..observed.tiers[0].clone() };
        // It loses so much to each further machine that none carry the peak.
        let points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|n| (n, 900.0 * n / (1.0 + 0.1 * n * (n - 1.0))));
        observed.tiers.push(ObservedTier { scaling: Scaling::fit(points.to_vec()), ..web });
        let curve = curve(&[(0, 600.0), (1, 60_000.0)]);
        let day = plan_day(&observed, &curve, 0.7, Some(&prices(&["api=1/h", "web=5/h"])));
        assert!(day.hours[0].machines[1].is_some() && day.hours[1].machines[1].is_none(), "{day:?}");
        let cost = day.cost.unwrap();
        assert_eq!((cost.by_hour, cost.constant, cost.without), (87.0, 172.0, vec!["web".to_owned()]));
    }

    #[test]
    fn a_day_in_which_nothing_has_a_number_at_the_peak_has_no_cost() {
        let mut observed = observed(&[1.0]);
        let points = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|n| (n, 900.0 * n / (1.0 + 0.1 * n * (n - 1.0))));
        observed.tiers[0].scaling = Scaling::fit(points.to_vec());
        let curve = curve(&[(0, 600.0), (1, 60_000.0)]);
        let day = plan_day(&observed, &curve, 0.7, Some(&prices(&["api=1/h"])));
        assert!(day.cost.is_none() && day.hours.iter().all(|hour| hour.cost.is_none()), "{day:?}");
        let peak = day.peak_cost.unwrap();
        assert_eq!((peak.per_hour, peak.per_million, peak.at_least()), (None, None, true));
    }

    #[test]
    fn a_cost_that_leaves_a_tier_out_is_a_least_one() {
        let mut observed = observed(&[1.0]);
        observed.tiers.push(ObservedTier { name: "web".to_owned(), ..observed.tiers[0].clone() });
        let at_least = |list: &[&str]| {
            plan_day(&observed, &curve(&[(0, 600.0)]), 0.7, Some(&prices(list))).cost.unwrap().at_least
        };
        assert!(at_least(&["api=1/h"]) && !at_least(&["api=1/h", "web=1/h"]));
    }

    #[test]
    fn a_tier_whose_machines_idle_above_the_goal_has_no_number_and_no_cost() {
        let mut observed = observed(&[1.0]);
        let demand = observed.tiers[0].demands[0].clone();
        observed.tiers[0].demands.push(TierDemand { resource: TierResource::Thread, idle: 0.8, ..demand });
        let plan = |utilisation| plan_machines(&observed, Goal { target_per_sec: 1_000.0, utilisation });
        let (full, fuller) = (plan(0.7), plan(0.9));
        assert_eq!(full.tiers[0].machines, None);
        assert!(
            matches!(full.tiers[0].doubts[..], [Doubt::IdleUsesAll { .. }]),
            "{:?}",
            full.tiers[0].doubts
        );
        assert_eq!(price_plan(&full, &prices(&["api=1/h"])).without, ["api"]);
        assert_eq!(fuller.tiers[0].machines.unwrap().count, 10);
    }

    #[test]
    fn an_hour_in_which_a_tier_has_no_number_has_no_cost_and_the_sum_is_a_least_one() {
        let mut observed = observed(&[1.0]);
        // Four machines carry less than two, and eight more than both.
        let points = vec![(2.0, 1_900.0), (4.0, 900.0), (8.0, 8_000.0)];
        observed.tiers[0].scaling = Scaling::fit(points);
        let curve = curve(&[(0, 3_000.0), (1, 5_600.0)]);
        let day = plan_day(&observed, &curve, 0.7, Some(&prices(&["api=1/h"])));
        assert!(day.hours[0].machines[0].is_none() && day.tiers[0].by_hour.is_none(), "{day:?}");
        assert_eq!(day.hours.iter().map(|hour| hour.cost).collect::<Vec<_>>(), [None, Some(8.0)]);
        let cost = day.cost.unwrap();
        assert_eq!((cost.by_hour, cost.constant, cost.at_least), (8.0, 16.0, true));
    }

    #[test]
    fn an_hour_takes_the_cheapest_machines_that_carry_it() {
        // A machine with half a core carries 350/s for 0.6, one with a core 700/s for 1.
        let list = prices(&["api@0.5=0.6/h", "api@1=1/h"]);
        let day = plan_day(
            &observed(&[0.5, 1.0]),
            &curve(&[(0, 300.0), (1, 1_000.0), (2, 1_400.0)]),
            0.7,
            Some(&list),
        );
        assert_eq!(counts(&day), [1, 2, 2]);
        let costs: Vec<f64> = day.hours.iter().filter_map(|hour| hour.cost).collect();
        assert_eq!(costs, [0.6, 1.6, 2.0]);
        let mixed: Vec<(Option<f64>, u64)> = day.hours[1].sizes[0]
            .iter()
            .map(|machines| (machines.size.and_then(|size| size.cores), machines.count))
            .collect();
        assert_eq!(mixed, [(Some(0.5), 1), (Some(1.0), 1)]);
        let plan = plan_machines(&observed(&[0.5, 1.0]), Goal { target_per_sec: 1_000.0, utilisation: 0.7 });
        let cost = price_plan(&plan, &list);
        assert_eq!(cost.tiers[0].alone.iter().map(|alone| alone.count).collect::<Vec<_>>(), [3, 2]);
        // 1.6 an hour for 3.6 million requests.
        assert!((cost.per_million.unwrap() - 1.6 / 3.6).abs() < 1e-12);
    }

    #[test]
    fn a_price_of_one_size_is_that_of_as_many_machines_of_this_size() {
        // The plan is of machines with a core: 700/s each. Those with half a core carry 350/s.
        let plan = plan_machines(&observed(&[1.0, 0.5]), Goal { target_per_sec: 1_000.0, utilisation: 0.7 });
        assert_eq!(plan.tiers[0].machines.unwrap().count, 2);
        let cost = price_plan(&plan, &prices(&["api@0.5=0.6/h"]));
        let tier = &cost.tiers[0];
        assert_eq!((tier.machines.len(), tier.machines[0].count), (1, 3));
        assert_eq!(tier.machines[0].size.unwrap().cores, Some(0.5));
        assert!((cost.per_hour.unwrap() - 1.8).abs() < 1e-12 && tier.alone.is_empty());
        let size_of_plan = price_plan(&plan, &prices(&["api@1=1/h"]));
        assert_eq!(size_of_plan.tiers[0].machines[0].count, 2);
    }

    #[test]
    fn a_price_without_a_size_is_of_the_machines_that_are_planned() {
        // Those with a tenth of a core were there to press the tier.
        let observed = observed(&[1.0, 0.1]);
        let plan = plan_machines(&observed, Goal { target_per_sec: 1_000.0, utilisation: 0.7 });
        let cost = |list: &[&str]| price_plan(&plan, &prices(list)).tiers.remove(0);
        let tier = cost(&["api=1/h"]);
        assert_eq!((tier.machines[0].count, tier.machines[0].size.unwrap().cores), (2, Some(1.0)));
        assert!(tier.machines.len() == 1 && tier.alone.is_empty(), "{tier:?}");
        let day = plan_day(&observed, &curve(&[(0, 1_000.0)]), 0.7, Some(&prices(&["api=1/h"])));
        assert_eq!((counts(&day), day.hours[0].cost), (vec![2], Some(2.0)));
        // Fifteen of a tenth of a core carry 1,050/s, for less than two of a whole one.
        let small = cost(&["api=1/h", "api@0.1=0.05/h"]);
        assert_eq!((small.machines[0].count, small.alone.len()), (15, 2));
    }

    #[test]
    fn machines_of_another_size_are_as_many_times_more_as_the_law_raises_the_number() {
        // By demand 8.2 machines of a core; the law asks for 12.
        let mut observed = observed(&[1.0, 0.5]);
        let points = [2.0, 4.0, 11.0].map(|n| (n, 500.0 * n)).to_vec();
        observed.tiers[0].scaling = Scaling::fit(points);
        let plan = plan_machines(&observed, Goal { target_per_sec: 8_200.0, utilisation: 1.0 });
        assert_eq!(plan.tiers[0].machines.unwrap().count, 12);
        let cost = price_plan(&plan, &prices(&["api@1=1/h", "api@0.5=1/h"]));
        let alone: Vec<u64> = cost.tiers[0].alone.iter().map(|alone| alone.count).collect();
        assert_eq!(alone, [12, 24]);
    }

    #[test]
    fn a_tier_without_a_price_is_named() {
        let plan = plan_machines(&observed(&[1.0]), Goal { target_per_sec: 1_000.0, utilisation: 0.7 });
        let cost = price_plan(&plan, &prices(&["web=1/h"]));
        assert_eq!((cost.without.as_slice(), cost.per_hour), (&["api".to_owned()][..], None));
        assert!(prices(&["web=1/h"]).check(&observed(&[1.0])).is_err());
        assert!(prices(&["api@2=1/h"]).check(&observed(&[1.0])).is_err());
        assert_eq!(prices(&["api@1=1/h"]).check(&observed(&[1.0])), Ok(()));
    }
}

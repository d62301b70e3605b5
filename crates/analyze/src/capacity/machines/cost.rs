//! The cost of a plan's machines; the cheapest mix where machines of several sizes were measured.

use super::mix::{CheapestMix, Offer, cheapest};
use super::plan::{MachinePlan, SizeRate, TierPlan};
use super::price::{Currency, PriceList};
use super::size::MachineSize;
use super::terms::Goal;

/// Costs are given per million requests.
const MILLION: f64 = 1e6;
const SEC_PER_HOUR: f64 = 3_600.0;

/// Machines of one size, with their price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PricedMachines {
    /// `None` where the size is not known.
    pub size: Option<MachineSize>,
    pub count: u64,
    /// The price of one machine.
    pub per_hour: f64,
}

/// The cost of the machines of a tier.
#[derive(Debug, Clone, PartialEq)]
pub struct TierCost {
    pub tier: String,
    /// Machines of each size, without sizes of which none is taken.
    pub machines: Vec<PricedMachines>,
    pub per_hour: f64,
    /// True if more machines may be needed.
    pub at_least: bool,
    /// The machines of each size that would do alone, where several sizes have a price.
    pub alone: Vec<PricedMachines>,
    /// False if there were too many combinations to try all of them.
    pub is_exact: bool,
}

/// The cost of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCost {
    pub currency: Currency,
    pub tiers: Vec<TierCost>,
    /// Tiers that are left out: without a price, or without a number of machines.
    pub without: Vec<String>,
    /// The sum over the tiers; `None` if all are left out.
    pub per_hour: Option<f64>,
    /// The cost of a million requests at the target rate.
    pub per_million: Option<f64>,
}

impl PlanCost {
    /// True if it may cost more: a tier may need more machines, or is left out.
    pub fn at_least(&self) -> bool {
        !self.without.is_empty() || self.tiers.iter().any(|tier| tier.at_least)
    }
}

/// Computes the cost of a plan.
pub fn price_plan(plan: &MachinePlan, prices: &PriceList) -> PlanCost {
    let cost = |tier: &TierPlan| (tier.tier.clone(), tier_cost(tier, plan.goal, prices));
    let (priced, without): (Vec<_>, Vec<_>) =
        plan.tiers.iter().map(cost).partition(|(_, cost)| cost.is_some());
    let tiers: Vec<TierCost> = priced.into_iter().filter_map(|(_, cost)| cost).collect();
    let without = without.into_iter().map(|(tier, _)| tier).collect();
    // Without any price the sum is unknown, not 0.
    let per_hour: Option<f64> = (!tiers.is_empty()).then(|| tiers.iter().map(|tier| tier.per_hour).sum());
    let per_million = per_hour.map(|per_hour| per_hour / (plan.goal.target_per_sec * SEC_PER_HOUR) * MILLION);
    PlanCost { currency: prices.currency.clone(), tiers, without, per_hour, per_million }
}

fn tier_cost(tier: &TierPlan, goal: Goal, prices: &PriceList) -> Option<TierCost> {
    let machines = tier.machines?;
    // A price without a size is for planned machines only: others may have existed just for a measurement.
    let is_offered = |rate: &&SizeRate| rate.is_planned || prices.names(&tier.tier, &rate.size);
    let offer = |rate: &SizeRate| {
        let per_sec = rate.per_sec.filter(|per_sec| *per_sec > 0.0)?;
        Some((rate.size, Offer { per_sec, per_hour: prices.per_hour(&tier.tier, Some(&rate.size))? }))
    };
    let offers: Vec<(MachineSize, Offer)> = tier.sizes.iter().filter(is_offered).filter_map(offer).collect();
    let size = tier.sizes.iter().find(|rate| rate.is_planned).map(|rate| rate.size);
    // The plan's number of machines holds for the planned size only.
    if offers.iter().any(|(offered, _)| Some(*offered) != size) {
        return mixed(tier, goal, &offers);
    }
    let per_hour = prices.per_hour(&tier.tier, size.as_ref())?;
    let count = machines.count;
    Some(TierCost {
        tier: tier.tier.clone(),
        machines: vec![PricedMachines { size, count, per_hour }],
        per_hour: count as f64 * per_hour,
        at_least: machines.at_least,
        alone: Vec::new(),
        is_exact: true,
    })
}

/// The factor by which scaling needs more machines than the demands do; each machine carries less by this factor.
fn raised(tier: &TierPlan) -> f64 {
    let by_demand = tier.needs.first().map_or(0.0, |need| need.machines);
    let planned = tier.machines.map_or(0.0, |machines| machines.count as f64);
    if by_demand > 0.0 && planned > by_demand.ceil() { planned / by_demand } else { 1.0 }
}

/// The cheapest mix of machines of the sizes that have a price; at least one machine, whatever the rate.
fn mixed(tier: &TierPlan, goal: Goal, offers: &[(MachineSize, Offer)]) -> Option<TierCost> {
    let plain: Vec<Offer> = offers.iter().map(|(_, offer)| *offer).collect();
    let least = plain.iter().map(|offer| offer.per_sec).fold(f64::MAX, f64::min);
    let rate = (raised(tier) * goal.target_per_sec).max(least * f64::EPSILON);
    let CheapestMix { counts, per_hour, is_exact } = cheapest(&plain, rate)?;
    let priced = |(size, offer): &(MachineSize, Offer), count: u64| PricedMachines {
        size: Some(*size),
        count,
        per_hour: offer.per_hour,
    };
    let machines = offers.iter().zip(counts).map(|(offer, count)| priced(offer, count));
    let several = if offers.len() > 1 { offers } else { &[] };
    let alone = |offer: &(MachineSize, Offer)| Some(priced(offer, cheapest(&[offer.1], rate)?.counts[0]));
    Some(TierCost {
        tier: tier.tier.clone(),
        machines: machines.filter(|machines| machines.count > 0).collect(),
        per_hour,
        at_least: tier.machines.is_some_and(|machines| machines.at_least),
        alone: several.iter().filter_map(alone).collect(),
        is_exact,
    })
}

//! What the machines of a plan cost, and the cheapest of them where machines of several sizes were measured.

use super::mix::{CheapestMix, Offer, cheapest};
use super::plan::{MachinePlan, SizeRate, TierPlan};
use super::price::{Currency, PriceList};
use super::size::MachineSize;
use super::terms::Goal;

/// Requests that the cost of a million is for.
const MILLION: f64 = 1e6;
const SEC_PER_HOUR: f64 = 3_600.0;

/// Machines of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PricedMachines {
    /// `None` where it is not known.
    pub size: Option<MachineSize>,
    pub count: u64,
    /// What one costs.
    pub per_hour: f64,
}

/// What the machines of a tier cost.
#[derive(Debug, Clone, PartialEq)]
pub struct TierCost {
    pub tier: String,
    /// The machines of each size, those of no machine left out.
    pub machines: Vec<PricedMachines>,
    pub per_hour: f64,
    /// True if more may be needed.
    pub at_least: bool,
    /// The same with machines of one size alone, where several have a price.
    pub alone: Vec<PricedMachines>,
    /// False if there were too many combinations to try all of them.
    pub is_exact: bool,
}

/// What a plan costs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCost {
    pub currency: Currency,
    pub tiers: Vec<TierCost>,
    /// Tiers that are left out: without a price, or without a number of machines.
    pub without: Vec<String>,
    /// The sum over the tiers; `None` if all are left out.
    pub per_hour: Option<f64>,
    /// What a million requests cost at the target rate.
    pub per_million: Option<f64>,
}

impl PlanCost {
    /// True if it may cost more: a tier may need more machines, or is left out.
    pub fn at_least(&self) -> bool {
        !self.without.is_empty() || self.tiers.iter().any(|tier| tier.at_least)
    }
}

/// What a plan costs by these prices.
pub fn price_plan(plan: &MachinePlan, prices: &PriceList) -> PlanCost {
    let cost = |tier: &TierPlan| (tier.tier.clone(), tier_cost(tier, plan.goal, prices));
    let (priced, without): (Vec<_>, Vec<_>) =
        plan.tiers.iter().map(cost).partition(|(_, cost)| cost.is_some());
    let tiers: Vec<TierCost> = priced.into_iter().filter_map(|(_, cost)| cost).collect();
    let without = without.into_iter().map(|(tier, _)| tier).collect();
    // Nothing that has a price is no machines for nothing.
    let per_hour: Option<f64> = (!tiers.is_empty()).then(|| tiers.iter().map(|tier| tier.per_hour).sum());
    let per_million = per_hour.map(|per_hour| per_hour / (plan.goal.target_per_sec * SEC_PER_HOUR) * MILLION);
    PlanCost { currency: prices.currency.clone(), tiers, without, per_hour, per_million }
}

fn tier_cost(tier: &TierPlan, goal: Goal, prices: &PriceList) -> Option<TierCost> {
    let machines = tier.machines?;
    // A price without a size is of the machines that are planned: others may have been there for a measurement alone.
    let is_offered = |rate: &&SizeRate| rate.is_planned || prices.names(&tier.tier, &rate.size);
    let offer = |rate: &SizeRate| {
        let per_sec = rate.per_sec.filter(|per_sec| *per_sec > 0.0)?;
        Some((rate.size, Offer { per_sec, per_hour: prices.per_hour(&tier.tier, Some(&rate.size))? }))
    };
    let offers: Vec<(MachineSize, Offer)> = tier.sizes.iter().filter(is_offered).filter_map(offer).collect();
    let size = tier.sizes.iter().find(|rate| rate.is_planned).map(|rate| rate.size);
    // The number of the plan is of the planned size alone.
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

/// How many times as many machines the law of scalability asks for as demands do: by so much each carries less.
fn raised(tier: &TierPlan) -> f64 {
    let by_demand = tier.needs.first().map_or(0.0, |need| need.machines);
    let planned = tier.machines.map_or(0.0, |machines| machines.count as f64);
    if by_demand > 0.0 && planned > by_demand.ceil() { planned / by_demand } else { 1.0 }
}

/// The cheapest machines of the sizes that have a price. A tier has one at least, whatever the rate.
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

//! What the machines of a plan cost.

use plimsoll_analyze::{PlanCost, PricedMachines, TierCost};

use super::document::{document, each};

document! {
    /// What a plan costs.
    pub struct PlanCostDocument(cost: &PlanCost) {
        /// The currency as the user wrote it; empty where none is written.
        currency: String = &cost.currency.symbol,
        /// True if the currency stands before the number: `$0.17`, not `0.17 EUR`.
        currency_leads: bool = cost.currency.leads,
        /// The sum over the tiers, per hour; null if all are left out.
        per_hour: Option<f64> = cost.per_hour,
        /// What a million requests cost at the target rate; null if all tiers are left out.
        per_million: Option<f64> = cost.per_million,
        /// True if the plan may cost more: a tier may need more machines, or is left out.
        at_least: bool = cost.at_least(),
        /// The tiers that have a price.
        tiers: Vec<TierCostDocument> = each(&cost.tiers, TierCostDocument::new),
        /// The tiers that are left out: without a price, or without a number of machines.
        without: Vec<String> = cost.without.clone(),
    }

    /// The cheapest machines of a tier.
    pub struct TierCostDocument(tier: &TierCost) {
        /// The name of the tier.
        tier: String = &tier.tier,
        /// The machines of each size.
        machines: Vec<PricedMachinesDocument> = each(&tier.machines, PricedMachinesDocument::new),
        /// What they cost per hour.
        per_hour: f64 = tier.per_hour,
        /// True if more may be needed.
        at_least: bool = tier.at_least,
        /// The machines if all were of one size, for each size; empty unless several sizes have a price.
        alone: Vec<PricedMachinesDocument> = each(&tier.alone, PricedMachinesDocument::new),
        /// False if there were too many combinations to try all of them.
        exact: bool = tier.is_exact,
    }

    /// Machines of one size.
    pub struct PricedMachinesDocument(machines: &PricedMachines) {
        /// Cores of one machine; null where that is not known.
        cores: Option<f64> = machines.size.and_then(|size| size.cores),
        /// Inbound capacity of its link; null where no limit is known.
        in_bits_per_sec: Option<f64> = machines.size.and_then(|size| size.in_bits_per_sec),
        /// Outbound capacity of its link.
        out_bits_per_sec: Option<f64> = machines.size.and_then(|size| size.out_bits_per_sec),
        /// The number of machines.
        count: u64 = machines.count,
        /// What one machine costs per hour.
        per_hour: f64 = machines.per_hour,
    }
}

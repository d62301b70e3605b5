//! The machines of each hour.

use plimsoll_analyze::{DayCost, DayPlan, HourPlan, TierHours};

use super::document::{document, each};

document! {
    /// A rate that changes, hour by hour.
    pub struct DayDocument(day: &DayPlan) {
        /// The hours of which the curve has a row.
        hours: Vec<HourDocument> = each(&day.hours, HourDocument::new),
        /// Hours between the first and the last without a row. They are in no sum.
        missing: u64 = day.missing.len() as u64,
        /// Machine-hours of each tier, in the order of `hours.machines`.
        tiers: Vec<TierHoursDocument> = each(&day.tiers, TierHoursDocument::new),
        /// What all hours cost; null without prices.
        cost: Option<DayCostDocument> = day.cost.as_ref().map(DayCostDocument::new),
    }

    /// One hour.
    pub struct HourDocument(hour: &HourPlan) {
        /// Its beginning, as the curve counts time.
        hour: String = &hour.label,
        /// The highest rate within it, requests per second.
        peak_per_sec: f64 = hour.peak_per_sec,
        /// Machines of each tier; null where it is not known how many.
        machines: Vec<Option<u64>> = each(&hour.machines, |machines| machines.map(|machines| machines.count)),
        /// What they cost; null without prices.
        cost: Option<f64> = hour.cost,
    }

    /// Machine-hours of a tier.
    pub struct TierHoursDocument(tier: &TierHours) {
        /// Its name.
        tier: String = &tier.tier,
        /// With the machines of each hour; null where it is not known how many.
        by_hour: Option<u64> = tier.by_hour,
        /// With the machines of the peak in all hours.
        constant: Option<u64> = tier.constant,
    }

    /// What all hours cost.
    pub struct DayCostDocument(cost: &DayCost) {
        /// The currency as the user wrote it; empty where none is written.
        currency: String = &cost.currency.symbol,
        /// With the machines of each hour.
        by_hour: f64 = cost.by_hour,
        /// With the machines of the peak in all hours.
        constant: f64 = cost.constant,
        /// The tiers that are left out: without a price, or without a number of machines.
        without: Vec<String> = cost.without.clone(),
    }
}

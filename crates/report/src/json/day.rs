//! The machines of each hour.

use plimsoll_analyze::{DayCost, DayPlan, HourPlan, TierHours};

use super::cost::PricedMachinesDocument;
use super::document::{document, each};

document! {
    /// A target rate that changes, hour by hour.
    pub struct DayDocument(day: &DayPlan) {
        /// The hours for which the curve has a row.
        hours: Vec<HourDocument> = each(&day.hours, HourDocument::new),
        /// Hours between the first and the last that have no row. No sum includes them.
        missing: u64 = day.missing.len() as u64,
        /// True if the rows return to an earlier hour, such as rows of several days without dates: each hour has its
        /// highest rate.
        merges_days: bool = day.merges_days,
        /// Machine-hours of each tier, in the order of `hours.machines`.
        tiers: Vec<TierHoursDocument> = each(&day.tiers, TierHoursDocument::new),
        /// What all hours cost; null without prices, or where no tier has both a price and a number of machines at the peak.
        cost: Option<DayCostDocument> = day.cost.as_ref().map(DayCostDocument::new),
    }

    /// One hour.
    pub struct HourDocument(hour: &HourPlan) {
        /// The start of the hour, in the time format of the curve.
        hour: String = &hour.label,
        /// The hour as a number that grows by one each hour; a jump shows hours without a row.
        number: i64 = hour.hour,
        /// The highest rate within it, requests per second.
        peak_per_sec: f64 = hour.peak_per_sec,
        /// Machines of each tier; null where it is not known how many.
        machines: Vec<Option<u64>> = each(&hour.machines, |machines| machines.map(|machines| machines.count)),
        /// The number at both ends of the demand's interval; null where it is not known, and for a mix of sizes.
        machines_interval: Vec<Option<[u64; 2]>> = each(&hour.machines, |machines| {
            machines.and_then(|machines| machines.range).map(|(low, high)| [low, high])
        }),
        /// Whether each tier may need more.
        at_least: Vec<bool> = each(&hour.machines, |machines| machines.is_some_and(|machines| machines.at_least)),
        /// The cheapest machines of each tier, by size; empty for a tier without a price or a number.
        sizes: Vec<Vec<PricedMachinesDocument>> = each(&hour.sizes, |sizes| each(sizes, PricedMachinesDocument::new)),
        /// What the machines of this hour cost. Null without prices, if no tier has both a price and a number of machines
        /// at the peak, and if a tier that has both there has no number in this hour.
        cost: Option<f64> = hour.cost,
    }

    /// Machine-hours of a tier.
    pub struct TierHoursDocument(tier: &TierHours) {
        /// The name of the tier.
        tier: String = &tier.tier,
        /// Machine-hours with the machines that each hour needs; null if their number is not known.
        by_hour: Option<u64> = tier.by_hour,
        /// Machine-hours with the machines of the peak in all hours.
        constant: Option<u64> = tier.constant,
    }

    /// What all hours cost.
    pub struct DayCostDocument(cost: &DayCost) {
        /// The currency as the user wrote it; empty where none is written.
        currency: String = &cost.currency.symbol,
        /// True if the currency stands before the number.
        currency_leads: bool = cost.currency.leads,
        /// The cost with the machines that each hour needs, without the hours whose cost is not known.
        by_hour: f64 = cost.by_hour,
        /// The cost with the machines of the peak in all hours.
        constant: f64 = cost.constant,
        /// The tiers that are left out: without a price, or without a number of machines.
        without: Vec<String> = cost.without.clone(),
        /// True if it may cost more: a tier is left out, or may need more machines in an hour, or the cost of an hour is not known.
        at_least: bool = cost.at_least,
    }
}

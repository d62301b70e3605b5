//! The machines of each hour.

use plimsoll_analyze::{DayCost, DayPlan, HourPlan, TierHours};

use super::cost::PricedMachinesDocument;
use super::document::{document, each};

document! {
    /// A rate that changes, hour by hour.
    pub struct DayDocument(day: &DayPlan) {
        /// The hours of which the curve has a row.
        hours: Vec<HourDocument> = each(&day.hours, HourDocument::new),
        /// Hours between the first and the last without a row. They are in no sum.
        missing: u64 = day.missing.len() as u64,
        /// True if the rows return to hours that they left, as those of several days without dates do: each hour has its highest rate.
        merges_days: bool = day.merges_days,
        /// Machine-hours of each tier, in the order of `hours.machines`.
        tiers: Vec<TierHoursDocument> = each(&day.tiers, TierHoursDocument::new),
        /// What all hours cost; null without prices, or where no tier has both a price and a number of machines at the peak.
        cost: Option<DayCostDocument> = day.cost.as_ref().map(DayCostDocument::new),
    }

    /// One hour.
    pub struct HourDocument(hour: &HourPlan) {
        /// Its beginning, as the curve counts time.
        hour: String = &hour.label,
        /// The hour as a number that grows by one each hour; a jump shows hours without a row.
        number: i64 = hour.hour,
        /// The highest rate within it, requests per second.
        peak_per_sec: f64 = hour.peak_per_sec,
        /// Machines of each tier; null where it is not known how many.
        machines: Vec<Option<u64>> = each(&hour.machines, |machines| machines.map(|machines| machines.count)),
        /// The number at both ends of the interval of the demand; null where that is not known, and of a mix of sizes.
        machines_interval: Vec<Option<[u64; 2]>> = each(&hour.machines, |machines| {
            machines.and_then(|machines| machines.range).map(|(low, high)| [low, high])
        }),
        /// Whether each tier may need more.
        at_least: Vec<bool> = each(&hour.machines, |machines| machines.is_some_and(|machines| machines.at_least)),
        /// The machines of each tier by size, as they cost least; empty for a tier without a price or a number.
        sizes: Vec<Vec<PricedMachinesDocument>> = each(&hour.sizes, |sizes| each(sizes, PricedMachinesDocument::new)),
        /// What they cost; null without prices, where no tier has both a price and a number of machines at the peak, and where a tier that
        /// has both there has no number in this hour.
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
        /// True if the currency stands before the number.
        currency_leads: bool = cost.currency.leads,
        /// With the machines of each hour, without the hours whose cost is not known.
        by_hour: f64 = cost.by_hour,
        /// With the machines of the peak in all hours.
        constant: f64 = cost.constant,
        /// The tiers that are left out: without a price, or without a number of machines.
        without: Vec<String> = cost.without.clone(),
        /// True if it may cost more: a tier is left out, or may need more machines in an hour, or the cost of an hour is not known.
        at_least: bool = cost.at_least,
    }
}

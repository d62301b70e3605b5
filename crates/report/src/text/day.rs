//! The machines of each hour.

use plimsoll_analyze::{DayPlan, HourPlan, Machines, TierHours};
use plimsoll_units::{count_text, escape_control, grouped};

use super::paragraph::wrapped;
use crate::amount::{bound, counted, list, money};

/// Columns between two columns.
const GAP: &str = "  ";

/// The machines of each hour, consecutive hours with the same machines at the same cost in one line; then all machine-hours and
/// the cost, compared with those of the peak throughout.
pub(super) fn day_plan(day: &DayPlan) -> String {
    // Of several sizes as many machines may cost more.
    let is_alike = |one: &HourPlan, next: &HourPlan| one.machines == next.machines && one.cost == next.cost;
    let spans = day.hours.chunk_by(|one, next| is_alike(one, next) && next.hour == one.hour + 1);
    let header = ["peak".to_owned()].into_iter().chain(day.tiers.iter().map(|tier| tier.tier.clone()));
    let header: Vec<String> = header.chain(day.cost.iter().map(|_| "an hour".to_owned())).collect();
    let mut lines = vec![(header, "hours".to_owned())];
    lines.extend(spans.map(|span| (cells(day, span), hours(span))));
    let width =
        |column: usize| lines.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].0.len()).map(width).collect();
    let line = |(cells, hours): &(Vec<String>, String)| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        escape_control(&format!("{}{GAP}{hours}", list(cells, GAP))) + "\n"
    };
    let table: String = lines.iter().map(line).collect();
    format!("{}{table}\n{}", wrapped("", "", "Machines of each hour, for its highest rate"), sums(day))
}

fn cells(day: &DayPlan, span: &[HourPlan]) -> Vec<String> {
    let count = |machines: &Option<Machines>| {
        machines.map_or_else(
            || "?".to_owned(),
            |machines| format!("{}{}", bound(machines.at_least), grouped(machines.count)),
        )
    };
    let peak = span.iter().map(|hour| hour.peak_per_sec).fold(0.0, f64::max);
    let mut cells = vec![count_text(peak)];
    cells.extend(span[0].machines.iter().map(count));
    let cost = day.cost.as_ref().zip(span[0].cost);
    cells.extend(cost.map(|(cost, per_hour)| {
        let may_need_more = span[0].machines.iter().flatten().any(|machines| machines.at_least);
        let least = bound(!cost.without.is_empty() || may_need_more);
        format!("{least}{}", money(&cost.currency, per_hour))
    }));
    cells
}

/// `09:00`, or `00:00 to 05:00, 6 hours`.
fn hours(span: &[HourPlan]) -> String {
    match span {
        [first, .., last] => {
            format!("{} to {}, {}", first.label, last.label, counted(span.len() as u64, "hour"))
        }
        _ => list(span.iter().map(|hour| hour.label.clone()), ""),
    }
}

fn sums(day: &DayPlan) -> String {
    let tier = |tier: &TierHours| match (tier.by_hour, tier.constant) {
        (Some(by_hour), Some(constant)) => {
            format!("{} {} instead of {}", tier.tier, grouped(by_hour), grouped(constant))
        }
        _ => format!("{} not known", tier.tier),
    };
    let sums = format!(
        "Machine-hours with the machines of each hour, instead of those of the peak throughout: {}.",
        list(day.tiers.iter().map(tier), ", ")
    );
    let cost = day.cost.as_ref().map(|cost| {
        let amount = |value: f64| format!("{}{}", bound(cost.at_least), money(&cost.currency, value));
        let less = (cost.constant > 0.0)
            .then(|| format!(", {:.0} % less", 100.0 * (1.0 - cost.by_hour / cost.constant)));
        let without = match cost.without.as_slice() {
            [] => String::new(),
            tiers => {
                format!(" {} is left out: it has no price or no number.", list(tiers.iter().cloned(), ", "))
            }
        };
        format!(
            "They cost {} instead of {}{}.{without}",
            amount(cost.by_hour),
            amount(cost.constant),
            less.unwrap_or_default()
        )
    });
    let missing = (!day.missing.is_empty()).then(|| {
        format!(
            "Of {} between them the file has no row; the sums leave them out.",
            counted(day.missing.len() as u64, "hour")
        )
    });
    [Some(sums), cost, missing]
        .into_iter()
        .flatten()
        .map(|text| wrapped("", "", &escape_control(&text)))
        .collect()
}

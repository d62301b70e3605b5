//! The machines of each hour.

use plimsoll_analyze::{DayCost, DayPlan, HourPlan, Machines, TierHours};
use plimsoll_units::{count_text, escape_control, grouped};

use super::cost::sized;
use super::paragraph::{headed, point, wrapped};
use crate::amount::{bound, counted, list, money};

/// The space between two columns.
const GAP: &str = "  ";

/// Returns a line for each span of hours with the same machines at the same cost; then all machine-hours and the cost,
/// compared with those of the peak throughout.
pub(super) fn day_plan(day: &DayPlan) -> String {
    let spans: Vec<&[HourPlan]> =
        day.hours.chunk_by(|one, next| looks_alike(one, next) && next.hour == one.hour + 1).collect();
    let header = ["peak".to_owned()].into_iter().chain(day.tiers.iter().map(|tier| tier.tier.clone()));
    let header: Vec<String> = header.chain(day.cost.iter().map(|_| "an hour".to_owned())).collect();
    let mut lines = vec![(header, "hours".to_owned())];
    lines.extend(spans.iter().map(|span| (cells(day, span), hours(span))));
    let width =
        |column: usize| lines.iter().map(|(cells, _)| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].0.len()).map(width).collect();
    let line = |(cells, hours): &(Vec<String>, String)| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        escape_control(&format!("{}{GAP}{hours}", list(cells, GAP))) + "\n"
    };
    let table: String = lines.iter().map(line).collect();
    let heading = wrapped("", "", "Machines of each hour, for its highest rate");
    format!("{heading}{table}{}\n{}", sizes(day, &spans), sums(day))
}

/// True if both have the same cells. Intervals are in no cell; with several sizes, the same number of machines may cost
/// more.
fn looks_alike(one: &HourPlan, next: &HourPlan) -> bool {
    let shown = |hour: &HourPlan| -> Vec<Option<(u64, bool)>> {
        let count = |machines: Machines| (machines.count, machines.at_least);
        hour.machines.iter().map(|machines| machines.map(count)).collect()
    };
    shown(one) == shown(next) && one.cost == next.cost && one.sizes == next.sizes
}

/// For each tier with machines of several sizes in the day, says which sizes each hour uses.
fn sizes(day: &DayPlan, spans: &[&[HourPlan]]) -> String {
    let of_tier = |(index, tier): (usize, &TierHours)| {
        let mut taken = day.hours.iter().flat_map(|hour| &hour.sizes[index]).map(|machines| machines.size);
        let first = taken.next()?;
        taken.any(|size| size != first).then(|| {
            let line = |span: &&[HourPlan]| {
                let machines = list(span[0].sizes[index].iter().map(sized), ", ");
                point(&escape_control(&format!("{} {}: {machines}", tier.tier, hours(span))))
            };
            spans.iter().filter(|span| !span[0].sizes[index].is_empty()).map(line).collect::<String>()
        })
    };
    headed("\nSizes", day.tiers.iter().enumerate().filter_map(of_tier).collect())
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
    cells.extend(day.cost.as_ref().map(|cost| {
        let may_need_more = span[0].machines.iter().flatten().any(|machines| machines.at_least);
        let least = bound(!cost.without.is_empty() || may_need_more);
        let amount = |per_hour: f64| format!("{least}{}", money(&cost.currency, per_hour));
        span[0].cost.map_or_else(|| "?".to_owned(), amount)
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
    let cost = day.cost.as_ref().map(|cost| cost_of_all(day, cost));
    let merged = day.merges_days.then(|| {
        "The file returns to hours that it left, as rows of several days do: they are one day, each hour with its highest rate. Times \
         with a date keep days apart."
            .to_owned()
    });
    let missing = (!day.missing.is_empty()).then(|| {
        format!(
            "Of {} between them the file has no row; the sums leave them out.",
            counted(day.missing.len() as u64, "hour")
        )
    });
    [Some(sums), cost, missing, merged]
        .into_iter()
        .flatten()
        .map(|text| wrapped("", "", &escape_control(&text)))
        .collect()
}

/// Returns what all hours cost, and what no sum includes.
fn cost_of_all(day: &DayPlan, cost: &DayCost) -> String {
    let amount = |value: f64| format!("{}{}", bound(cost.at_least), money(&cost.currency, value));
    let unknown = day.hours.iter().filter(|hour| hour.cost.is_none()).count() as u64;
    // Without some hours the cost is lower, whatever the machines are.
    let is_comparable = unknown == 0 && cost.constant > 0.0;
    let less = is_comparable.then(|| format!(", {:.0} % less", 100.0 * (1.0 - cost.by_hour / cost.constant)));
    let of_unknown = (unknown > 0).then(|| {
        format!(" The first sum leaves out {}: a tier has no number there.", counted(unknown, "hour"))
    });
    format!(
        "They cost {} instead of {}{}.{}{}",
        amount(cost.by_hour),
        amount(cost.constant),
        less.unwrap_or_default(),
        of_unknown.unwrap_or_default(),
        without(&cost.without)
    )
}

fn without(tiers: &[String]) -> String {
    let why = match tiers {
        [] => return String::new(),
        [_] => "is left out: it has no price or no number",
        _ => "are left out: they have no price or no number",
    };
    format!(" {} {why}.", list(tiers.iter().cloned(), ", "))
}

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{Currency, Goal, MachineSize, Observed, PricedMachines, plan_machines};

    use super::*;

    /// An hour of one tier, with so many machines of half a core and of a whole one.
    fn hour(hour: i64, range: Option<(u64, u64)>, (halves, wholes): (u64, u64)) -> HourPlan {
        let machines = Machines { count: halves + wholes, range, at_least: false };
        let priced = |(cores, count): (f64, u64)| {
            let size = MachineSize { cores: Some(cores), ..MachineSize::default() };
            PricedMachines { size: Some(size), count, per_hour: cores }
        };
        let sizes = [(0.5, halves), (1.0, wholes)].into_iter().filter(|(_, count)| *count > 0);
        HourPlan {
            hour,
            label: format!("{hour:02}:00"),
            peak_per_sec: 100.0,
            machines: vec![Some(machines)],
            sizes: vec![sizes.map(priced).collect()],
            cost: Some(0.5 * halves as f64 + wholes as f64),
        }
    }

    fn shown(hours: Vec<HourPlan>, without: &[&str]) -> String {
        let cost = DayCost {
            currency: Currency::default(),
            by_hour: hours.iter().filter_map(|hour| hour.cost).sum(),
            constant: 8.0,
            without: without.iter().map(|tier| (*tier).to_owned()).collect(),
            at_least: false,
        };
        let goal = Goal { target_per_sec: 100.0, utilisation: 0.7 };
        day_plan(&DayPlan {
            peak: plan_machines(&Observed::default(), goal),
            peak_cost: None,
            hours,
            missing: Vec::new(),
            merges_days: false,
            tiers: vec![TierHours { tier: "api".to_owned(), by_hour: Some(4), constant: Some(8) }],
            cost: Some(cost),
        })
    }

    #[test]
    fn hours_that_differ_only_in_what_is_not_shown_are_one_line() {
        let text = shown(vec![hour(0, Some((1, 2)), (0, 2)), hour(1, Some((2, 3)), (0, 2))], &["web", "db"]);
        assert!(text.contains("00:00 to 01:00, 2 hours") && !text.contains("Sizes"), "{text}");
        assert!(text.contains("web, db are left out: they have no price"), "{text}");
    }

    #[test]
    fn a_day_with_machines_of_several_sizes_says_which_each_hour_takes() {
        let text = shown(vec![hour(0, None, (1, 0)), hour(1, None, (1, 1))], &[]);
        assert!(text.contains("api 00:00: 1 with 0.5 cores\n"), "{text}");
        assert!(text.contains("api 01:00: 1 with 0.5 cores, 1 with 1 core\n"), "{text}");
    }

    #[test]
    fn an_hour_without_a_cost_has_a_question_mark_and_is_in_no_comparison() {
        let unknown = HourPlan { cost: None, machines: vec![None], ..hour(1, None, (0, 0)) };
        let text = shown(vec![hour(0, None, (0, 2)), unknown], &[]);
        assert!(text.lines().any(|line| line.split_whitespace().eq(["100", "?", "?", "01:00"])), "{text}");
        assert!(text.contains("leaves out 1 hour") && !text.contains("% less"), "{text}");
    }
}

//! The order in which to fix what costs.

use super::trial::{Cell, SwitchCost, with};
use crate::Estimate;

/// One switch that is turned off.
#[derive(Debug, Clone, PartialEq)]
pub struct FixStep {
    pub name: String,
    /// Seconds per request after it.
    pub time_sec: f64,
    /// True if that combination was measured; else the time is the previous one minus the switch's mean cost.
    pub measured: bool,
    /// Switches that could be turned off instead: noise alone may explain the difference.
    pub ties: Vec<String>,
}

/// The time per request with one more switch off.
#[derive(Debug, Clone, Copy)]
struct After {
    time_sec: Estimate,
    measured: bool,
}

impl After {
    /// True if the two differ by no more than their combined half widths, which add up as squares.
    fn is_tied(self, other: Self) -> bool {
        let apart = (self.time_sec.value / other.time_sec.value).ln().abs();
        let halves = self.time_sec.relative_half().zip(other.time_sec.relative_half());
        halves.is_some_and(|(a, b)| apart <= a.hypot(b))
    }
}

/// Starts from the combination with most switches on and turns off the switch that saves most, measured in that combination or else by its
/// mean cost. Switches that save time stay on, and so do those that save none in the combination that is left.
pub(super) fn order(cells: &[Cell], costs: &[SwitchCost], names: &[String]) -> Vec<FixStep> {
    let on = |cell: &&Cell| cell.settings.iter().filter(|on| **on).count();
    let Some(first) = cells.iter().max_by_key(on) else { return Vec::new() };
    let (mut settings, mut time_sec) = (first.settings.clone(), first.time_sec.value);
    let mut steps = Vec::new();
    let mut left: Vec<&SwitchCost> = costs
        .iter()
        .filter(|cost| cost.cost_sec.value > 0.0 && settings.get(cost.switch) == Some(&true))
        .collect();
    while !left.is_empty() {
        let after = |cost: &SwitchCost| {
            let off = with(&settings, cost.switch, false);
            let predicted = Estimate::exact(time_sec - cost.cost_sec.value);
            let measured = cells.iter().find(|cell| cell.settings == off).map(|cell| cell.time_sec);
            After { time_sec: measured.unwrap_or(predicted), measured: measured.is_some() }
        };
        let mut options: Vec<(&SwitchCost, After)> = left.iter().map(|cost| (*cost, after(cost))).collect();
        let time_of = |index: &usize| options[*index].1.time_sec.value;
        let best = (0..options.len()).min_by(|a, b| time_of(a).total_cmp(&time_of(b)));
        let Some(best) = best else { break };
        let (cost, next) = options.remove(best);
        // Costs that do not add up could exceed the whole time. And a switch that costs something in combination with others may save time
        // without them.
        if next.time_sec.value <= 0.0 || (next.measured && next.time_sec.value >= time_sec) {
            break;
        }
        let name = |cost: &SwitchCost| names.get(cost.switch).cloned().unwrap_or_default();
        let tied = options.iter().filter(|(_, option)| next.is_tied(*option));
        let ties = tied.map(|(other, _)| name(other)).collect();
        left = options.iter().map(|(cost, _)| *cost).collect();
        (settings, time_sec) = (with(&settings, cost.switch, false), next.time_sec.value);
        steps.push(FixStep { name: name(cost), time_sec, measured: next.measured, ties });
    }
    steps
}

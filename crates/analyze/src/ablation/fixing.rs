//! In which order to mend what costs.

use super::{Cell, SwitchCost, with};

/// One switch off.
#[derive(Debug, Clone, PartialEq)]
pub struct FixStep {
    /// The switch.
    pub name: String,
    /// Seconds per request then.
    pub time_sec: f64,
    /// True if that combination was measured; else it is the time before less the switch's mean cost.
    pub measured: bool,
}

/// From the combination with most switches on: always the switch next that saves most, as it was measured there, else by its
/// mean cost. Switches that save time stay on.
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
            let measured = cells.iter().find(|cell| cell.settings == off).map(|cell| cell.time_sec.value);
            (measured.unwrap_or(time_sec - cost.cost_sec.value), measured.is_some())
        };
        let best = (0..left.len()).min_by(|a, b| after(left[*a]).0.total_cmp(&after(left[*b]).0));
        let Some(best) = best else { break };
        let (next_sec, measured) = after(left[best]);
        // Costs that do not add up cannot be taken off for ever.
        if next_sec <= 0.0 {
            break;
        }
        let cost = left.remove(best);
        settings = with(&settings, cost.switch, false);
        time_sec = next_sec;
        steps.push(FixStep { name: names.get(cost.switch).cloned().unwrap_or_default(), time_sec, measured });
    }
    steps
}

//! What each of several switches costs, from runs with them on and off.
//!
//! Everything is in **time per request**, 1/X, not in throughput: what is done for a request one after another adds up in
//! time, and a difference of throughputs says nothing of its own (1,000 fewer of 15,000 and of 2,000 are not the same
//! work). In a closed loop of N connections a request stays N/X by Little's law, so that the same model holds of residence, N times
//! as large.

mod contrast;
mod design;
mod fixing;
mod noise;

use contrast::Contrast;
pub use design::{Design, settings_of};
pub use fixing::FixStep;
use noise::Noise;

use crate::Estimate;

/// One run with some switches on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Which switches were on, in their order.
    pub settings: Vec<bool>,
    /// The round it was made in, if runs were made in rounds.
    pub round: Option<u32>,
    /// Requests per second.
    pub throughput_per_sec: f64,
    /// True if the load generator was the limit, so that a request takes less than this says.
    pub at_most: bool,
    /// Other figures of the same request, in the order of their names; `None` where they were not seen.
    pub beside: Vec<Option<f64>>,
}

/// All runs of one state of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// What it is called; `None` where there is but one.
    pub group: Option<String>,
    /// The switches.
    pub switches: Vec<String>,
    /// What else is told of each run: `cpu_us api`.
    pub beside: Vec<String>,
    /// The runs.
    pub trials: Vec<Trial>,
}

/// One combination of switches over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Which switches were on.
    pub settings: Vec<bool>,
    /// How many runs.
    pub count: u32,
    /// Seconds per request: the geometric mean over its runs, without what differs from round to round.
    pub time_sec: Estimate,
    /// Other figures, the mean over its runs.
    pub beside: Vec<Option<f64>>,
}

/// What a switch costs where certain others are on.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The others that are on, by their places.
    pub others_on: Vec<usize>,
    /// What the switch adds there, seconds per request.
    pub cost_sec: Estimate,
}

/// What a switch costs.
#[derive(Debug, Clone, PartialEq)]
pub struct SwitchCost {
    /// Its place among the switches.
    pub switch: usize,
    /// Its name.
    pub name: String,
    /// Seconds that it adds to a request, the mean over all pairs of combinations that differ in it alone; negative where it
    /// saves time.
    pub cost_sec: Estimate,
    /// The pairs.
    pub contexts: Vec<Context>,
    /// What it adds to the other figures, the same mean.
    pub beside: Vec<Option<f64>>,
}

/// Two switches that together cost something else than one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// One of them.
    pub switch: String,
    /// The other; `None` for all others together.
    pub with: Option<String>,
    /// What comes on top of the sum of both, seconds per request; negative where they share work.
    pub extra_sec: Estimate,
}

/// The ledger of switches.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Which state of the code it is of.
    pub group: Option<String>,
    /// All switches, in the order of settings.
    pub switches: Vec<String>,
    /// How combinations were chosen.
    pub design: Design,
    /// The switches, the dearest first.
    pub costs: Vec<SwitchCost>,
    /// Switches of which no two combinations differ in them alone, so that nothing tells their cost.
    pub untold: Vec<String>,
    /// The interactions whose interval excludes zero, the largest first.
    pub interactions: Vec<Interaction>,
    /// The order in which to switch off what costs, from everything on.
    pub order: Vec<FixStep>,
    /// The combinations.
    pub cells: Vec<Cell>,
    /// Runs in which the load generator was the limit: their combinations take less than is told.
    pub at_most: u32,
    /// The names of the other figures.
    pub beside: Vec<String>,
    /// One standard deviation of a run as a part of its time, and the degrees of freedom it is known with; `None` without
    /// repeats.
    pub noise: Option<(f64, f64)>,
}

/// A combination that was measured again in a later state of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The earlier state.
    pub from: Option<String>,
    /// The later one.
    pub to: Option<String>,
    /// The switches that were on.
    pub on: Vec<String>,
    /// Seconds per request before and after.
    pub time_sec: (f64, f64),
}

impl Ledger {
    /// The combination with these switches.
    pub fn cell(&self, settings: &[bool]) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.settings == settings)
    }
}

/// The ledger of the runs of one state.
pub fn ledger(trials: &Trials) -> Ledger {
    let noise = Noise::of(&trials.trials);
    let cells = noise.cells(&trials.trials);
    let known = Contrast { cells: &cells, noise: &noise };
    let count = trials.switches.len();
    let mut costs: Vec<SwitchCost> =
        (0..count).filter_map(|switch| cost(&known, switch, &trials.switches[switch])).collect();
    costs.sort_by(|a, b| b.cost_sec.value.total_cmp(&a.cost_sec.value));
    let told = |name: &&String| costs.iter().any(|cost| cost.name == **name);
    let untold = trials.switches.iter().filter(|name| !told(name)).cloned().collect();
    Ledger {
        group: trials.group.clone(),
        switches: trials.switches.clone(),
        design: design::recognised(&cells, count),
        interactions: interactions(&known, &trials.switches, &costs),
        order: fixing::order(&cells, &costs, &trials.switches),
        untold,
        costs,
        at_most: trials.trials.iter().filter(|trial| trial.at_most).count() as u32,
        beside: trials.beside.clone(),
        noise: noise.known(),
        cells,
    }
}

fn with(settings: &[bool], switch: usize, on: bool) -> Vec<bool> {
    let mut other = settings.to_vec();
    if let Some(one) = other.get_mut(switch) {
        *one = on;
    }
    other
}

/// The pairs of combinations that differ in one switch alone.
fn pairs<'a>(cells: &'a [Cell], switch: usize) -> Vec<(&'a Cell, &'a Cell)> {
    let off = cells.iter().filter(|cell| cell.settings.get(switch) == Some(&false));
    let partner = |cell: &'a Cell| {
        let on = with(&cell.settings, switch, true);
        Some((cell, cells.iter().find(|other| other.settings == on)?))
    };
    off.filter_map(partner).collect()
}

fn cost(known: &Contrast<'_>, switch: usize, name: &str) -> Option<SwitchCost> {
    let pairs = pairs(known.cells, switch);
    if pairs.is_empty() {
        return None;
    }
    let part = 1.0 / pairs.len() as f64;
    let terms: Vec<(&Cell, f64)> = pairs.iter().flat_map(|(off, on)| [(*off, -part), (*on, part)]).collect();
    let contexts = pairs.iter().map(|(off, on)| Context {
        others_on: (0..off.settings.len()).filter(|index| off.settings[*index]).collect(),
        cost_sec: known.of(&[(off, -1.0), (on, 1.0)]),
    });
    Some(SwitchCost {
        switch,
        name: name.to_owned(),
        cost_sec: known.of(&terms),
        contexts: contexts.collect(),
        beside: contrast::beside(&terms),
    })
}

/// The interactions whose interval excludes zero. Of each two switches where all four combinations of them were measured;
/// else of a switch with all others, where it was measured by itself and on top of them.
fn interactions(known: &Contrast<'_>, names: &[String], costs: &[SwitchCost]) -> Vec<Interaction> {
    let mut found = Vec::new();
    for a in 0..names.len() {
        for b in a + 1..names.len() {
            found.extend(of_two(known, a, b).map(|extra_sec| Interaction {
                switch: names[a].clone(),
                with: Some(names[b].clone()),
                extra_sec,
            }));
        }
    }
    if found.is_empty() {
        found.extend(costs.iter().filter_map(|cost| with_the_rest(known, cost)));
    }
    found.retain(|one| one.extra_sec.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0));
    found.sort_by(|a, b| b.extra_sec.value.abs().total_cmp(&a.extra_sec.value.abs()));
    found
}

/// (both − one) − (other − none), the mean over all settings of the rest.
fn of_two(known: &Contrast<'_>, a: usize, b: usize) -> Option<Estimate> {
    let mut fours = Vec::new();
    for (none, only_a) in pairs(known.cells, a) {
        let other = |cell: &Cell| {
            let on = with(&cell.settings, b, true);
            known.cells.iter().find(|other| other.settings == on)
        };
        if none.settings.get(b) == Some(&false)
            && let Some((only_b, both)) = other(none).zip(other(only_a))
        {
            fours.push([(none, 1.0), (only_a, -1.0), (only_b, -1.0), (both, 1.0)]);
        }
    }
    let part = 1.0 / fours.len() as f64;
    let terms: Vec<(&Cell, f64)> = fours.iter().flatten().map(|(cell, sign)| (*cell, part * sign)).collect();
    (!terms.is_empty()).then(|| known.of(&terms))
}

fn with_the_rest(known: &Contrast<'_>, cost: &SwitchCost) -> Option<Interaction> {
    let pairs = pairs(known.cells, cost.switch);
    let on = |cell: &Cell| cell.settings.iter().filter(|on| **on).count();
    let alone = pairs.iter().find(|(off, _)| on(off) == 0)?;
    let last = pairs.iter().find(|(off, _)| on(off) > 0 && on(off) + 1 == off.settings.len())?;
    let terms = [(last.1, 1.0), (last.0, -1.0), (alone.1, -1.0), (alone.0, 1.0)];
    Some(Interaction { switch: cost.name.clone(), with: None, extra_sec: known.of(&terms) })
}

/// Each combination that an earlier state was measured with as well: what the step between them came to.
pub fn replays(ledgers: &[Ledger], switches: &[String]) -> Vec<Replay> {
    let mut replays = Vec::new();
    for (index, later) in ledgers.iter().enumerate() {
        for cell in &later.cells {
            let earlier = ledgers[..index].iter().rev();
            let before = earlier.filter_map(|ledger| Some((ledger, ledger.cell(&cell.settings)?))).next();
            let on = switches.iter().zip(&cell.settings).filter(|(_, on)| **on);
            replays.extend(before.map(|(ledger, before)| Replay {
                from: ledger.group.clone(),
                to: later.group.clone(),
                on: on.map(|(name, _)| name.clone()).collect(),
                time_sec: (before.time_sec.value, cell.time_sec.value),
            }));
        }
    }
    replays
}

#[cfg(test)]
mod tests;

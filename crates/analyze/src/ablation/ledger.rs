//! The ledger: what each switch costs, which switches interact, and what a later state of the code changed.

use plimsoll_stats::t_quantile;

use super::design::{self, Design};
use super::fixing::{self, FixStep};
use super::noise::{NoNoise, Noise};
use super::trial::{Cell, Context, SwitchCost, Trials, with};
use crate::Estimate;

/// Two switches whose cost together is not the sum of their costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    pub switch: String,
    /// The other switch; `None` for all others together.
    pub with: Option<String>,
    /// The cost beyond the sum of both, seconds per request; negative where they share work.
    pub extra_sec: Estimate,
}

/// The ledger of switches.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// The state of the code.
    pub group: Option<String>,
    /// All switches, in the order of settings.
    pub switches: Vec<String>,
    pub design: Design,
    /// The switches, the dearest first.
    pub costs: Vec<SwitchCost>,
    /// Switches of unknown cost: no two combinations differ in them alone.
    pub untold: Vec<String>,
    /// The interactions whose interval excludes zero, the largest first.
    pub interactions: Vec<Interaction>,
    /// The order in which to turn switches off, starting with all on.
    pub order: Vec<FixStep>,
    pub cells: Vec<Cell>,
    /// The number of runs limited by the load generator: their combinations take less time than stated.
    pub at_most: u32,
    pub per_request: Vec<String>,
    /// The coefficient of variation of a run's time, and its degrees of freedom; `None` where repeated runs do not show it.
    pub noise: Option<(f64, f64)>,
    /// Why repeated runs do not show it.
    pub no_noise: Option<NoNoise>,
}

/// A combination that was measured again in a later state of the code.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    pub from: Option<String>,
    pub to: Option<String>,
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

/// The data for contrasts between combinations.
#[derive(Debug, Clone, Copy)]
struct Contrast<'a> {
    cells: &'a [Cell],
    noise: &'a Noise,
}

impl Contrast<'_> {
    /// Σ w·y over combinations, with its 95 % interval. All y have the same coefficient of variation cv, so that the variance is
    /// cv²·Σ w²y²/r with r runs of each; the half width uses Student's t with the degrees of freedom of cv.
    fn sum(&self, terms: &[(&Cell, f64)]) -> Estimate {
        let value = terms.iter().map(|(cell, weight)| weight * cell.time_sec.value).sum();
        let interval = self.noise.known().map(|(cv, degrees)| {
            let square = |(cell, weight): &(&Cell, f64)| {
                (weight * cell.time_sec.value).powi(2) / f64::from(cell.count.max(1))
            };
            let half = t_quantile(degrees) * cv * terms.iter().map(square).sum::<f64>().sqrt();
            (value - half, value + half)
        });
        Estimate { value, interval }
    }
}

/// The same sums of the other figures; `None` where one of them is not known.
fn per_request(terms: &[(&Cell, f64)]) -> Vec<Option<f64>> {
    let count = terms.first().map_or(0, |(cell, _)| cell.per_request.len());
    let sum = |index: usize| {
        let figure =
            |(cell, weight): &(&Cell, f64)| Some(weight * cell.per_request.get(index).copied().flatten()?);
        terms.iter().map(figure).sum::<Option<f64>>()
    };
    (0..count).map(sum).collect()
}

/// Computes the ledger of the runs of one state of the code.
pub fn ledger(trials: &Trials) -> Ledger {
    let noise = Noise::new(&trials.trials);
    let cells = noise.cells(&trials.trials);
    let known = Contrast { cells: &cells, noise: &noise };
    let count = trials.switches.len();
    let mut costs: Vec<SwitchCost> =
        (0..count).filter_map(|switch| cost(&known, switch, &trials.switches[switch])).collect();
    costs.sort_by(|a, b| b.cost_sec.value.total_cmp(&a.cost_sec.value));
    let is_known = |name: &&String| costs.iter().any(|cost| cost.name == **name);
    let untold = trials.switches.iter().filter(|name| !is_known(name)).cloned().collect();
    Ledger {
        group: trials.group.clone(),
        switches: trials.switches.clone(),
        design: design::recognised(&cells, count),
        interactions: interactions(&known, &trials.switches, &costs),
        order: fixing::order(&cells, &costs, &trials.switches),
        untold,
        costs,
        at_most: trials.trials.iter().filter(|trial| trial.at_most).count() as u32,
        per_request: trials.per_request.clone(),
        noise: noise.known(),
        no_noise: noise.unknown(&cells),
        cells,
    }
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
        cost_sec: known.sum(&[(off, -1.0), (on, 1.0)]),
    });
    Some(SwitchCost {
        switch,
        name: name.to_owned(),
        cost_sec: known.sum(&terms),
        contexts: contexts.collect(),
        per_request: per_request(&terms),
    })
}

/// The interactions whose interval excludes zero: of each two switches of which all four combinations were measured; without such, of
/// each switch with all others, where it was measured alone and on top of them.
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

/// (both − one) − (other − none), averaged over all settings of the other switches.
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
    (!terms.is_empty()).then(|| known.sum(&terms))
}

fn with_the_rest(known: &Contrast<'_>, cost: &SwitchCost) -> Option<Interaction> {
    let pairs = pairs(known.cells, cost.switch);
    let on = |cell: &Cell| cell.settings.iter().filter(|on| **on).count();
    let alone = pairs.iter().find(|(off, _)| on(off) == 0)?;
    let last = pairs.iter().find(|(off, _)| on(off) > 0 && on(off) + 1 == off.settings.len())?;
    let terms = [(last.1, 1.0), (last.0, -1.0), (alone.1, -1.0), (alone.0, 1.0)];
    Some(Interaction { switch: cost.name.clone(), with: None, extra_sec: known.sum(&terms) })
}

/// Each combination that was also measured in an earlier state, with the times before and after.
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

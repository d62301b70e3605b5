//! The variation between runs of the same combination.

use std::collections::BTreeMap;

use plimsoll_stats::t_quantile;

use super::trial::{Cell, Trial};
use crate::Estimate;

/// Passes over combinations and rounds; in a design without gaps the first is exact.
const PASSES: usize = 50;

/// Why runs do not show their random variation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoNoise {
    /// No combination was run twice.
    Single,
    /// There are too few repeated runs to separate chance from differences between rounds.
    TooFew,
    /// Runs of one combination agree to the last digit, like one run that was entered twice.
    Equal,
}

/// The model ln y = combination + round + noise, fitted by least squares.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Noise {
    cells: BTreeMap<Vec<bool>, f64>,
    /// Variance of the logarithm of a run's time, which is the square of its coefficient of variation while that is small.
    variance: f64,
    degrees: f64,
}

impl Noise {
    /// Fits the model. The noise is what is left without the means of combinations and of rounds, so that a machine that is slower in
    /// one round makes no combination look noisy.
    pub(super) fn new(trials: &[Trial]) -> Self {
        let logs: Vec<(&Trial, f64)> = trials
            .iter()
            .filter(|trial| trial.throughput_per_sec > 0.0)
            .map(|trial| (trial, -trial.throughput_per_sec.ln()))
            .collect();
        let mut cells: BTreeMap<Vec<bool>, f64> = BTreeMap::new();
        let mut rounds: BTreeMap<Option<u32>, f64> = BTreeMap::new();
        for _ in 0..PASSES {
            let settings = |trial: &Trial| trial.settings.clone();
            cells = means(&logs, settings, |trial| rounds.get(&trial.round).copied().unwrap_or(0.0));
            rounds =
                means(&logs, |trial| trial.round, |trial| cells.get(&trial.settings).copied().unwrap_or(0.0));
            let middle = rounds.values().sum::<f64>() / rounds.len().max(1) as f64;
            rounds.values_mut().for_each(|round| *round -= middle);
        }
        let left = |(trial, log): &(&Trial, f64)| {
            log - cells.get(&trial.settings).unwrap_or(&0.0) - rounds.get(&trial.round).unwrap_or(&0.0)
        };
        let squares: f64 = logs.iter().map(left).map(|left| left * left).sum();
        let degrees = logs.len() as f64 - cells.len() as f64 - (rounds.len() as f64 - 1.0).max(0.0);
        Self { cells, variance: if degrees > 0.0 { squares / degrees } else { 0.0 }, degrees }
    }

    /// The coefficient of variation of one run, and its degrees of freedom. `None` for runs that agree to the last digit, which are one
    /// run that was entered twice.
    pub(super) fn known(&self) -> Option<(f64, f64)> {
        (self.degrees >= 1.0 && self.variance > 1e-12).then(|| (self.variance.sqrt(), self.degrees))
    }

    /// Why the noise is not known; `None` where it is.
    pub(super) fn unknown(&self, cells: &[Cell]) -> Option<NoNoise> {
        match self.known() {
            Some(_) => None,
            None if cells.iter().all(|cell| cell.count <= 1) => Some(NoNoise::Single),
            None if self.degrees < 1.0 => Some(NoNoise::TooFew),
            None => Some(NoNoise::Equal),
        }
    }

    /// The combinations with their times.
    pub(super) fn cells(&self, trials: &[Trial]) -> Vec<Cell> {
        let cell = |(settings, log): (&Vec<bool>, &f64)| {
            let own: Vec<&Trial> = trials.iter().filter(|trial| trial.settings == *settings).collect();
            let count = own.len() as u32;
            let value = log.exp();
            let half =
                self.known().map(|(cv, degrees)| t_quantile(degrees) * cv * value / f64::from(count).sqrt());
            Cell {
                settings: settings.clone(),
                count,
                time_sec: Estimate { value, interval: half.map(|half| (value - half, value + half)) },
                per_request: per_request(&own),
            }
        };
        self.cells.iter().map(cell).collect()
    }
}

/// The means, by key, of the logarithms minus the other effect.
fn means<K: Ord>(
    logs: &[(&Trial, f64)],
    key: impl Fn(&Trial) -> K,
    other: impl Fn(&Trial) -> f64,
) -> BTreeMap<K, f64> {
    let mut sums: BTreeMap<K, (f64, f64)> = BTreeMap::new();
    for (trial, log) in logs {
        let sum = sums.entry(key(trial)).or_default();
        *sum = (sum.0 + log - other(trial), sum.1 + 1.0);
    }
    sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()
}

/// The means of the other figures over the runs in which they are known.
fn per_request(trials: &[&Trial]) -> Vec<Option<f64>> {
    let count = trials.iter().map(|trial| trial.per_request.len()).max().unwrap_or(0);
    let mean = |index: usize| {
        let seen: Vec<f64> =
            trials.iter().filter_map(|trial| trial.per_request.get(index).copied().flatten()).collect();
        (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64)
    };
    (0..count).map(mean).collect()
}

//! Sums of times of combinations, with what is known of them.

use plimsoll_stats::t_quantile;

use super::noise::Noise;
use super::trial::Cell;
use crate::Estimate;

/// What contrasts are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contrast<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) noise: &'a Noise,
}

impl Contrast<'_> {
    /// Σ w·y over combinations, and its 95 % interval: each y is known to within a part of itself that is the same for all,
    /// so that the variance is cv²·Σ w²y²/r with r runs of each, times Student's t of the degrees of cv.
    pub(super) fn of(&self, terms: &[(&Cell, f64)]) -> Estimate {
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

/// The same sums of the other figures; `None` where one of them was not seen.
pub(super) fn per_request(terms: &[(&Cell, f64)]) -> Vec<Option<f64>> {
    let count = terms.first().map_or(0, |(cell, _)| cell.per_request.len());
    let sum = |index: usize| {
        let figure =
            |(cell, weight): &(&Cell, f64)| Some(weight * cell.per_request.get(index).copied().flatten()?);
        terms.iter().map(figure).sum::<Option<f64>>()
    };
    (0..count).map(sum).collect()
}

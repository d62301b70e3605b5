//! Detects where the warm-up of a series ends, by the marginal standard error rule.

use crate::{Weighted, mean};

/// The number of values averaged into one before the search: the 5 of MSER-5.
pub const MSER_BATCH: usize = 5;

/// The smallest number of batches with which a warm-up can be distinguished from noise.
pub const MIN_MSER_BATCHES: usize = 10;

/// The end of the warm-up that [`mser5`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// There are fewer than [`MIN_MSER_BATCHES`] batches of [`MSER_BATCH`] values.
    TooShort,
    /// The number of values that are warm-up.
    After(usize),
    /// The best cut is the latest one searched, at half of the series, so the warm-up may not have ended.
    AtLatest(usize),
}

/// Applies the marginal standard error rule to batches of five (White, *An effective truncation heuristic for bias reduction in
/// simulation output*, 1997; White, Cobb and Spratt 2000).
///
/// Of the batch means Y₁ … Y_n, the first d are cut where Σ_{i>d}(Yᵢ − Ȳ_d)²/(n − d)² is smallest: dropping a biased value
/// reduces the spread, dropping a good one reduces n − d. Only the first half is searched, because the estimate becomes erratic
/// with few values left.
///
/// ```
/// # use plimsoll_stats::{Truncation, mser5};
/// let mut rates = vec![10.0; 15];
/// rates.extend([100.0; 60]);
/// assert_eq!(mser5(&rates), Truncation::After(15));
/// assert_eq!(mser5(&rates[..40]), Truncation::TooShort);
/// ```
pub fn mser5<T: Weighted>(series: &[T]) -> Truncation {
    let means: Vec<f64> = series.chunks_exact(MSER_BATCH).map(mean).collect();
    if means.len() < MIN_MSER_BATCHES {
        return Truncation::TooShort;
    }
    let latest = means.len() / 2;
    let errors = marginal_errors(&means);
    let best = (0..=latest).min_by(|a, b| errors[*a].total_cmp(&errors[*b]));
    let cut = best.unwrap_or(0);
    if cut == latest { Truncation::AtLatest(cut * MSER_BATCH) } else { Truncation::After(cut * MSER_BATCH) }
}

/// Returns the marginal error of the rest after each cut. One pass from the end updates the sum of squares as in Welford, *Note
/// on a method for calculating corrected sums of squares and products*, 1962. It must be fast: a warm-up may last an hour.
fn marginal_errors(means: &[f64]) -> Vec<f64> {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut errors: Vec<f64> = means
        .iter()
        .rev()
        .map(|value| {
            count += 1.0;
            let from_mean = value - mean;
            mean += from_mean / count;
            squares += from_mean * (value - mean);
            squares / (count * count)
        })
        .collect();
    errors.reverse();
    errors
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_level_series_is_not_cut() {
        assert_eq!(mser5(&[7.0; 50]), Truncation::After(0));
    }

    #[test]
    fn a_warm_up_of_more_than_half_the_series_is_cut_at_the_latest_place() {
        let rates: Vec<f64> = (0..100).map(|i| if i < 55 { 400.0 } else { 1000.0 }).collect();
        assert_eq!(mser5(&rates), Truncation::AtLatest(50));
    }

    proptest! {
        #[test]
        fn the_errors_are_those_of_the_definition(means in prop::collection::vec(0.0_f64..1e4, 10..40)) {
            for (cut, error) in marginal_errors(&means).iter().enumerate() {
                let rest = &means[cut..];
                let squares: f64 = rest.iter().map(|value| (value - mean(rest)).powi(2)).sum();
                let expected = squares / (rest.len() as f64).powi(2);
                prop_assert!((error - expected).abs() <= 1e-9 * (1.0 + expected));
            }
        }
    }
}

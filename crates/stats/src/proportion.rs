//! Confidence intervals of ratios of counts.

use crate::{Estimate, Z_95};

/// Returns the 95 % score interval of the ratio `hits` / `trials` (Wilson 1927); `None` if `trials` is 0.
///
/// Unlike the textbook interval it stays within 0 and 1 and is accurate for rare events: after `n` trials without a miss its
/// lower bound is n / (n + 3.84), not 1.
///
/// With p̂ = hits/n and z = 1.96 the bounds are (p̂ + z²/2n ± z√(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).
///
/// ```
/// # use plimsoll_stats::wilson;
/// let (low, high) = wilson(1000, 1000).unwrap();
/// assert!((0.996..0.997).contains(&low) && high == 1.0);
/// ```
pub fn wilson(hits: u64, trials: u64) -> Option<(f64, f64)> {
    if trials == 0 {
        return None;
    }
    let count = trials as f64;
    let ratio = hits as f64 / count;
    let z2 = Z_95 * Z_95;
    let scale = 1.0 + z2 / count;
    let centre = (ratio + z2 / (2.0 * count)) / scale;
    let margin = Z_95 * (ratio * (1.0 - ratio) / count + z2 / (4.0 * count * count)).sqrt() / scale;
    // At the ratios 0 and 1, a bound equals the ratio itself, and rounding must not change that.
    Some(((centre - margin).clamp(0.0, ratio), (centre + margin).clamp(ratio, 1.0)))
}

/// Returns the upper end of the 95 % interval of `a` − `b`, two ratios of counts, from the interval of each (Newcombe, *Interval
/// estimation for the difference between independent proportions*, 1998, method 10). A ratio without an interval counts as exact.
///
/// ```
/// # use plimsoll_stats::{Estimate, difference_upper};
/// let a = Estimate { value: 0.90, interval: Some((0.86, 0.93)) };
/// let b = Estimate { value: 1.00, interval: Some((0.96, 1.00)) };
/// assert!((difference_upper(a, b) + 0.05).abs() < 1e-9);
/// ```
pub fn difference_upper(a: Estimate, b: Estimate) -> f64 {
    let above = a.interval.map_or(0.0, |(_, high)| high - a.value);
    let below = b.interval.map_or(0.0, |(low, _)| b.value - low);
    a.value - b.value + above.hypot(below)
}

/// Returns the dispersion of a ratio between groups of trials, compared with that of independent trials: Pearson's χ² divided by its
/// degrees of freedom, and at least 1 (McCullagh and Nelder, *Generalized Linear Models*, 1989, section 4.5). Each group is given as
/// hits and trials; groups without a trial are left out.
///
/// ```
/// # use plimsoll_stats::dispersion;
/// assert_eq!(dispersion([(10, 100), (10, 100)]), 1.0);
/// assert!(dispersion([(0, 100), (50, 100)]) > 60.0);
/// ```
pub fn dispersion(groups: impl IntoIterator<Item = (u64, u64)>) -> f64 {
    let groups: Vec<(f64, f64)> = groups
        .into_iter()
        .filter(|(_, trials)| *trials > 0)
        .map(|(hits, trials)| (hits as f64, trials as f64))
        .collect();
    let sum = |of: fn(&(f64, f64)) -> f64| groups.iter().map(of).sum::<f64>();
    let ratio = sum(|group| group.0) / sum(|group| group.1).max(1.0);
    let variance = ratio * (1.0 - ratio);
    if variance <= 0.0 || groups.len() < 2 {
        return 1.0;
    }
    let excess = |(hits, trials): &(f64, f64)| (hits - trials * ratio).powi(2) / trials;
    let chi_squared = groups.iter().map(excess).sum::<f64>() / variance;
    (chi_squared / (groups.len() - 1) as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    #[test]
    fn success_without_exception_still_leaves_room_for_failures() {
        let (low, high) = wilson(100, 100).unwrap();
        assert!((low - 100.0 / 103.841).abs() < 1e-4, "{low}");
        assert_eq!(high, 1.0);
        let (low, high) = wilson(0, 100).unwrap();
        assert_eq!(low, 0.0);
        assert!((high - 3.841 / 103.841).abs() < 1e-4, "{high}");
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn the_interval_holds_the_ratio_and_narrows_with_more_trials() {
        let mut widest = 1.0;
        for trials in [10, 1_000, 1_000_000, 1_000_000_000] {
            for hits in [0, trials / 10, trials / 2, trials - 1, trials] {
                let (low, high) = wilson(hits, trials).unwrap();
                let ratio = hits as f64 / trials as f64;
                assert!(0.0 <= low && low <= ratio && ratio <= high && high <= 1.0, "{hits} of {trials}");
            }
            let (low, high) = wilson(trials / 2, trials).unwrap();
            assert!(high - low < widest, "{trials}");
            widest = high - low;
        }
    }

    #[test]
    fn a_rare_failure_lies_within_the_interval_about_as_often_as_it_says() {
        const TRIALS: u64 = 2_000;
        const TRUTH: f64 = 0.998;
        let covers = |seed| {
            let mut noise = Noise::new(seed);
            let hits = (0..TRIALS).filter(|_| noise.uniform() < TRUTH).count() as u64;
            let (low, high) = wilson(hits, TRIALS).unwrap();
            low <= TRUTH && TRUTH <= high
        };
        let covered = (0..500).filter(|seed| covers(*seed)).count();
        assert!((455..=497).contains(&covered), "{covered} of 500");
    }
}

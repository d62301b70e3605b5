//! Detects where the level of a series changed: E-divisive with a permutation test.
//!
//! The energy distance of two samples X and Y of m and n values is
//! E = 2/(mn) ΣΣ|xᵢ − yⱼ| − 2/(m(m − 1)) Σ|xᵢ − xₖ| − 2/(n(n − 1)) Σ|yⱼ − yₖ|. Its expectation is zero only if both have the
//! same distribution (Székely and Rizzo, 2005). The series is split where Q = mn/(m + n) · E is greatest, and the parts are
//! split again (Matteson and James, *A Nonparametric Approach for Multiple Change Point Analysis of Multivariate Data*, JASA
//! 109, 2014). A split is accepted if its Q is greater than that of all but 1 % of random permutations of the values.
//!
//! A permutation test assumes independent values. Runs on one machine are not independent: what disturbed a run may disturb the
//! next one too. If neighbouring values are correlated, the test is made on xᵢ − ρ·xᵢ₋₁ (Cochrane and Orcutt, JASA 44, 1949), with
//! ρ estimated from the residuals of both parts.

use crate::{Estimate, autocorrelation, mean, t_quantile, variance};

/// The smallest number of values between two changes.
pub const MIN_SEGMENT: usize = 3;
/// The smallest number of values with which a change can be found: with fewer, no permutation is rare enough.
pub const MIN_VALUES: usize = 10;

/// The number of random permutations that a split is compared with.
const PERMUTATIONS: usize = 999;
/// The probability that a split is accepted although all values have the same distribution.
const FALSE_ALARM: f64 = 0.01;
/// The highest autocorrelation that is removed before the test.
const MAX_CORRELATION: f64 = 0.9;

/// A change of the level of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The index of the first value of the new level.
    pub at: usize,
    /// The probability of such a difference among values of one level in random order; at least 0.001.
    pub p_value: f64,
}

/// Returns the changes of level in a series, in order of index. All values must be finite.
///
/// The permutations are drawn from a fixed seed, so the result is reproducible. The time grows with the square of the number of
/// values: 100 take milliseconds, 500 about a second.
///
/// ```
/// # use plimsoll_stats::change_points::change_points;
/// let series = [100.2, 99.1, 100.9, 99.8, 100.4, 99.5, 100.1, 94.9, 95.6, 95.1, 94.2, 95.3];
/// let found: Vec<usize> = change_points(&series).iter().map(|change| change.at).collect();
/// assert_eq!(found, [7]);
/// ```
pub fn change_points(series: &[f64]) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    if series.len() >= MIN_VALUES {
        divide(series, 0, &mut found);
    }
    found
}

/// Returns the mean of the values of one level with its 95 % interval by Student's t. If neighbouring values have the
/// autocorrelation ρ, the variance is multiplied by (1 + ρ)/(1 − ρ). With two values or fewer there is no interval.
pub fn level(values: &[f64]) -> Estimate {
    let (value, count) = (mean(values), values.len() as f64);
    let interval = (values.len() > 2).then(|| {
        let correlation = autocorrelation(values).clamp(0.0, MAX_CORRELATION);
        let of_mean = variance(values) / count * (1.0 + correlation) / (1.0 - correlation);
        let half = t_quantile(count - 1.0) * of_mean.sqrt();
        (value - half, value + half)
    });
    Estimate { value, interval }
}

/// Adds the changes within `part`, a part of the series that begins at the index `offset`.
fn divide(part: &[f64], offset: usize, found: &mut Vec<ChangePoint>) {
    let Some((at, _)) = Distances::new(part).greatest() else { return };
    let Some(p_value) = p_value(&whitened(part, correlation(part, at))) else { return };
    divide(&part[..at], offset, found);
    found.push(ChangePoint { at: offset + at, p_value });
    divide(&part[at..], offset + at, found);
}

/// Returns the ratio of random permutations whose greatest Q is at least that of the series; `None` if it exceeds [`FALSE_ALARM`].
fn p_value(series: &[f64]) -> Option<f64> {
    let (_, observed) = Distances::new(series).greatest()?;
    let allowed = (FALSE_ALARM * (PERMUTATIONS + 1) as f64) as usize;
    let (mut order, mut shuffled, mut as_great) = (Order::default(), series.to_vec(), 1);
    for _ in 0..PERMUTATIONS {
        order.shuffle(&mut shuffled);
        as_great +=
            usize::from(Distances::new(&shuffled).greatest().is_some_and(|(_, great)| great >= observed));
        if as_great > allowed {
            return None;
        }
    }
    Some(as_great as f64 / (PERMUTATIONS + 1) as f64)
}

/// Returns the lag-1 autocorrelation of the residuals from the means of both parts, from 0 to [`MAX_CORRELATION`].
fn correlation(series: &[f64], at: usize) -> f64 {
    let (before, after) = series.split_at(at);
    let centred = |part: &[f64]| part.iter().map(|value| value - mean(part)).collect::<Vec<_>>();
    let residuals = [centred(before), centred(after)].concat();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { (products / squares).clamp(0.0, MAX_CORRELATION) } else { 0.0 }
}

/// Returns the series with the autocorrelation removed. The first value is scaled to the variance of the others.
fn whitened(series: &[f64], correlation: f64) -> Vec<f64> {
    let centre = mean(series);
    let first =
        series.iter().take(1).map(|value| (value - centre) * (1.0 - correlation * correlation).sqrt());
    let others = series.windows(2).map(|pair| (pair[1] - centre) - correlation * (pair[0] - centre));
    first.chain(others).collect()
}

/// Computes sums of |xᵢ − xⱼ| over any ranges of i and j in constant time.
struct Distances {
    count: usize,
    /// Prefix sums: the entry (i, j) is the sum over all pairs before i and before j. Rows have `count + 1` entries.
    sums: Vec<f64>,
}

impl Distances {
    fn new(series: &[f64]) -> Self {
        let (count, width) = (series.len(), series.len() + 1);
        let mut sums = vec![0.0; width * width];
        for (i, one) in series.iter().enumerate() {
            let mut row = 0.0;
            for (j, other) in series.iter().enumerate() {
                row += (one - other).abs();
                sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
            }
        }
        Self { count, sums }
    }

    fn before(&self, i: usize, j: usize) -> f64 {
        self.sums[i * (self.count + 1) + j]
    }

    /// Returns the split with the greatest Q, and that Q; `None` with too few values.
    fn greatest(&self) -> Option<(usize, f64)> {
        let divisions = MIN_SEGMENT..=self.count.checked_sub(MIN_SEGMENT)?;
        divisions.map(|at| (at, self.q(at))).max_by(|(_, one), (_, other)| one.total_cmp(other))
    }

    fn q(&self, at: usize) -> f64 {
        let (m, n) = (at as f64, (self.count - at) as f64);
        let left = self.before(at, at);
        let across = self.before(at, self.count) - left;
        let right = self.before(self.count, self.count) - left - 2.0 * across;
        // These are sums over ordered pairs, so each difference within a part is counted twice.
        m * n / (m + n) * (2.0 * across / (m * n) - left / (m * (m - 1.0)) - right / (n * (n - 1.0)))
    }
}

/// Random permutations from a fixed seed, by splitmix64 (Steele, Lea and Flood, 2014) and the Fisher–Yates shuffle.
#[derive(Default)]
struct Order(u64);

impl Order {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn shuffle(&mut self, values: &mut [f64]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;
    use proptest::prelude::*;

    use super::*;

    fn places(series: &[f64]) -> Vec<usize> {
        change_points(series).iter().map(|change| change.at).collect()
    }

    /// Values of mean 100 with normal noise of this deviation, lowered by `step` from the index `at` on.
    fn stepped(seed: u64, count: usize, deviation: f64, at: usize, step: f64) -> Vec<f64> {
        let mut noise = Noise::new(seed);
        let level = |index| if index < at { 100.0 } else { 100.0 - step };
        (0..count).map(|index| level(index) + deviation * noise.normal()).collect()
    }

    #[test]
    fn a_step_of_five_deviations_is_found_within_two_values() {
        let near = |seed| places(&stepped(seed, 40, 1.0, 25, 5.0)).iter().any(|at| at.abs_diff(25) <= 2);
        assert!((0..40).all(near));
    }

    #[test]
    fn two_steps_are_two_changes() {
        let mut series = stepped(3, 60, 1.0, 20, 6.0);
        series.iter_mut().skip(40).for_each(|value| *value += 9.0);
        assert_eq!(places(&series), [20, 40]);
    }

    #[test]
    fn noise_alone_changes_nowhere_in_nearly_all_series() {
        let changed = |seed: &u64| !places(&stepped(*seed, 30, 1.0, 0, 0.0)).is_empty();
        let alarms = (0..300).filter(changed).count();
        assert!(alarms <= 9, "{alarms} of 300");
    }

    #[test]
    fn values_that_follow_each_other_are_seldom_taken_for_a_change() {
        let drifting = |seed| {
            let (mut noise, mut last) = (Noise::new(seed), 0.0);
            (0..50)
                .map(|_| {
                    last = 0.5 * last + noise.normal();
                    last
                })
                .collect::<Vec<f64>>()
        };
        let alarms = (0..200).filter(|seed| !places(&drifting(*seed)).is_empty()).count();
        assert!(alarms <= 20, "{alarms} of 200");
    }

    #[test]
    fn few_values_and_equal_values_have_no_change() {
        assert!(places(&[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]).is_empty());
        assert!(places(&[7.0; 50]).is_empty());
        assert!(places(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn changes_are_in_order_and_apart_and_do_not_depend_on_the_unit(
            series in prop::collection::vec(0.0..100.0_f64, 0..40)
        ) {
            let found = places(&series);
            let ends: Vec<usize> = [0].into_iter().chain(found.clone()).chain([series.len()]).collect();
            prop_assert!(found.is_empty() || ends.windows(2).all(|pair| pair[0] + MIN_SEGMENT <= pair[1]));
            let scaled: Vec<f64> = series.iter().map(|value| value * 4.0).collect();
            prop_assert_eq!(places(&scaled), found);
        }
    }
}

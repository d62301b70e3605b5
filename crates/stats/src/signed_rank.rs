//! The centre of paired differences, without assuming a distribution: Hodges and Lehmann's estimate with Wilcoxon's interval.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::median;

/// With more differences, a normal approximation replaces the exact distribution. Its error in a tail of 0.0001 is below a tenth of
/// that.
const MAX_EXACT: usize = 100;

/// Paired differences, such as ln(b/a) of rounds in which both a and b were measured.
///
/// The only assumption is that differences are symmetric about their centre. If a random draw decides which of the two is measured
/// first, that holds whenever both are equal, whatever the noise: swapping the two changes the sign.
///
/// ```
/// # use plimsoll_stats::SignedRanks;
/// let ranks = SignedRanks::new(&[0.9, 1.1, 1.0, 1.2, 0.8, 1.05, 7.0]).unwrap();
/// let (low, high) = ranks.interval(0.05).unwrap();
/// assert!(0.8 <= low && low < ranks.centre() && ranks.centre() < 1.2 && high <= 4.2, "{low} {high}");
/// assert_eq!(ranks.p_value(), 2.0 / 128.0, "all seven lie above zero");
/// ```
#[derive(Debug, Clone)]
pub struct SignedRanks {
    /// The means of all pairs of differences, including each one with itself (Walsh averages, 1949), in ascending order.
    averages: Vec<f64>,
    /// P(T ≤ t) for t from 0 to half of the maximum, where T is the sum of the ranks above the centre.
    tail: Vec<f64>,
}

impl SignedRanks {
    /// Creates the ranks; `None` without differences, or if one is not finite.
    pub fn new(differences: &[f64]) -> Option<Self> {
        if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
            return None;
        }
        let with_later = |(index, one): (usize, &f64)| {
            differences[index..].iter().map(|other| one.midpoint(*other)).collect::<Vec<_>>()
        };
        let mut averages: Vec<f64> = differences.iter().enumerate().flat_map(with_later).collect();
        averages.sort_by(f64::total_cmp);
        let tail =
            if differences.len() <= MAX_EXACT { exact(differences.len()) } else { normal(differences.len()) };
        Some(Self { averages, tail })
    }

    /// Returns Hodges and Lehmann's estimate (1963): the median of all Walsh averages. It tolerates 29 % of outliers of any size.
    pub fn centre(&self) -> f64 {
        median(self.averages.clone()).unwrap_or(f64::NAN)
    }

    /// Returns the 1 − `alpha` confidence interval of the centre; `None` if there are too few differences for one.
    ///
    /// It contains every centre that Wilcoxon's test (1945) does not reject: from the k-th lowest average to the k-th highest,
    /// with the largest k for which P(T ≤ k − 1) ≤ α/2 (Tukey 1949; Lehmann, *Nonparametrics*, 1975, section 4.4).
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let below = self.tail.partition_point(|tail| *tail <= alpha / 2.0).checked_sub(1)?;
        Some((*self.averages.get(below)?, *self.averages.get(self.averages.len() - 1 - below)?))
    }

    /// Returns the two-sided p-value of a centre of zero: the smallest `alpha` whose interval excludes zero.
    pub fn p_value(&self) -> f64 {
        let not_above = self.averages.partition_point(|average| *average <= 0.0);
        let not_below = self.averages.len() - self.averages.partition_point(|average| *average < 0.0);
        self.tail.get(not_above.min(not_below)).map_or(1.0, |tail| (2.0 * tail).min(1.0))
    }

    /// Returns the smallest p-value possible with this many differences.
    pub fn smallest_p_value(count: usize) -> f64 {
        2.0 * 0.5_f64.powf(count as f64)
    }
}

/// Returns the number of averages of this many differences, which is the highest sum of ranks.
fn highest(count: usize) -> usize {
    count * (count + 1) / 2
}

/// Computes the exact distribution. Each rank is above or below with equal probability, so P(T = t) of n ranks is the mean of the
/// values of n − 1 ranks at t and at t − n.
fn exact(count: usize) -> Vec<f64> {
    let half = highest(count) / 2;
    let mut density = vec![0.0; half + 1];
    density[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=half).rev() {
            let without = if sum >= rank { density[sum - rank] } else { 0.0 };
            density[sum] = (density[sum] + without) / 2.0;
        }
    }
    let cumulated = density.iter().scan(0.0, |sum, part| {
        *sum += part;
        Some(*sum)
    });
    cumulated.collect()
}

/// Computes the normal approximation. T has mean n(n + 1)/4 and variance n(n + 1)(2n + 1)/24; half a rank corrects for continuity.
fn normal(count: usize) -> Vec<f64> {
    let n = count as f64;
    let spread = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let distribution = Normal::new(n * (n + 1.0) / 4.0, spread);
    let tail = |sum: usize| distribution.map_or(1.0, |normal| normal.cdf(sum as f64 + 0.5));
    (0..=highest(count) / 2).map(tail).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_exact_distribution_is_that_of_the_tables() {
        // Critical values of T at 5 %, two-sided: 0 of 6, 3 of 8, 8 of 10, 52 of 20.
        for (count, critical) in [(6, 0), (8, 3), (10, 8), (20, 52)] {
            let tail = exact(count);
            assert!(tail[critical] <= 0.025 && tail[critical + 1] > 0.025, "{count}");
        }
        assert_eq!(exact(3), [0.125, 0.25, 0.375, 0.625]);
    }

    #[test]
    fn the_approximation_takes_over_without_a_step() {
        for level in [0.05, 0.01, 0.0005] {
            let rank = |tail: Vec<f64>| tail.partition_point(|tail| *tail <= level / 2.0) as f64;
            let (exact, normal) = (rank(exact(MAX_EXACT)), rank(normal(MAX_EXACT)));
            assert!((exact / normal - 1.0).abs() < 0.01, "{level}: {exact} {normal}");
        }
    }

    #[test]
    fn too_few_differences_have_no_interval() {
        assert!(SignedRanks::new(&[]).is_none() && SignedRanks::new(&[1.0, f64::NAN]).is_none());
        let six = SignedRanks::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(six.interval(0.05), Some((1.0, 6.0)));
        assert_eq!(six.interval(0.03), None);
        assert_eq!(six.p_value(), SignedRanks::smallest_p_value(6));
    }

    #[test]
    fn the_interval_covers_the_centre_of_noise_with_outliers() {
        let covers = |seed: u64| {
            let mut noise = Noise::new(seed);
            let mut draw = || 0.03 + 0.02 * noise.normal() * if noise.uniform() < 0.1 { 8.0 } else { 1.0 };
            let values: Vec<f64> = (0..20).map(|_| draw()).collect();
            let (low, high) = SignedRanks::new(&values).unwrap().interval(0.05).unwrap();
            low <= 0.03 && 0.03 <= high
        };
        let covered = (0..1000).filter(|seed| covers(*seed)).count();
        assert!((930..=975).contains(&covered), "{covered} of 1000");
    }

    proptest! {
        #[test]
        fn a_p_value_and_an_interval_agree(
            values in prop::collection::vec(-1.0_f64..2.0, 6..30),
            alpha in 0.001_f64..0.2,
        ) {
            let ranks = SignedRanks::new(&values).unwrap();
            let excludes = ranks.interval(alpha).is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            prop_assert_eq!(excludes, ranks.p_value() <= alpha);
        }
    }
}

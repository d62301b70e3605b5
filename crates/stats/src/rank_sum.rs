//! The shift between two groups of values, without assuming a distribution.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Estimate, median};

/// With fewer values in a group the normal approximation is poor.
const MIN_VALUES: usize = 5;

/// Estimates by how much the values of `a` exceed those of `b`, with a 1 − `alpha` confidence interval; `None` with fewer than five
/// values in either group.
///
/// Hodges and Lehmann's estimate (1963) is the median of all n·m differences. The interval contains every shift that the
/// Mann–Whitney test (1947) does not reject: from the k-th lowest difference to the k-th highest, where k − 1 is the whole part of
/// nm/2 − z·√(nm(n + m + 1)/12) (Lehmann, *Nonparametrics*, 1975, section 2.5).
///
/// ```
/// # use plimsoll_stats::shift;
/// let b: Vec<f64> = (0..10).map(f64::from).collect();
/// let a: Vec<f64> = b.iter().map(|value| value + 100.0).collect();
/// let (low, high) = shift(&a, &b, 0.05).unwrap().interval.unwrap();
/// assert!(94.0 < low && low < 100.0 && 100.0 < high && high < 106.0);
/// ```
pub fn shift(a: &[f64], b: &[f64], alpha: f64) -> Option<Estimate> {
    if a.len().min(b.len()) < MIN_VALUES {
        return None;
    }
    let mut differences: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
    differences.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
    let below = (n * m / 2.0 - z * (n * m * (n + m + 1.0) / 12.0).sqrt()).floor();
    let interval = (below >= 0.0).then(|| {
        let below = (below as usize).min(differences.len() / 2);
        (differences[below], differences[differences.len() - 1 - below])
    });
    Some(Estimate { value: median(differences)?, interval })
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    #[test]
    fn the_interval_covers_the_shift() {
        let covers = |seed: u64| {
            let mut noise = Noise::new(seed);
            let a: Vec<f64> = (0..14).map(|_| 0.5 + noise.normal()).collect();
            let b: Vec<f64> = (0..10).map(|_| noise.normal()).collect();
            let (low, high) = shift(&a, &b, 0.05).unwrap().interval.unwrap();
            low <= 0.5 && 0.5 <= high
        };
        let covered = (0..1000).filter(|seed| covers(*seed)).count();
        assert!((930..=975).contains(&covered), "{covered} of 1000");
    }

    #[test]
    fn small_groups_have_no_shift_and_a_small_alpha_no_interval() {
        assert_eq!(shift(&[1.0; 4], &[1.0; 50], 0.05), None);
        let estimate = shift(&[2.0; 5], &[1.0; 5], 1e-9).unwrap();
        assert_eq!((estimate.value, estimate.interval), (1.0, None));
    }
}

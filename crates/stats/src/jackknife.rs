//! Confidence intervals of any statistic of an autocorrelated series, by the delete-one-block jackknife.

use crate::{mean, t_quantile};

/// Computes the statistic of the series without each of `count` blocks of consecutive values, in turn. Returns `None` if the
/// statistic of any of these is `None`, or with fewer values than blocks. Block sizes differ by at most one value.
///
/// Blocks must be longer than the range over which values are correlated; then the blocks are nearly independent.
pub fn replicates<T: Clone, R>(
    series: &[T],
    count: usize,
    statistic: impl Fn(&[T]) -> Option<R>,
) -> Option<Vec<R>> {
    if count < 2 || series.len() < count {
        return None;
    }
    let cut = |block: usize| block * series.len() / count;
    let without = |block: usize| [&series[..cut(block)], &series[cut(block + 1)..]].concat();
    (0..count).map(|block| statistic(&without(block))).collect()
}

/// Returns half the width of the 95 % confidence interval of a statistic, from its m [`replicates`] θ₁ … θₘ:
/// t(0.975; m − 1)·√((m − 1)/m · Σ(θⱼ − θ̄)²).
///
/// Künsch, *The jackknife and the bootstrap for general stationary observations*, 1989. For regressions it is the estimator CV3 of
/// MacKinnon, Nielsen and Webb, *Cluster-robust inference: a guide to empirical practice*, 2023, which is conservative if blocks
/// differ in how much they contribute.
///
/// ```
/// # use plimsoll_stats::{jackknife, mean};
/// let series: Vec<f64> = (0..40).map(|n| f64::from(n % 4)).collect();
/// let means = jackknife::replicates(&series, 10, |part| Some(mean(part))).unwrap();
/// assert_eq!(jackknife::half_width(&means), 0.0, "all blocks have the same mean");
/// ```
pub fn half_width(replicates: &[f64]) -> f64 {
    let (count, mean) = (replicates.len() as f64, mean(replicates));
    let squares: f64 = replicates.iter().map(|value| (value - mean).powi(2)).sum();
    t_quantile(count - 1.0) * ((count - 1.0) / count * squares).sqrt()
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;
    use crate::line;

    /// How many of 200 seeded days have the true slope in its interval: the rate follows a day's curve, and the noise depends on
    /// itself by this first-order coefficient.
    fn covered(autocorrelation: f64) -> usize {
        let holds = |seed: &u64| {
            let mut noise = Noise::new(*seed);
            let mut deviation = 0.0;
            let points: Vec<(f64, f64)> = (0..200)
                .map(|n| {
                    deviation = autocorrelation * deviation + noise.normal();
                    let rate = 300.0 - 200.0 * (std::f64::consts::TAU * f64::from(n) / 50.0).cos();
                    (rate, 0.3 + 0.002 * rate + 0.03 * deviation)
                })
                .collect();
            let slopes = replicates(&points, 10, |part| Some(line::fit(part)?.slope)).unwrap();
            (line::fit(&points).unwrap().slope - 0.002).abs() <= half_width(&slopes)
        };
        (0..200).filter(holds).count()
    }

    #[test]
    fn the_interval_of_a_slope_covers_it_about_as_often_as_it_says() {
        let independent = covered(0.0);
        assert!((180..=199).contains(&independent), "{independent} of 200");
        let dependent = covered(0.8);
        assert!(dependent >= 175, "{dependent} of 200 although values depend on each other");
    }

    #[test]
    fn every_value_is_left_out_once_and_a_short_series_has_no_interval() {
        let series: Vec<u32> = (0..23).collect();
        let parts = replicates(&series, 10, |part| Some(part.to_vec())).unwrap();
        for value in &series {
            assert_eq!(parts.iter().filter(|part| !part.contains(value)).count(), 1, "{value}");
        }
        assert_eq!(replicates(&series[..9], 10, |part| Some(part.len())), None);
        assert_eq!(replicates(&series, 10, |part| (part.len() > 22).then_some(())), None);
    }
}

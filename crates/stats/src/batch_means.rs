//! The confidence interval of the mean of an autocorrelated series, by the method of batch means.

use crate::{Weighted, autocorrelation, mean, t_quantile, variance};

/// Between 10 and 30 batches suit any length of series (Schmeiser, *Batch size effects in the analysis of simulation output*,
/// 1982). Few long batches are the least correlated.
pub const BATCHES: usize = 10;

/// The lag-1 autocorrelation of ten independent values exceeds this in one case of twenty: its mean is −1/10 and its standard
/// deviation about 1/√10.
const AUTOCORRELATION_CHANCE: f64 = 0.42;

/// The highest autocorrelation used to widen the interval; 1 would make it infinitely wide.
const MAX_AUTOCORRELATION: f64 = 0.9;

/// Splits the series into `count` batches of equal size. Excess values are dropped from the front, where a rest of warm-up would
/// be. With fewer values than `count`, each value is a batch.
///
/// ```
/// # use plimsoll_stats::batch_means::split;
/// let batches: Vec<&[f64]> = split(&[0.0, 1.0, 1.0, 2.0, 2.0], 2).collect();
/// assert_eq!(batches, [[1.0, 1.0], [2.0, 2.0]]);
/// ```
pub fn split<T>(series: &[T], count: usize) -> impl Iterator<Item = &[T]> {
    let size = (series.len() / count.max(1)).max(1);
    let used = size * count.min(series.len());
    series[series.len() - used..].chunks_exact(size)
}

/// Returns the mean of each of `count` batches from [`split`].
pub fn means<T: Weighted>(series: &[T], count: usize) -> Vec<f64> {
    split(series, count).map(mean).collect()
}

/// Returns half the width of the 95 % confidence interval of the mean; `None` with fewer than [`BATCHES`] values.
///
/// With m = 10 batch means Ȳⱼ of sample variance s², h = t(0.975; m − 1)·s/√m. This is too narrow if the batch means are still
/// correlated. If their lag-1 autocorrelation r is beyond chance, h is widened by √((1 + r)/(1 − r)), as for a first-order
/// autoregressive series.
///
/// ```
/// # use plimsoll_stats::batch_means::half_width;
/// assert_eq!(half_width(&[100.0; 50]), Some(0.0));
/// assert_eq!(half_width(&[100.0; 9]), None);
/// ```
pub fn half_width<T: Weighted>(series: &[T]) -> Option<f64> {
    if series.len() < BATCHES {
        return None;
    }
    let means = means(series, BATCHES);
    let count = means.len() as f64;
    let half = t_quantile(count - 1.0) * (variance(&means) / count).sqrt();
    Some(half * widening(autocorrelation(&means)))
}

fn widening(autocorrelation: f64) -> f64 {
    if autocorrelation <= AUTOCORRELATION_CHANCE {
        return 1.0;
    }
    let r = autocorrelation.min(MAX_AUTOCORRELATION);
    ((1.0 + r) / (1.0 - r)).sqrt()
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    /// How many of 200 seeded series of this first-order autocorrelation have their true mean in the interval.
    fn covered(autocorrelation: f64) -> usize {
        let holds = |seed| {
            let mut noise = Noise::new(seed);
            let mut deviation = 0.0;
            let rates: Vec<f64> = (0..200)
                .map(|_| {
                    deviation = autocorrelation * deviation + noise.normal();
                    1000.0 + 20.0 * deviation
                })
                .collect();
            (mean(&rates) - 1000.0).abs() <= half_width(&rates).unwrap()
        };
        (0..200).filter(|seed| holds(*seed)).count()
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let independent = covered(0.0);
        assert!((180..=199).contains(&independent), "{independent} of 200 covered");
        let dependent = covered(0.8);
        assert!(dependent >= 170, "{dependent} of 200 covered although values depend on each other");
    }

    #[test]
    fn the_remainder_is_dropped_from_the_front() {
        let mut rates = vec![1.0, 1.0, 1.0];
        rates.extend([200.0; 40]);
        assert_eq!(means(&rates, 10), vec![200.0; 10]);
        assert_eq!(means(&[4.0, 8.0], 10), [4.0, 8.0]);
        assert!(means::<f64>(&[], 10).is_empty());
    }
}

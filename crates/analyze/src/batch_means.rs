//! The confidence interval of a mean throughput, by the method of batch means.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::load::series::{Point, mean_rate};

/// Between 10 and 30 batches serve any length of series (Schmeiser, *Batch size effects in the analysis
/// of simulation output*, 1982); few long batches depend least on each other.
pub(crate) const BATCHES: usize = 10;

/// Lag-1 autocorrelation of ten independent values exceeds this in one case of twenty
/// (its mean is −1/10 and its standard deviation about 1/√10).
const AUTOCORRELATION_CHANCE: f64 = 0.42;

/// The highest autocorrelation that the widening believes; 1 would widen without end.
const AUTOCORRELATION_MAX: f64 = 0.9;

/// Mean rates of `count` batches of equally many points; what does not divide is dropped from the front,
/// where a rest of warm-up would be. Fewer points than `count` make a batch each.
pub(crate) fn batch_rates(points: &[Point], count: usize) -> Vec<f64> {
    batches(points, count).map(mean_rate).collect()
}

/// The points in `count` batches, as for [`batch_rates`].
pub(crate) fn batches(points: &[Point], count: usize) -> impl Iterator<Item = &[Point]> {
    let size = (points.len() / count.max(1)).max(1);
    let used = size * count.min(points.len());
    points[points.len() - used..].chunks_exact(size)
}

/// Student's t quantile for a two-sided 95 % interval.
pub(crate) fn t_quantile(degrees: f64) -> f64 {
    // Degrees of freedom are at least 1 at every call, which is all the distribution asks for.
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// Half the width of the 95 % interval of the mean rate, or `None` with fewer than ten points or
/// without any completed request.
///
/// With m = 10 batch means Ȳⱼ of sample variance s², h = t(0.975; m − 1)·s/√m. Batch means that still
/// depend on each other make that too narrow; when their lag-1 autocorrelation r is beyond chance, h is
/// widened by √((1 + r)/(1 − r)), as for a first-order autoregressive series.
pub(crate) fn half_width(points: &[Point]) -> Option<f64> {
    if points.len() < BATCHES || points.iter().all(|point| point.completed == 0) {
        return None;
    }
    let means = batch_rates(points, BATCHES);
    let count = means.len() as f64;
    let half = t_quantile(count - 1.0) * (variance(&means) / count).sqrt();
    Some(half * widening(autocorrelation(&means)))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Lag-1 autocorrelation; 0 of a constant series.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let together: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if spread > 0.0 { together / spread } else { 0.0 }
}

fn widening(autocorrelation: f64) -> f64 {
    if autocorrelation <= AUTOCORRELATION_CHANCE {
        return 1.0;
    }
    let r = autocorrelation.min(AUTOCORRELATION_MAX);
    ((1.0 + r) / (1.0 - r)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::series::tests::points_at;
    use crate::noise::Noise;

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
            let points = points_at(&rates);
            let half = half_width(&points).unwrap();
            (mean_rate(&points) - 1000.0).abs() <= half
        };
        (0..200).filter(|seed| holds(*seed)).count()
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let independent = covered(0.0);
        assert!((180..=199).contains(&independent), "{independent} of 200 covered");
        let dependent = covered(0.8);
        assert!(dependent >= 170, "{dependent} of 200 covered although intervals depend on each other");
    }

    #[test]
    fn too_few_intervals_or_no_answer_give_no_interval() {
        assert_eq!(half_width(&points_at(&[100.0; 9])), None);
        assert_eq!(half_width(&points_at(&[0.0; 50])), None);
        assert_eq!(half_width(&points_at(&[100.0; 50])), Some(0.0));
    }

    #[test]
    fn the_remainder_is_dropped_from_the_front() {
        let mut rates = vec![1.0, 1.0, 1.0];
        rates.extend([200.0; 40]);
        assert_eq!(batch_rates(&points_at(&rates), 10), vec![200.0; 10]);
        assert_eq!(batch_rates(&points_at(&[4.0, 8.0]), 10), [4.0, 8.0]);
        assert!(batch_rates(&[], 10).is_empty());
    }

    #[test]
    fn the_t_quantile_is_the_one_in_the_tables() {
        assert!((t_quantile(9.0) - 2.262_157).abs() < 1e-5);
    }
}

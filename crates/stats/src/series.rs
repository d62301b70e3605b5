//! Means, medians and spread of a series.

/// A weighted value of a series, such as a rate over an interval of some length. A plain `f64` has the weight 1.
pub trait Weighted {
    fn value(&self) -> f64;
    /// Returns the weight, which is above 0.
    fn weight(&self) -> f64;
}

impl Weighted for f64 {
    fn value(&self) -> f64 {
        *self
    }

    fn weight(&self) -> f64 {
        1.0
    }
}

/// Returns the weighted mean Σwx/Σw; 0 for an empty series.
///
/// ```
/// # use plimsoll_stats::mean;
/// assert_eq!(mean(&[100.0, 400.0]), 250.0);
/// ```
pub fn mean<T: Weighted>(series: &[T]) -> f64 {
    let (sum, weight) = series.iter().fold((0.0, 0.0), |(sum, weight), point| {
        (sum + point.value() * point.weight(), weight + point.weight())
    });
    if weight > 0.0 { sum / weight } else { 0.0 }
}

/// Returns the median: the middle value, or the mean of the two in the middle; `None` without values.
///
/// ```
/// # use plimsoll_stats::median;
/// assert_eq!(median(vec![5.0, 1.0, 2.0]), Some(2.0));
/// assert_eq!(median(vec![5.0, 1.0]), Some(3.0));
/// ```
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

/// Returns the sample variance Σ(x − x̄)²/(n − 1); NaN with fewer than two values.
pub fn variance(values: &[f64]) -> f64 {
    squares_about_mean(values) / (values.len() as f64 - 1.0)
}

/// Returns the lag-1 autocorrelation Σ(xᵢ − x̄)(xᵢ₊₁ − x̄)/Σ(xᵢ − x̄)² (Box and Jenkins, *Time Series Analysis*, 1970); 0 for a
/// constant series.
///
/// ```
/// # use plimsoll_stats::autocorrelation;
/// assert!(autocorrelation(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]) < -0.5);
/// assert_eq!(autocorrelation(&[7.0; 9]), 0.0);
/// ```
pub fn autocorrelation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let spread = squares_about_mean(values);
    let together: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if spread > 0.0 { together / spread } else { 0.0 }
}

fn squares_about_mean(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Interval(f64, f64);

    impl Weighted for Interval {
        fn value(&self) -> f64 {
            self.0
        }

        fn weight(&self) -> f64 {
            self.1
        }
    }

    #[test]
    fn a_longer_interval_counts_for_more_of_the_mean() {
        assert!((mean(&[Interval(100.0, 0.1), Interval(400.0, 0.05)]) - 200.0).abs() < 1e-9);
        assert_eq!(mean::<f64>(&[]), 0.0);
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn variance_is_that_of_a_sample() {
        assert_eq!(variance(&[1.0, 3.0]), 2.0);
        assert!(variance(&[1.0]).is_nan());
    }
}

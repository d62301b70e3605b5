//! A value with its confidence interval, quantiles for such intervals, and the ratio of two such values.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The quantile of the standard normal distribution for a two-sided 95 % interval.
pub const Z_95: f64 = 1.959_963_985;

/// A value with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    /// Lower and upper bound; `None` if there is too little data.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Creates a value without an interval.
    pub fn exact(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// Returns the estimate multiplied by `factor`, which must be above zero.
    pub fn times(self, factor: f64) -> Self {
        let interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        Self { value: self.value * factor, interval }
    }

    /// Returns half the width of the interval divided by the value.
    pub fn relative_half(self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0 / self.value)
    }
}

/// Returns the quantile of Student's t distribution for a two-sided 95 % interval with this many degrees of freedom; infinite if
/// these are not above 0.
///
/// ```
/// # use plimsoll_stats::t_quantile;
/// assert!((t_quantile(9.0) - 2.262).abs() < 1e-3);
/// assert_eq!(t_quantile(0.0), f64::INFINITY);
/// ```
pub fn t_quantile(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// Returns a/b with Fieller's interval (1954) for two independent estimates; `None` if b is not above zero.
///
/// With half widths u of a and v of b, the bounds are the solutions of (a − ρb)² = u² + ρ²v²:
/// ρ = (ab ± √(a²b² − (a² − u²)(b² − v²))) / (b² − v²). There is no interval if b may be zero (v ≥ b). The lower bound is at
/// least zero.
///
/// ```
/// # use plimsoll_stats::{Estimate, ratio};
/// let a = Estimate { value: 800.0, interval: Some((780.0, 820.0)) };
/// let b = Estimate { value: 1000.0, interval: Some((970.0, 1030.0)) };
/// let (low, high) = ratio(a, b).unwrap().interval.unwrap();
/// assert!(0.76 < low && low < 0.8 && 0.8 < high && high < 0.84);
/// ```
pub fn ratio(a: Estimate, b: Estimate) -> Option<Estimate> {
    if b.value <= 0.0 {
        return None;
    }
    let half = |estimate: Estimate| {
        estimate.interval.map(|(low, high)| (high - estimate.value).max(estimate.value - low))
    };
    let interval = half(a).zip(half(b)).filter(|(_, v)| *v < b.value).map(|(u, v)| {
        let (product, denominator) = (a.value * b.value, b.value * b.value - v * v);
        let root = (product * product - (a.value * a.value - u * u) * denominator).max(0.0).sqrt();
        (((product - root) / denominator).max(0.0), (product + root) / denominator)
    });
    Some(Estimate { value: a.value / b.value, interval })
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    fn estimate(value: f64, half: f64) -> Estimate {
        Estimate { value, interval: Some((value - half, value + half)) }
    }

    #[test]
    fn the_t_quantile_is_the_one_in_the_tables() {
        assert!((t_quantile(9.0) - 2.262_157).abs() < 1e-5);
    }

    #[test]
    fn the_interval_of_a_ratio_covers_it() {
        let covers = |seed| {
            let mut noise = Noise::new(seed);
            let mut near = |mean: f64, sd: f64| estimate(mean + sd * noise.normal(), 1.96 * sd);
            let (low, high) = ratio(near(800.0, 20.0), near(1000.0, 30.0)).unwrap().interval.unwrap();
            low <= 0.8 && 0.8 <= high
        };
        let covered = (0..500).filter(|seed| covers(*seed)).count();
        assert!((460..=492).contains(&covered), "{covered} of 500");
    }

    #[test]
    fn a_divisor_that_may_be_zero_has_no_interval_and_zero_no_ratio() {
        let wide = estimate(10.0, 12.0);
        assert_eq!(ratio(wide, wide), Some(Estimate { value: 1.0, interval: None }));
        assert_eq!(ratio(wide, Estimate { value: 0.0, interval: None }), None);
    }
}

//! Tests whether a series rises or falls: the Mann–Kendall test with the Theil–Sen slope.

use crate::line::slopes;
use crate::median;

/// |z| beyond this is a trend at the 1 % level. The test is repeated while a measurement runs, so the usual 5 % would report trends
/// in noise too often.
const Z_CRITICAL: f64 = 2.576;

/// With fewer values the normal approximation is poor.
const MIN_VALUES: usize = 10;

/// The trend of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Mann and Kendall's statistic: standard normal without a trend, positive if values rise.
    pub z: f64,
    /// The typical change from one value to the next.
    pub slope: f64,
}

impl Trend {
    /// Whether the values rise or fall more than chance explains, at the 1 % level.
    pub fn is_significant(&self) -> bool {
        self.z.abs() > Z_CRITICAL
    }
}

/// Returns the trend of these values; `None` with fewer than ten, where the normal approximation is poor.
///
/// Without a trend, S = Σ_{i<j} sgn(xⱼ − xᵢ) has variance (n(n−1)(2n+5) − Σ t(t−1)(2t+5))/18, where t are the sizes of groups of
/// equal values; z = (S ∓ 1)/√Var (Mann 1945, Kendall 1975). The slope is the median of (xⱼ − xᵢ)/(j − i) over all pairs (Theil
/// 1950, Sen 1968), which is robust against outliers.
///
/// ```
/// # use plimsoll_stats::mann_kendall;
/// let falling: Vec<f64> = (0..20).map(|i| 5.0 - 2.0 * f64::from(i)).collect();
/// let trend = mann_kendall(&falling).unwrap();
/// assert!(trend.is_significant());
/// assert_eq!(trend.slope, -2.0);
/// ```
pub fn mann_kendall(values: &[f64]) -> Option<Trend> {
    if values.len() < MIN_VALUES {
        return None;
    }
    let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(values.iter().copied()).collect();
    let slopes = slopes(&points);
    let s: f64 = slopes.iter().filter(|slope| **slope != 0.0).map(|slope| slope.signum()).sum();
    let variance = s_variance(values);
    let toward_zero = if s.abs() < 1.0 { 0.0 } else { s - s.signum() };
    let z = if variance > 0.0 { toward_zero / variance.sqrt() } else { 0.0 };
    Some(Trend { z, slope: median(slopes)? })
}

fn s_variance(values: &[f64]) -> f64 {
    let term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|group| term(group.len() as f64)).sum();
    (term(values.len() as f64) - ties) / 18.0
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;

    use super::*;

    #[test]
    fn a_line_is_a_trend_and_a_constant_is_none() {
        let line: Vec<f64> = (0..20).map(|i| 5.0 - f64::from(i)).collect();
        let found = mann_kendall(&line).unwrap();
        assert!(found.is_significant());
        assert!((found.slope + 1.0).abs() < 1e-12);
        assert!(!mann_kendall(&[7.0; 20]).unwrap().is_significant());
        assert_eq!(mann_kendall(&[1.0, 2.0]), None);
    }

    #[test]
    fn s_and_its_variance_are_those_of_the_definition() {
        // Two swapped neighbours in ten rising values: S = 45 − 2; Var = 10·9·25/18 = 125.
        let values = [1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let z = mann_kendall(&values).unwrap().z;
        assert!((z - 42.0 / 125_f64.sqrt()).abs() < 1e-12);
        // Ten values in five pairs: Var = (2250 − 5·18)/18 = 120.
        assert_eq!(s_variance(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0]), 120.0);
    }

    #[test]
    fn noise_is_seldom_called_a_trend() {
        let mut noise = Noise::new(3);
        let alarms = (0..500)
            .filter(|_| {
                let values: Vec<f64> = (0..20).map(|_| noise.normal()).collect();
                mann_kendall(&values).unwrap().is_significant()
            })
            .count();
        assert!(alarms <= 15, "{alarms} of 500 series of noise");
    }
}

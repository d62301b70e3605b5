//! Robust fit of a straight line to points that may include outliers.

use crate::{median, t_quantile};

/// Huber's constant: 95 % of the efficiency of least squares if the noise is normal.
const HUBER: f64 = 1.345;
/// The median absolute deviation of a normal distribution, in standard deviations.
const MAD_NORMAL: f64 = 0.674_5;
const ROUNDS: usize = 30;
/// With more points, computing the slopes of all pairs takes too long, and the slopes of distant pairs suffice.
const MAX_ALL_PAIRS: usize = 200;

/// A straight line y = a + b·x, with the uncertainty of its slope and the scatter of points about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    pub slope: f64,
    pub intercept: f64,
    /// Half the width of the 95 % interval of the slope.
    pub slope_half: f64,
    /// Half the width of the 95 % interval of a single point about the line.
    pub scatter_half: f64,
}

impl Line {
    /// Returns y at x.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Slope and intercept.
type Fit = (f64, f64);

/// Fits a line to points (x, y), some of which may be outliers; `None` with fewer than three points, or if all x are equal.
///
/// The start is the median slope of all pairs of Theil and Sen (1950, 1968), which tolerates 29 % of outliers. With more than 200
/// points it is Theil's incomplete method (1950), which pairs each point with the one half of the points further on in the order
/// of x, and tolerates 25 %. Then follows iterated least squares: points farther off than 1.345 robust standard deviations get a
/// weight that falls with their distance (Huber, *Robust estimation of a location parameter*, 1964). The half width of the slope's
/// interval is t(0.975; n − 2)·s/√Σw(x − x̄)², with s² = Σwr²/(n − 2).
///
/// ```
/// # use plimsoll_stats::line;
/// let mut points: Vec<(f64, f64)> = (1..=8).map(|i| (100.0 * f64::from(i), 0.1 * f64::from(i))).collect();
/// points[2].1 = 0.95; // one reading is wrong
/// let line = line::fit(&points).unwrap();
/// assert!((line.slope / 0.001 - 1.0).abs() < 0.05);
/// ```
pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
    if points.len() < 3 {
        return None;
    }
    let (mut fit, mut spread) = (theil_sen(points)?, 0.0);
    let mut weights = vec![1.0; points.len()];
    for _ in 0..ROUNDS {
        weights = huber_weights(points, fit);
        (fit, spread) = weighted(points, &weights)?;
    }
    let degrees = points.len() as f64 - 2.0;
    let squares: f64 =
        points.iter().zip(&weights).map(|(point, weight)| weight * residual(*point, fit).powi(2)).sum();
    let scatter_half = t_quantile(degrees) * (squares / degrees).sqrt();
    Some(Line { slope: fit.0, intercept: fit.1, slope_half: scatter_half / spread.sqrt(), scatter_half })
}

fn theil_sen(points: &[(f64, f64)]) -> Option<Fit> {
    let slope = median(if points.len() > MAX_ALL_PAIRS { wide_slopes(points) } else { slopes(points) })?;
    let intercept = median(points.iter().map(|(x, y)| y - slope * x).collect())?;
    Some((slope, intercept))
}

/// Returns the slopes between all pairs of points with different x.
pub(crate) fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (index, a) in points.iter().enumerate() {
        slopes.extend(points[index + 1..].iter().filter(|b| b.0 != a.0).map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    slopes
}

/// Returns the slopes between points that are half of all points apart in the order of x.
fn wide_slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let mut ordered = points.to_vec();
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
    let far = &ordered[ordered.len().div_ceil(2)..];
    let pairs = ordered.iter().zip(far).filter(|(a, b)| b.0 != a.0);
    pairs.map(|(a, b)| (b.1 - a.1) / (b.0 - a.0)).collect()
}

fn residual((x, y): (f64, f64), (slope, intercept): Fit) -> f64 {
    y - intercept - slope * x
}

fn huber_weights(points: &[(f64, f64)], fit: Fit) -> Vec<f64> {
    let sizes: Vec<f64> = points.iter().map(|point| residual(*point, fit).abs()).collect();
    let scale = median(sizes.clone()).unwrap_or(0.0) / MAD_NORMAL;
    let most = HUBER * scale;
    sizes.iter().map(|size| if most > 0.0 && *size > most { most / size } else { 1.0 }).collect()
}

/// Returns the weighted least-squares fit, and Σw(x − x̄)².
fn weighted(points: &[(f64, f64)], weights: &[f64]) -> Option<(Fit, f64)> {
    let pairs = || points.iter().zip(weights);
    let total: f64 = weights.iter().sum();
    let mean =
        |of: fn(&(f64, f64)) -> f64| pairs().map(|(point, weight)| weight * of(point)).sum::<f64>() / total;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = pairs().map(|(point, weight)| weight * (point.0 - x).powi(2)).sum();
    let together: f64 = pairs().map(|(point, weight)| weight * (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| ((together / spread, y - together / spread * x), spread))
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_interval_of_the_slope_covers_it() {
        let covers = |seed: &u64| {
            let mut noise = Noise::new(*seed);
            let points: Vec<(f64, f64)> = (1..=9)
                .map(|n| (100.0 * f64::from(n), 0.05 + 0.05 * f64::from(n) + 0.01 * noise.normal()))
                .collect();
            let line = fit(&points).unwrap();
            (line.slope - 0.0005).abs() <= line.slope_half
        };
        let count = (0..300).filter(covers).count();
        assert!(count >= 260, "{count} of 300");
    }

    #[test]
    fn a_fifth_of_many_points_far_above_the_line_hardly_moves_it() {
        let mut noise = Noise::new(7);
        let points: Vec<(f64, f64)> = (0..2000)
            .map(|n| {
                let x = f64::from(n % 400);
                (x, 0.2 + 0.01 * x + 0.02 * noise.normal() + if n % 5 == 0 { 3.0 } else { 0.0 })
            })
            .collect();
        let line = fit(&points).unwrap();
        assert!((line.slope - 0.01).abs() < 0.000_2, "{line:?}");
    }

    #[test]
    fn two_points_and_points_above_each_other_have_no_line() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    proptest! {
        #[test]
        fn exact_points_give_their_line_back(slope in -1e3_f64..1e3, intercept in -1e3_f64..1e3) {
            let points: Vec<(f64, f64)> =
                (0..7).map(|n| (f64::from(n * n), intercept + slope * f64::from(n * n))).collect();
            let line = fit(&points).unwrap();
            prop_assert!((line.slope - slope).abs() < 1e-6 && (line.intercept - intercept).abs() < 1e-6);
            prop_assert!(line.slope_half < 1e-6 && line.scatter_half < 1e-6);
        }
    }
}

//! Fits the Universal Scalability Law to measured points.
//!
//! X(N) = γN / (1 + α(N − 1) + βN(N − 1)) (Gunther, *A Simple Capacity Model of Massively Parallel Transaction Systems*,
//! 1993; *Guerrilla Capacity Planning*, 2007): γ is the throughput at size 1, α the serial fraction of the work (contention), β
//! the cost of keeping all pairs consistent (coherence). The size N is the number of whatever is scaled: connections, threads,
//! machines.

mod least_squares;

use crate::{Estimate, t_quantile};
pub use least_squares::Point;
use least_squares::{Parameters, Problem, divisor, inverse};

/// Gunther's rule for three parameters.
const MIN_POINTS: usize = 6;
/// The smallest R² at which the law describes the points.
const MIN_R_SQUARED: f64 = 0.9;
/// A peak is claimed only up to this multiple of the largest measured size.
const MAX_EXTRAPOLATION: f64 = 2.0;
/// Throughput within this ratio of the highest counts as equal.
const LEVEL: f64 = 0.05;

/// The fitted law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// γ: throughput at size 1.
    pub gamma: Estimate,
    /// α: contention.
    pub alpha: Estimate,
    /// β: coherence.
    pub beta: Estimate,
    /// The size with the highest throughput, √((1 − α)/β). `None` unless β is significantly above 0, the peak is at most twice the
    /// largest measured size, and no measured point contradicts it.
    pub peak: Option<f64>,
    pub r_squared: f64,
}

impl Usl {
    /// Returns the size from which throughput falls according to the law, √((1 − α)/β), however far beyond the measured sizes; infinite
    /// for β = 0, and 1 for a law that only falls.
    pub fn top(&self) -> f64 {
        let (alpha, beta) = (self.alpha.value, self.beta.value);
        if beta > 0.0 { ((1.0 - alpha).max(0.0) / beta).sqrt().max(1.0) } else { f64::INFINITY }
    }

    /// Returns the throughput at a size according to the law.
    pub fn throughput(&self, size: f64) -> f64 {
        throughput([self.gamma.value, self.alpha.value, self.beta.value], size)
    }
}

/// The fit, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UslFit {
    Fitted(Usl),
    /// There are fewer than six points; the value is their number.
    TooFewPoints(u32),
    /// The law does not describe the points: R² is below 0.9.
    Poor,
}

fn throughput(fit: Parameters, n: f64) -> f64 {
    fit[0] * n / divisor(fit, n)
}

/// Returns the best fit with α ≥ 0 and β ≥ 0. In practice the sum of squares has a single minimum, so a parameter that would be
/// negative is best at zero. All four ways of fixing α and β at zero are tried.
fn best(points: &[Point]) -> Option<Parameters> {
    let choices = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let fits = choices.map(|free| {
        let problem = Problem { points, free };
        let fit = problem.minimum();
        (problem.square_sum(fit), fit)
    });
    let possible = fits.into_iter().filter(|(_, fit)| is_possible(*fit));
    possible.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, fit)| fit)
}

/// Whether the parameters are possible: γ is positive, and α and β are not negative.
fn is_possible(fit: Parameters) -> bool {
    fit.iter().all(|value| value.is_finite() && *value >= 0.0) && fit[0] > 0.0
}

/// Returns 95 % intervals: the covariance s²(JᵀJ)⁻¹ times Student's t (Bates and Watts, *Nonlinear Regression Analysis*, 1988,
/// chapter 2). s² has n − 3 degrees of freedom, counting all three parameters even if one is fixed at zero. Bounds below zero are
/// cut to zero.
fn estimates(points: &[Point], fit: Parameters) -> Option<[Estimate; 3]> {
    let degrees = points.len() as f64 - 3.0;
    let all = Problem { points, free: [true; 3] };
    let inverse = inverse(&all.normal(fit).0)?;
    let variance = all.square_sum(fit) / degrees;
    Some([0, 1, 2].map(|index| {
        let half = t_quantile(degrees) * (inverse[index][index] * variance).max(0.0).sqrt();
        Estimate { value: fit[index], interval: Some(((fit[index] - half).max(0.0), fit[index] + half)) }
    }))
}

/// Returns R² = 1 − Σ(X − X(N))² / Σ(X − X̄)².
fn r_squared(points: &[Point], fit: Parameters) -> f64 {
    let mean = points.iter().map(|point| point.throughput).sum::<f64>() / points.len() as f64;
    let missed: f64 =
        points.iter().map(|point| (point.throughput - throughput(fit, point.size)).powi(2)).sum();
    let spread: f64 = points.iter().map(|point| (point.throughput - mean).powi(2)).sum();
    if spread > 0.0 { 1.0 - missed / spread } else { 0.0 }
}

/// Returns N_peak = √((1 − α)/β) if β is significantly above zero, the peak is not far beyond the measured sizes, and no point
/// contradicts it.
fn peak(points: &[Point], alpha: f64, beta: Estimate) -> Option<f64> {
    let largest = points.iter().map(|point| point.size).fold(0.0, f64::max);
    let known = beta.interval.is_some_and(|(low, _)| low > 0.0) && alpha < 1.0;
    let peak = known.then(|| ((1.0 - alpha) / beta.value).sqrt())?;
    (peak <= MAX_EXTRAPOLATION * largest && falls_beyond(points, peak)).then_some(peak)
}

/// Whether no point contradicts the peak. Fitted to a plateau, the law also bends down and shows a peak where throughput is level.
/// So the throughput of every point beyond the peak must be below the best by more than [`LEVEL`], and its whole interval below that
/// of the best. Only the first point beyond the peak may itself be the best, because a peak can lie between two sizes.
fn falls_beyond(points: &[Point], peak: f64) -> bool {
    let best = points.iter().max_by(|a, b| a.throughput.total_cmp(&b.throughput));
    let Some(best) = best else { return false };
    let beyond = || points.iter().filter(|point| point.size > peak);
    let first = beyond().map(|point| point.size).fold(f64::INFINITY, f64::min);
    let level = (1.0 - LEVEL) * best.throughput;
    let below = |point: &Point| {
        let bounds = point.interval.zip(best.interval);
        point.throughput < level && bounds.is_some_and(|((_, high), (low, _))| high < low)
    };
    best.size <= first && beyond().all(|point| point.size == best.size || below(point))
}

/// Fits the law to these points, by least squares on relative residuals (Levenberg–Marquardt) with α ≥ 0 and β ≥ 0.
///
/// ```
/// # use plimsoll_stats::usl::{Point, UslFit, fit};
/// let law = |n: f64| 1000.0 * n / (1.0 + 0.02 * (n - 1.0) + 0.001 * n * (n - 1.0));
/// let points = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0].map(|size| {
///     let throughput = law(size);
///     Point { size, throughput, interval: Some((0.99 * throughput, 1.01 * throughput)) }
/// });
/// let UslFit::Fitted(usl) = fit(&points) else { panic!("exact points fit") };
/// assert!((usl.peak.unwrap() - 31.3).abs() < 0.1);
/// ```
pub fn fit(points: &[Point]) -> UslFit {
    if points.len() < MIN_POINTS {
        return UslFit::TooFewPoints(points.len() as u32);
    }
    let Some(best) = best(points) else { return UslFit::Poor };
    let r_squared = r_squared(points, best);
    match estimates(points, best) {
        Some([gamma, alpha, beta]) if r_squared >= MIN_R_SQUARED => {
            let peak = peak(points, alpha.value, beta);
            UslFit::Fitted(Usl { gamma, alpha, beta, peak, r_squared })
        }
        _ => UslFit::Poor,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::Noise;
    use proptest::prelude::*;

    use super::*;

    const SIZES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

    /// A point known to within 1 %.
    fn at(size: f64, throughput: f64) -> Point {
        Point { size, throughput, interval: Some((0.99 * throughput, 1.01 * throughput)) }
    }

    fn points(parameters: [f64; 3], seed: u64, noise: f64) -> Vec<Point> {
        let mut source = Noise::new(seed);
        let exact = |size| throughput(parameters, size);
        SIZES.map(|size| at(size, exact(size) * (1.0 + noise * source.normal()))).to_vec()
    }

    fn fitted(points: &[Point]) -> Usl {
        match fit(points) {
            UslFit::Fitted(usl) => usl,
            refused => panic!("no fit: {refused:?}"),
        }
    }

    fn within(estimate: Estimate, truth: f64) -> bool {
        estimate.interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    }

    #[test]
    fn a_retrograde_ladder_gives_its_peak() {
        let usl = fitted(&points([995.6, 0.026_7, 0.000_769], 1, 0.0));
        assert!((usl.peak.unwrap() - 35.6).abs() < 0.1);
        assert!(usl.r_squared > 0.999_999);
    }

    #[test]
    fn intervals_cover_the_truth() {
        let truth = [1200.0, 0.02, 0.0003];
        let covered = (0..200).filter(|seed| {
            let usl = fitted(&points(truth, *seed, 0.03));
            within(usl.gamma, truth[0]) && within(usl.alpha, truth[1]) && within(usl.beta, truth[2])
        });
        // Three intervals at 95 % each hold together in at least 85 % of cases.
        let count = covered.count();
        assert!(count >= 170, "{count} of 200");
    }

    /// The values of the crate `levenberg-marquardt` 0.15 for the same points.
    #[test]
    fn the_minimum_is_the_one_that_another_implementation_finds() {
        let expected = [
            ([1200.0, 0.02, 0.0003], 7, [1_195.680_411_002_6, 0.019_076_345_555_5, 0.000_292_422_654_023]),
            ([1000.0, 0.05, 0.0], 4, [992.030_895_017_2, 0.048_035_567_751_0, 0.0]),
            ([50.0, 0.0, 0.001], 2, [49.904_288_057_29, 0.0, 0.001_003_187_233_012]),
        ];
        for (truth, seed, values) in expected {
            let usl = fitted(&points(truth, seed, 0.03));
            let found = [usl.gamma.value, usl.alpha.value, usl.beta.value];
            let off = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-7 * b.abs();
            assert!(!found.iter().zip(&values).any(off), "{found:?} {values:?}");
        }
        let usl = fitted(&points([1200.0, 0.02, 0.0003], 7, 0.03));
        let (low, high) = usl.alpha.interval.unwrap();
        assert!((low - 0.016_188_136_453).abs() < 1e-9 && (high - 0.021_964_554_658).abs() < 1e-9);
    }

    #[test]
    fn no_peak_is_claimed_where_coherence_may_be_zero_or_the_peak_is_far_off() {
        let contention_only = fitted(&points([1000.0, 0.05, 0.0], 4, 0.02));
        assert_eq!(contention_only.peak, None);
        assert!(contention_only.beta.interval.is_some_and(|(low, _)| low == 0.0));
        let far = fitted(&points([1000.0, 0.0, 1e-7], 1, 0.0));
        assert_eq!(far.peak, None);
    }

    #[test]
    fn no_peak_is_claimed_before_points_that_are_no_slower() {
        // A pool of 16 that answers in 5 ms: the fit bends down behind its corner. The points do not, but for a
        // few per mille, and each is known so well that even these are significant.
        let pool = |n: &f64| {
            let throughput = 200.0 * n.min(16.0) * (1.0 - 0.002 * n.log2());
            Point { size: *n, throughput, interval: Some((0.9999 * throughput, 1.0001 * throughput)) }
        };
        let points: Vec<Point> = SIZES[..8].iter().map(pool).collect();
        let Some([_, alpha, beta]) = best(&points).and_then(|fit| estimates(&points, fit)) else {
            panic!("no fit")
        };
        let by_formula = ((1.0 - alpha.value) / beta.value).sqrt();
        assert!((32.0..128.0).contains(&by_formula), "{by_formula}");
        assert!(!falls_beyond(&points, by_formula));
        assert_eq!(peak(&points, alpha.value, Estimate { interval: Some(beta_known(beta)), ..beta }), None);
    }

    fn beta_known(beta: Estimate) -> (f64, f64) {
        (0.9 * beta.value, 1.1 * beta.value)
    }

    #[test]
    fn superlinear_data_never_give_negative_parameters() {
        let usl = fitted(&SIZES.map(|n| at(n, 100.0 * n.powf(1.05))));
        assert_eq!((usl.alpha.value, usl.beta.value), (0.0, 0.0));
    }

    #[test]
    fn few_points_and_a_poor_fit_are_refused() {
        assert_eq!(fit(&points([1000.0, 0.0, 0.0], 1, 0.0)[..5]), UslFit::TooFewPoints(5));
        let zigzag =
            SIZES.iter().enumerate().map(|(index, n)| at(*n, if index % 2 == 0 { 1000.0 } else { 100.0 }));
        assert_eq!(fit(&zigzag.collect::<Vec<_>>()), UslFit::Poor);
    }

    proptest! {
        #[test]
        fn exact_data_give_their_parameters_back(
            gamma in 1.0_f64..1e6,
            alpha in 0.0_f64..0.5,
            beta in 0.0_f64..0.01,
        ) {
            let UslFit::Fitted(usl) = fit(&points([gamma, alpha, beta], 1, 0.0)) else {
                return Err(TestCaseError::fail("no fit"));
            };
            prop_assert!((usl.gamma.value / gamma - 1.0).abs() < 1e-4, "{usl:?}");
            prop_assert!((usl.alpha.value - alpha).abs() < 1e-4, "{usl:?}");
            prop_assert!((usl.beta.value - beta).abs() < 1e-6, "{usl:?}");
        }
    }
}

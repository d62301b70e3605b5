//! The Universal Scalability Law, fitted over the steps of a ladder.
//!
//! X(N) = γN / (1 + α(N − 1) + βN(N − 1)) (Gunther, *A Simple Capacity Model of Massively Parallel
//! Transaction Systems*, 1993; *Guerrilla Capacity Planning*, 2007): γ is the throughput of one connection,
//! α the part of the work that waits for one thing, β the cost of keeping each in step with each other.

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DVector, Dyn, Matrix3, OMatrix, U3, Vector3};

use crate::batch_means::t_quantile;
use crate::load::knee::TOLERANCE as LEVEL_WITHIN;
use crate::{Estimate, Usl, UslFit};

/// Gunther's rule for three parameters.
const STEPS_LEAST: usize = 6;
/// Below this the law does not describe the ladder.
const R_SQUARED_LEAST: f64 = 0.9;
/// A peak is not claimed beyond so many times the highest concurrency that was tested.
const EXTRAPOLATION_MOST: f64 = 2.0;

/// One step: concurrency and throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    /// Connections.
    pub(crate) connections: f64,
    /// Requests per second.
    pub(crate) throughput_per_sec: f64,
    /// The 95 % interval of that, where it is known.
    pub(crate) interval_per_sec: Option<(f64, f64)>,
}

type Parameters = Vector3<f64>;
type Jacobian = OMatrix<f64, Dyn, U3>;

/// Least squares on relative residuals X(N)/X − 1: the noise of throughput is a ratio of it, and the low
/// steps, which determine γ, would not count beside the high ones otherwise.
struct Problem<'a> {
    loads: &'a [Load],
    /// γ, α, β.
    parameters: Parameters,
    /// Parameters that are fitted; the others stay at zero.
    free: [bool; 3],
}

impl Load {
    fn divisor(&self, p: &Parameters) -> f64 {
        let n = self.connections;
        1.0 + p[1] * (n - 1.0) + p[2] * n * (n - 1.0)
    }

    fn predicted(&self, p: &Parameters) -> f64 {
        p[0] * self.connections / self.divisor(p)
    }

    /// Derivatives of the relative residual by γ, α, β.
    fn gradient(&self, p: &Parameters) -> [f64; 3] {
        let n = self.connections;
        let relative = self.predicted(p) / self.throughput_per_sec;
        let by_divisor = -relative / self.divisor(p);
        [relative / p[0], by_divisor * (n - 1.0), by_divisor * n * (n - 1.0)]
    }
}

impl LeastSquaresProblem<f64, Dyn, U3> for Problem<'_> {
    type ParameterStorage = Owned<f64, U3>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, U3>;

    fn set_params(&mut self, parameters: &Parameters) {
        self.parameters = *parameters;
    }

    fn params(&self) -> Parameters {
        self.parameters
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let residual = |load: &Load| load.predicted(&self.parameters) / load.throughput_per_sec - 1.0;
        Some(DVector::from_iterator(self.loads.len(), self.loads.iter().map(residual)))
    }

    fn jacobian(&self) -> Option<Jacobian> {
        let mut jacobian = Jacobian::zeros(self.loads.len());
        for (row, load) in self.loads.iter().enumerate() {
            let gradient = load.gradient(&self.parameters);
            (0..3)
                .filter(|column| self.free[*column])
                .for_each(|column| jacobian[(row, column)] = gradient[column]);
        }
        Some(jacobian)
    }
}

impl Problem<'_> {
    fn square_sum(&self) -> f64 {
        self.residuals().map_or(f64::INFINITY, |residuals| residuals.norm_squared())
    }

    /// True if γ is positive and neither α nor β is negative, which the law's meaning forbids.
    fn possible(&self) -> bool {
        self.parameters.iter().all(|value| value.is_finite() && *value >= 0.0) && self.parameters[0] > 0.0
    }
}

/// Start values from the linear form N/X = 1/γ + (α/γ)(N − 1) + (β/γ)N(N − 1), by least squares on rows
/// divided by N/X; what comes out negative starts at zero.
fn start(loads: &[Load]) -> Parameters {
    let mut normal = Matrix3::zeros();
    let mut right = Vector3::zeros();
    for load in loads {
        let n = load.connections;
        let row = Vector3::new(1.0, n - 1.0, n * (n - 1.0)) * (load.throughput_per_sec / n);
        normal += row * row.transpose();
        right += row;
    }
    let linear = inverse(&normal).map(|inverse| inverse * right).filter(|linear| linear[0] > 0.0);
    let rough = loads.iter().map(|load| load.throughput_per_sec / load.connections).fold(0.0, f64::max);
    linear.map_or(Vector3::new(rough, 0.01, 0.0), |linear| {
        Vector3::new(1.0 / linear[0], (linear[1] / linear[0]).max(0.0), (linear[2] / linear[0]).max(0.0))
    })
}

/// The inverse of a symmetric positive matrix whose rows differ by many orders of magnitude: scaled to a
/// unit diagonal first. A row of zeros, which a parameter that is not fitted leaves, stays zero.
fn inverse(matrix: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let scale = matrix.diagonal().map(|value| if value > 0.0 { 1.0 / value.sqrt() } else { 0.0 });
    let mut scaled = Matrix3::from_diagonal(&scale) * matrix * Matrix3::from_diagonal(&scale);
    (0..3).filter(|index| scale[*index] == 0.0).for_each(|index| scaled[(index, index)] = 1.0);
    Some(Matrix3::from_diagonal(&scale) * scaled.try_inverse()? * Matrix3::from_diagonal(&scale))
}

fn minimize(loads: &[Load], free: [bool; 3]) -> Problem<'_> {
    let mut parameters = start(loads);
    (0..3).filter(|index| !free[*index]).for_each(|index| parameters[index] = 0.0);
    LevenbergMarquardt::new().minimize(Problem { loads, parameters, free }).0
}

/// The best fit with α ≥ 0 and β ≥ 0. The sum of squares has one minimum in practice, so a parameter that
/// wants to be negative belongs at zero: all four ways to set some to zero are tried.
fn best(loads: &[Load]) -> Option<Problem<'_>> {
    let choices = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let fits = choices.into_iter().map(|free| minimize(loads, free)).filter(Problem::possible);
    fits.min_by(|a, b| a.square_sum().total_cmp(&b.square_sum()))
}

/// 95 % intervals: the covariance is s²(JᵀJ)⁻¹ with s² over n − 3 degrees of freedom, of all three
/// parameters even if one rests at its limit of zero, times Student's t (Bates and Watts, *Nonlinear
/// Regression Analysis*, 1988, chapter 2). Bounds below zero are cut there.
fn estimates(fit: &Problem<'_>) -> Option<[Estimate; 3]> {
    let all = Problem { loads: fit.loads, parameters: fit.parameters, free: [true; 3] };
    let jacobian = all.jacobian()?;
    let degrees = fit.loads.len() as f64 - 3.0;
    let covariance = inverse(&(jacobian.transpose() * &jacobian))? * (fit.square_sum() / degrees);
    Some([0, 1, 2].map(|index| {
        let value = fit.parameters[index];
        let half = t_quantile(degrees) * covariance[(index, index)].max(0.0).sqrt();
        Estimate { value, interval: Some(((value - half).max(0.0), value + half)) }
    }))
}

/// 1 − Σ(X − X(N))² / Σ(X − X̄)².
fn r_squared(fit: &Problem<'_>) -> f64 {
    let mean = fit.loads.iter().map(|load| load.throughput_per_sec).sum::<f64>() / fit.loads.len() as f64;
    let missed: f64 = fit
        .loads
        .iter()
        .map(|load| (load.throughput_per_sec - load.predicted(&fit.parameters)).powi(2))
        .sum();
    let spread: f64 = fit.loads.iter().map(|load| (load.throughput_per_sec - mean).powi(2)).sum();
    if spread > 0.0 { 1.0 - missed / spread } else { 0.0 }
}

/// N_peak = √((1 − α)/β), where β is known to be above zero, the peak is not far beyond what was tested, and
/// the steps bear it out.
fn peak(loads: &[Load], alpha: f64, beta: Estimate) -> Option<f64> {
    let connections_most = loads.iter().map(|load| load.connections).fold(0.0, f64::max);
    let known = beta.interval.is_some_and(|(low, _)| low > 0.0) && alpha < 1.0;
    let peak = known.then(|| ((1.0 - alpha) / beta.value).sqrt())?;
    (peak <= EXTRAPOLATION_MOST * connections_most && falls_beyond(loads, peak)).then_some(peak)
}

/// True unless a tested step contradicts the peak. The law bends down to follow the corner of a plateau too,
/// and then gives a peak where throughput is level. So every step beyond it must lie below the best step, with
/// its whole interval and by more than what the knee takes for level. Only the first beyond it may be the best itself: a peak lies between two rungs.
fn falls_beyond(loads: &[Load], peak: f64) -> bool {
    let best = loads.iter().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec));
    let Some(best) = best else { return false };
    let beyond = || loads.iter().filter(|load| load.connections > peak);
    let first = beyond().map(|load| load.connections).fold(f64::INFINITY, f64::min);
    let level_per_sec = (1.0 - LEVEL_WITHIN) * best.throughput_per_sec;
    let below = |load: &Load| {
        let bounds = load.interval_per_sec.zip(best.interval_per_sec);
        load.throughput_per_sec < level_per_sec && bounds.is_some_and(|((_, high), (low, _))| high < low)
    };
    best.connections <= first && beyond().all(|load| load.connections == best.connections || below(load))
}

/// Fits the law to these steps.
pub(crate) fn fit(loads: &[Load]) -> UslFit {
    if loads.len() < STEPS_LEAST {
        return UslFit::TooFewSteps(loads.len() as u32);
    }
    let Some(best) = best(loads) else { return UslFit::Poor };
    let r_squared = r_squared(&best);
    match estimates(&best) {
        Some([gamma, alpha, beta]) if r_squared >= R_SQUARED_LEAST => {
            let peak_connections = peak(loads, alpha.value, beta);
            UslFit::Fitted(Usl { gamma, alpha, beta, peak_connections, r_squared })
        }
        _ => UslFit::Poor,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    const RUNGS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

    /// A step known to within 1 %.
    fn at(connections: f64, throughput_per_sec: f64) -> Load {
        let interval_per_sec = Some((0.99 * throughput_per_sec, 1.01 * throughput_per_sec));
        Load { connections, throughput_per_sec, interval_per_sec }
    }

    fn loads(parameters: [f64; 3], seed: u64, noise: f64) -> Vec<Load> {
        let mut source = Noise::new(seed);
        let mut load = |connections: &f64| {
            let exact = at(*connections, 1.0);
            at(*connections, exact.predicted(&Vector3::from(parameters)) * (1.0 + noise * source.normal()))
        };
        RUNGS.iter().map(&mut load).collect()
    }

    fn fitted(loads: &[Load]) -> Usl {
        match fit(loads) {
            UslFit::Fitted(usl) => usl,
            refused => panic!("no fit: {refused:?}"),
        }
    }

    fn within(estimate: Estimate, truth: f64) -> bool {
        estimate.interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    }

    #[test]
    fn the_jacobian_is_the_derivative_of_the_residuals() {
        let loads = loads([1000.0, 0.03, 0.0002], 1, 0.05);
        let at = |parameters| Problem { loads: &loads, parameters, free: [true; 3] };
        let parameters = Vector3::new(900.0, 0.05, 0.0001);
        let exact = at(parameters).jacobian().unwrap();
        for column in 0..3 {
            let mut step = Vector3::zeros();
            step[column] = 1e-5 * parameters[column];
            let ahead = at(parameters + step).residuals().unwrap();
            let behind = at(parameters - step).residuals().unwrap();
            let numeric = (ahead - behind) / (2.0 * step[column]);
            let miss = (exact.column(column) - &numeric).norm() / numeric.norm();
            assert!(miss < 1e-6, "column {column} is off by {miss}");
        }
    }

    #[test]
    fn a_retrograde_ladder_gives_its_peak() {
        let usl = fitted(&loads([995.6, 0.026_7, 0.000_769], 1, 0.0));
        assert!((usl.peak_connections.unwrap() - 35.6).abs() < 0.1);
        assert!(usl.r_squared > 0.999_999);
    }

    #[test]
    fn intervals_cover_the_truth() {
        let truth = [1200.0, 0.02, 0.0003];
        let covered = (0..200).filter(|seed| {
            let usl = fitted(&loads(truth, *seed, 0.03));
            within(usl.gamma, truth[0]) && within(usl.alpha, truth[1]) && within(usl.beta, truth[2])
        });
        // Three intervals at 95 % each hold together in at least 85 % of cases.
        let count = covered.count();
        assert!(count >= 170, "{count} of 200");
    }

    #[test]
    fn no_peak_is_claimed_where_coherence_may_be_zero_or_the_peak_is_far_off() {
        let contention_only = fitted(&loads([1000.0, 0.05, 0.0], 4, 0.02));
        assert_eq!(contention_only.peak_connections, None);
        assert!(contention_only.beta.interval.is_some_and(|(low, _)| low == 0.0));
        let far = fitted(&loads([1000.0, 0.0, 1e-7], 1, 0.0));
        assert_eq!(far.peak_connections, None);
    }

    #[test]
    fn no_peak_is_claimed_before_steps_that_are_no_slower() {
        // A pool of 16 that answers in 5 ms: the fit bends down behind its corner. The steps do not, but for a
        // few per mille, and each is known so well that even these are significant.
        let pool = |n: &f64| {
            let throughput_per_sec = 200.0 * n.min(16.0) * (1.0 - 0.002 * n.log2());
            let interval_per_sec = Some((0.9999 * throughput_per_sec, 1.0001 * throughput_per_sec));
            Load { interval_per_sec, ..at(*n, throughput_per_sec) }
        };
        let loads: Vec<Load> = RUNGS[..8].iter().map(pool).collect();
        let Some([_, alpha, beta]) = best(&loads).as_ref().and_then(estimates) else { panic!("no fit") };
        let by_formula = ((1.0 - alpha.value) / beta.value).sqrt();
        assert!((32.0..128.0).contains(&by_formula), "{by_formula}");
        assert!(!falls_beyond(&loads, by_formula));
        assert_eq!(peak(&loads, alpha.value, Estimate { interval: Some(beta_known(beta)), ..beta }), None);
    }

    fn beta_known(beta: Estimate) -> (f64, f64) {
        (0.9 * beta.value, 1.1 * beta.value)
    }

    #[test]
    fn superlinear_data_never_give_negative_parameters() {
        let load = |n: &f64| at(*n, 100.0 * n.powf(1.05));
        let usl = fitted(&RUNGS.iter().map(load).collect::<Vec<_>>());
        assert_eq!((usl.alpha.value, usl.beta.value), (0.0, 0.0));
    }

    #[test]
    fn few_steps_and_a_poor_fit_are_refused() {
        assert_eq!(fit(&loads([1000.0, 0.0, 0.0], 1, 0.0)[..5]), UslFit::TooFewSteps(5));
        let zigzag =
            RUNGS.iter().enumerate().map(|(index, n)| at(*n, if index % 2 == 0 { 1000.0 } else { 100.0 }));
        assert_eq!(fit(&zigzag.collect::<Vec<_>>()), UslFit::Poor);
    }

    proptest! {
        #[test]
        fn exact_data_give_their_parameters_back(
            gamma in 1.0_f64..1e6,
            alpha in 0.0_f64..0.5,
            beta in 0.0_f64..0.01,
        ) {
            let UslFit::Fitted(usl) = fit(&loads([gamma, alpha, beta], 1, 0.0)) else {
                return Err(TestCaseError::fail("no fit"));
            };
            prop_assert!((usl.gamma.value / gamma - 1.0).abs() < 1e-4, "{usl:?}");
            prop_assert!((usl.alpha.value - alpha).abs() < 1e-4, "{usl:?}");
            prop_assert!((usl.beta.value - beta).abs() < 1e-6, "{usl:?}");
        }
    }
}

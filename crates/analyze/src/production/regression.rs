//! Fits the utilisation law to points of rate and use.

use plimsoll_stats::line::{self, Line};
use plimsoll_stats::{Estimate, jackknife, median};

use super::series::ProductionSeries;

/// Blocks of the jackknife: between 10 and 30 suit any length (Schmeiser 1982), and few long ones depend least on each other.
const BLOCKS: usize = 10;
/// Two points for each block.
pub(super) const MIN_POINTS: usize = 2 * BLOCKS;
/// The share of points below the low end, and above the high end, of the observed rates.
const TAIL: f64 = 0.05;
/// An outlier is at least this many robust standard deviations off the line.
const FAR: f64 = 4.0;
/// The median absolute deviation of a normal distribution, in standard deviations.
const MAD_NORMAL: f64 = 0.674_5;
/// Deviations below this fraction of the highest use are noise, however small the others are.
const MIN_EXTRA: f64 = 0.02;

/// The rate and the use at one instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// The index of the instant in the series.
    pub(super) at: usize,
    pub(super) rate: f64,
    pub(super) usage: f64,
}

/// The points at which both rate and use are known, in order of time.
pub(super) fn points(series: &ProductionSeries, usage: &[Option<f64>]) -> Vec<Point> {
    let pairs = series.rate_per_sec.iter().zip(usage).enumerate();
    pairs.filter_map(|(at, (rate, usage))| Some(Point { at, rate: (*rate)?, usage: (*usage)? })).collect()
}

/// Pairs of rate and use, without the instants.
pub(super) fn plain(points: &[Point]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.rate, point.usage)).collect()
}

/// The quantile of the rates for this share of the points; `None` without points.
pub(super) fn rate_quantile(points: &[Point], share: f64) -> Option<f64> {
    let mut rates: Vec<f64> = points.iter().map(|point| point.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(((rates.len() as f64 * share) as usize).min(rates.len().saturating_sub(1))).copied()
}

/// The 5 % and 95 % quantiles of the rates.
pub(super) fn rate_ends(points: &[Point]) -> Option<(f64, f64)> {
    Some((rate_quantile(points, TAIL)?, rate_quantile(points, 1.0 - TAIL)?))
}

/// A line through points, with a robust bound for outliers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Baseline {
    line: Line,
    /// A point is an outlier if its distance from the line is above this.
    pub(super) bound: f64,
}

impl Baseline {
    /// Fits the line to these points. The outlier bound depends on their deviations, and on `highest`, the highest use of all points.
    /// `None` without a line.
    pub(super) fn new(points: &[Point], highest: f64) -> Option<Self> {
        let line = line::fit(&plain(points))?;
        let baseline = Self { line, bound: 0.0 };
        let sizes = points.iter().map(|point| baseline.excess(point).abs()).collect();
        let deviation = median(sizes).unwrap_or(0.0) / MAD_NORMAL;
        Some(Self { bound: (FAR * deviation).max(MIN_EXTRA * highest), ..baseline })
    }

    /// The use at a rate, by the line.
    pub(super) fn usage_at(&self, rate: f64) -> f64 {
        self.line.at(rate)
    }

    /// The use of a point above the line.
    pub(super) fn excess(&self, point: &Point) -> f64 {
        point.usage - self.usage_at(point.rate)
    }

    /// True for a point that is an outlier above the line.
    pub(super) fn is_far(&self, point: &Point) -> bool {
        self.excess(point) > self.bound
    }
}

/// The highest use of these points; 0 without any.
pub(super) fn highest_usage(points: &[Point]) -> f64 {
    points.iter().map(|point| point.usage).fold(0.0, f64::max)
}

/// One fit: the line, and the difference of a parabola from it.
#[derive(Debug, Clone, Copy)]
struct Fit {
    line: Line,
    /// The coefficient of the square of the rate.
    square: f64,
    /// The height of the parabola above the line at the high end.
    lift: f64,
    /// The slope of the parabola minus that of the line at the high end.
    turn: f64,
}

impl Fit {
    /// The parabola's height and slope at the high end.
    fn tangent(&self, high: f64) -> (f64, f64) {
        (self.line.at(high) + self.lift, self.line.slope + self.turn)
    }
}

/// The fitted law with its jackknife replicates.
#[derive(Debug)]
pub(super) struct Regression {
    fit: Fit,
    replicates: Vec<Fit>,
    /// The low and high ends of the rates.
    ends: (f64, f64),
}

impl Regression {
    /// `None` with fewer than [`MIN_POINTS`], or where all rates are equal.
    pub(super) fn new(points: &[Point]) -> Option<Self> {
        if points.len() < MIN_POINTS {
            return None;
        }
        let ends = rate_ends(points)?;
        let pairs = plain(points);
        let replicates = jackknife::replicates(&pairs, BLOCKS, |part| fitted(part, ends.1))?;
        Some(Self { fit: fitted(&pairs, ends.1)?, replicates, ends })
    }

    fn estimate(&self, statistic: impl Fn(&Fit) -> f64) -> Estimate {
        let value = statistic(&self.fit);
        let half = jackknife::half_width(&self.replicates.iter().map(statistic).collect::<Vec<_>>());
        Estimate { value, interval: Some((value - half, value + half)) }
    }

    pub(super) fn per_request(&self) -> Estimate {
        self.estimate(|fit| fit.line.slope)
    }

    pub(super) fn background(&self) -> Estimate {
        self.estimate(|fit| fit.line.intercept)
    }

    /// The use at a rate, by the line.
    pub(super) fn usage_at(&self, rate: f64) -> Estimate {
        self.estimate(|fit| fit.line.at(rate))
    }

    /// The relative change of the slope from the low to the high end of the rates.
    pub(super) fn bend(&self) -> Estimate {
        let span = self.ends.1 - self.ends.0;
        self.estimate(|fit| 2.0 * fit.square * span / fit.line.slope)
    }

    /// The rate at which the line reaches a use. Its interval is computed from the logarithm, since rates are above 0. `None` if the line
    /// of a replicate never reaches it.
    pub(super) fn rate_at(&self, usage: f64) -> Option<Estimate> {
        self.rate(|fit| (usage - fit.line.intercept) / fit.line.slope)
    }

    /// The rate at which the tangent of the parabola at the high end reaches a use; `None` if it never does. Without an interval if the
    /// tangent of a replicate never does.
    pub(super) fn rate_along_tangent(&self, usage: f64) -> Option<Estimate> {
        let high = self.ends.1;
        let rate = |fit: &Fit| {
            let (at_high, slope) = fit.tangent(high);
            if slope > 0.0 { high + (usage - at_high) / slope } else { f64::NAN }
        };
        let value = rate(&self.fit);
        let is_reached = value.is_finite() && value > 0.0;
        self.rate(rate).or(is_reached.then_some(Estimate::exact(value)))
    }

    /// The rate at which the parabola reaches a use; `None` if the parabola of a replicate never does.
    pub(super) fn rate_along_parabola(&self, usage: f64) -> Option<Estimate> {
        let high = self.ends.1;
        self.rate(|fit| {
            let (at_high, slope) = fit.tangent(high);
            let rest = usage - at_high;
            // The root that approaches the tangent's as the square term vanishes; NaN if the parabola never reaches the use.
            let root = (slope * slope + 4.0 * fit.square * rest).sqrt();
            if slope > 0.0 { high + 2.0 * rest / (slope + root) } else { f64::NAN }
        })
    }

    fn rate(&self, statistic: impl Fn(&Fit) -> f64) -> Option<Estimate> {
        let value = statistic(&self.fit);
        let logarithms: Vec<f64> = self.replicates.iter().map(|fit| statistic(fit).ln()).collect();
        if !(value.is_finite() && value > 0.0 && logarithms.iter().all(|rate| rate.is_finite())) {
            return None;
        }
        let factor = jackknife::half_width(&logarithms).exp();
        Some(Estimate { value, interval: Some((value / factor, value * factor)) })
    }
}

/// Fits the line, and by least squares its residuals on the part of x² that is orthogonal to it.
fn fitted(points: &[(f64, f64)], high: f64) -> Option<Fit> {
    let line = line::fit(points)?;
    let count = points.len() as f64;
    let mean = points.iter().map(|point| point.0).sum::<f64>() / count;
    let moment = |power: i32| points.iter().map(|point| (point.0 - mean).powi(power)).sum::<f64>();
    let (spread, skew) = (moment(2) / count, moment(3) / moment(2));
    let part = |x: f64| (x - mean).powi(2) - skew * (x - mean) - spread;
    let squares: f64 = points.iter().map(|point| part(point.0).powi(2)).sum();
    let residual = |point: &(f64, f64)| point.1 - line.intercept - line.slope * point.0;
    let together: f64 = points.iter().map(|point| part(point.0) * residual(point)).sum();
    // Only two distinct rates leave the parabola undetermined.
    let square = if squares > f64::EPSILON * moment(2).powi(2) { together / squares } else { 0.0 };
    let slope = 2.0 * (high - mean) - skew;
    Some(Fit { line, square, lift: square * part(high), turn: square * slope })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many low rates and few high ones, whose use rises with their square.
    fn bent() -> Vec<Point> {
        let point = |at: usize| {
            // Neighbours in time differ, so that each block has rates of all sizes.
            let share = ((at * 37 % 200) as f64 + 0.5) / 200.0;
            let rate = -100.0 * (1.0 - share).ln();
            Point { at, rate, usage: 0.1 + 2e-3 * rate + 1e-5 * rate * rate }
        };
        (0..200).map(point).collect()
    }

    #[test]
    fn the_tangent_of_rates_that_lie_unevenly_is_that_of_the_parabola() {
        let points = bent();
        let law = Regression::new(&points).unwrap();
        let (high, usage) = (law.ends.1, 3.0);
        let lift = |rate: f64| fitted(&plain(&points), rate).unwrap().lift;
        let line = law.fit.line;
        let slope = line.slope + (lift(high + 1.0) - lift(high - 1.0)) / 2.0;
        let at_high = line.at(high) + lift(high);
        let expected = high + (usage - at_high) / slope;
        let found = law.rate_along_tangent(usage).unwrap();
        assert!((found.value / expected - 1.0).abs() < 1e-6, "{found:?}, not {expected}");
    }
}

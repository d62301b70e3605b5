//! Finds changes of use at a given rate, such as a release makes. Only the points since the last change describe the current code.

use plimsoll_stats::{Estimate, line};

use super::background::DAY_SEC;
use super::findings::UseChange;
use super::limit::varies;
use super::regression::{Baseline, MIN_POINTS, Point, Regression, highest_usage, plain, rate_ends};
use super::series::ProductionSeries;

/// The most places that are tested in a row: behind one that is a change, or is none, there may be another.
const ROUNDS: usize = 4;

/// The last change that both the points before and after it show clearly, with the index of the first point after it.
pub(super) fn last_change(points: &[Point], series: &ProductionSeries) -> Option<(usize, UseChange)> {
    let (mut before, mut since, mut found) = (0, 0, None);
    for _ in 0..ROUNDS {
        let Some(next) = split(&points[since..]) else { break };
        since += next;
        if let Some(change) = compared(&points[before..since], &points[since..], series) {
            found = Some((since, change));
            before = since;
        }
    }
    found
}

/// The index that best splits the residuals of the line into two levels, by least squares. Outliers count only up to the outlier
/// bound, so that no job makes a level. `None` where the second level has too few points for a law.
fn split(points: &[Point]) -> Option<usize> {
    let line = Baseline::new(points, highest_usage(points))?;
    let near = |point: &Point| line.excess(point).clamp(-line.bound, line.bound);
    let rest: Vec<f64> = points.iter().map(near).collect();
    let (count, mean) = (rest.len() as f64, plimsoll_stats::mean(&rest));
    let mut sum = 0.0;
    let gains = (1..rest.len()).map(|at| {
        sum += rest[at - 1] - mean;
        let first = at as f64;
        (at, sum * sum / (first * (count - first)))
    });
    let (at, _) = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (points.len() - at >= MIN_POINTS).then_some(at)
}

/// The change from `before` to `since`; `None` unless both have a law, and their intervals of the use at one rate do not overlap.
fn compared(before: &[Point], since: &[Point], series: &ProductionSeries) -> Option<UseChange> {
    let (low, rate) = rate_ends(since).filter(|(low, high)| varies(*low, *high))?;
    let before = comparable(before, since, (low, rate), series.step_sec);
    let at_rate = |points: &[Point]| Some(line::fit(&plain(points))?.at(rate));
    let change = UseChange {
        since_sec: series.instant_sec(since.first()?.at),
        rate,
        before: at_rate(&before)?,
        after: at_rate(since)?,
        is_judged_alone: true,
    };
    if !change.counts() {
        return None;
    }
    let (old, new) = (Regression::new(&before)?, Regression::new(since)?);
    let follows = new.per_request().interval.is_some_and(|(lower, _)| lower > 0.0);
    (follows && are_apart(old.usage_at(rate), new.usage_at(rate))).then_some(change)
}

/// The points of `before` with the rates of `since`, and with its times of day if `before` covers days: neither a law that bends nor
/// other requests at night are a change.
fn comparable(before: &[Point], since: &[Point], (low, high): (f64, f64), step_sec: f64) -> Vec<Point> {
    let (Some(first), Some(last), Some(oldest)) = (since.first(), since.last(), before.first()) else {
        return Vec::new();
    };
    let after = |point: &Point| (point.at as f64 - first.at as f64) * step_sec;
    let has_days = -after(oldest) >= DAY_SEC;
    let is_at_that_time = |point: &Point| !has_days || after(point).rem_euclid(DAY_SEC) <= after(last);
    let is_alike = |point: &&Point| (low..=high).contains(&point.rate) && is_at_that_time(point);
    before.iter().filter(is_alike).copied().collect()
}

fn are_apart(one: Estimate, other: Estimate) -> bool {
    match (one.interval, other.interval) {
        (Some((lower, upper)), Some((other_lower, other_upper))) => {
            upper < other_lower || other_upper < lower
        }
        _ => false,
    }
}

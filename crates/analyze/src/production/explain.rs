//! Computes the findings from series of production.

use plimsoll_stats::Estimate;

use super::background::separated;
use super::change::last_change;
use super::findings::{
    BackgroundWork, FullAt, PointsLeftOut, ProductionDemand, ProductionFindings, ProductionLaw,
    ProductionPoints, RateRange, ResourceFinding, UseChange, is_bend,
};
use super::instances::{Subject, subjects};
use super::limit::{FULL, MAX_EXTRAPOLATION, limit, varies};
use super::regression::{
    MIN_POINTS, Point, Regression, highest_usage, plain, points, rate_ends, rate_quantile,
};
use super::series::ProductionSeries;

/// Requests use little of a resource if it is below this fraction of the capacity at the highest rate.
const LITTLE: f64 = 0.05;

/// Computes what a request costs of each resource, and the rate at which the first one is full. `safe_share` is the share of a
/// capacity that may be used, above 0 and at most 1.
pub fn explain_production(series: &ProductionSeries, safe_share: f64) -> ProductionFindings {
    let known: Vec<Option<f64>> = series.rate_per_sec.clone();
    let rates = points(series, &known);
    let rate = rate_range(&rates);
    let mut resources: Vec<ResourceFinding> =
        subjects(series).iter().map(|subject| finding(series, subject, rate, safe_share)).collect();
    resources.sort_by(|a, b| order(a).total_cmp(&order(b)));
    let instants = series.rate_per_sec.len();
    ProductionFindings {
        start_sec: series.start_sec,
        end_sec: series.instant_sec(instants.saturating_sub(1)),
        step_sec: series.step_sec,
        safe_share,
        instants,
        with_rate: rates.len(),
        longest_gap_sec: longest_gap(&series.rate_per_sec) as f64 * series.step_sec,
        rate,
        limit: limit(rate.as_ref(), &resources),
        resources,
    }
}

fn rate_range(rates: &[Point]) -> Option<RateRange> {
    let (low, high) = rate_ends(rates)?;
    Some(RateRange { low, median: rate_quantile(rates, 0.5)?, high, highest: highest_rate(rates) })
}

/// The length of the longest run of instants without a rate.
fn longest_gap(rates: &[Option<f64>]) -> usize {
    let runs = rates.chunk_by(|a, b| a.is_some() == b.is_some());
    runs.filter(|run| run[0].is_none()).map(<[Option<f64>]>::len).max().unwrap_or(0)
}

/// Sort key: resources by the rate at which they are full, then those full beyond the stated rates, then those without a capacity, then
/// all others.
fn order(resource: &ResourceFinding) -> f64 {
    match resource.demand.map(|demand| demand.full_at) {
        Some(FullAt::At(rate)) => rate.value,
        Some(FullAt::Beyond(_)) => f64::MAX / 4.0,
        Some(FullAt::NoCapacity) => f64::MAX / 2.0,
        None => f64::MAX,
    }
}

fn finding(
    series: &ProductionSeries,
    subject: &Subject<'_>,
    rate: Option<RateRange>,
    safe_share: f64,
) -> ResourceFinding {
    let all = points(series, &subject.usage);
    let is_full =
        |point: &Point| subject.capacity_at(point.at).is_some_and(|capacity| point.usage >= FULL * capacity);
    let (full, free): (Vec<Point>, Vec<Point>) = all.iter().copied().partition(is_full);
    let is_busy = |point: &&Point| rate.is_some_and(|rate| point.rate >= rate.median);
    let busy = |points: &[Point]| points.iter().filter(is_busy).count();
    let (busy_full, busy_free) = (busy(&full), busy(&free));
    let Selected { used, background, before, work, change } =
        if subject.throughout { selected(&free, series) } else { Selected::default() };
    let with_rate = series.rate_per_sec.iter().flatten().count();
    let mut finding = ResourceFinding {
        kind: subject.series.kind,
        of: subject.series.of.clone(),
        instances: subject.instances.clone(),
        unit: subject.series.unit,
        capacity: subject.capacity,
        highest: all.iter().map(|point| point.usage).reduce(f64::max),
        law: ProductionLaw::TooFewPoints,
        demand: None,
        left_out: PointsLeftOut {
            missing: with_rate - all.len(),
            full: full.len(),
            is_full_when_busy: busy_full > 0 && busy_full >= busy_free,
            background: background.len(),
            before_change: before.len(),
        },
        background_work: work,
        change,
        points: ProductionPoints {
            used: plain(&used),
            left_out: plain(&[full, background, before].concat()),
        },
    };
    (finding.law, finding.demand) = judged(subject, &used, rate, safe_share);
    finding
}

/// Points at which the resource was not full: those that the line uses, and those left out.
#[derive(Default)]
struct Selected {
    used: Vec<Point>,
    background: Vec<Point>,
    before: Vec<Point>,
    work: Option<BackgroundWork>,
    change: Option<UseChange>,
}

/// Selects the points since the last change, without background work. `free` are the points at which the resource was not full.
fn selected(free: &[Point], series: &ProductionSeries) -> Selected {
    let all = separated(free, series);
    let Some((since, change)) = last_change(&all.kept, series) else {
        let (background, work, change) = (all.left_out, all.work, all.lasting);
        return Selected { used: all.kept, background, before: Vec::new(), work, change };
    };
    // The line before the change may hide outliers above the line after it.
    let new = separated(&all.kept[since..], series);
    Selected {
        used: new.kept,
        background: [all.left_out, new.left_out].concat(),
        before: all.kept[..since].to_vec(),
        work: all.work.or(new.work),
        change: Some(change),
    }
}

/// The law, and the demand if it is known.
fn judged(
    subject: &Subject<'_>,
    points: &[Point],
    rate: Option<RateRange>,
    safe_share: f64,
) -> (ProductionLaw, Option<ProductionDemand>) {
    if !subject.throughout {
        return (ProductionLaw::NotThroughout, None);
    }
    let Some(rate) = rate.filter(|_| points.len() >= MIN_POINTS) else {
        return (ProductionLaw::TooFewPoints, None);
    };
    // A resource may have values in a part of the time only, so that the variation is that of its own points.
    let is_varied = rate_ends(points).is_some_and(|(low, high)| varies(low, high));
    let Some(regression) = Regression::new(points).filter(|_| is_varied) else {
        return (ProductionLaw::TooLittleVariation, None);
    };
    let per_request = regression.per_request();
    let (lower, upper) = per_request.interval.unwrap_or((0.0, f64::INFINITY));
    if lower <= 0.0 {
        let highest = highest_usage(points);
        let is_little = upper * rate.highest < LITTLE * subject.capacity.unwrap_or(highest);
        return (if is_little { ProductionLaw::Unrelated } else { ProductionLaw::Unclear }, None);
    }
    let law = if is_bent(&regression, points) { ProductionLaw::Bent } else { ProductionLaw::Holds };
    let rate_at = |usage: f64| rate_at(&regression, law, usage);
    let full_at = match subject.capacity {
        None => FullAt::NoCapacity,
        Some(capacity) => stated(rate_at(capacity), highest_rate(points)),
    };
    let background = regression.background();
    // Where background use is close to that share, the logarithm of the rate has no interval.
    let on_the_line = |usage: f64| Estimate::exact(((usage - background.value) / per_request.value).max(0.0));
    let safe_at = subject.capacity.filter(|_| full_at.rate().is_some()).and_then(|capacity| {
        let usage = safe_share * capacity;
        // A bent law has no such fallback: the high rates contradict its line.
        rate_at(usage).or_else(|| (law != ProductionLaw::Bent).then(|| on_the_line(usage)))
    });
    (law, Some(ProductionDemand { per_request, background, bend: regression.bend(), full_at, safe_at }))
}

/// True if the slope changes by a fifth or more with its whole interval on one side of 0, or if the line has clearly negative use at
/// rate 0, which is impossible.
fn is_bent(regression: &Regression, points: &[Point]) -> bool {
    let highest = highest_usage(points);
    let background = regression.background();
    let is_below_zero = background.interval.is_some_and(|(_, upper)| upper < -LITTLE * highest);
    is_bend(regression.bend()) || is_below_zero
}

/// The rate at which a use is reached. A bent law is followed along the tangent at the high end. If requests cost less at high rates, the
/// interval includes that of the line; if they cost more, it extends down to the parabola's, as the cost may rise further. `None` if the
/// tangent never reaches that use: the high rates would contradict the line.
fn rate_at(regression: &Regression, law: ProductionLaw, usage: f64) -> Option<Estimate> {
    let by_line = regression.rate_at(usage);
    if law != ProductionLaw::Bent {
        return by_line;
    }
    let (line, tangent) = (by_line?, regression.rate_along_tangent(usage)?);
    let ends = |rate: Estimate| rate.interval.unwrap_or((rate.value, rate.value));
    let interval = tangent.interval.map(|(lower, upper)| {
        if regression.bend().value > 0.0 {
            let parabola = regression.rate_along_parabola(usage).unwrap_or(tangent);
            (lower.min(ends(parabola).0), upper)
        } else {
            (lower.min(ends(line).0), upper.max(ends(line).1))
        }
    });
    Some(Estimate { value: tangent.value, interval })
}

/// The highest rate of these points; 0 without any.
fn highest_rate(points: &[Point]) -> f64 {
    points.iter().map(|point| point.rate).fold(0.0, f64::max)
}

/// States the rate, unless it is too far beyond the observed ones.
fn stated(rate: Option<Estimate>, highest: f64) -> FullAt {
    let most = MAX_EXTRAPOLATION * highest;
    match rate {
        Some(rate) if rate.value <= most => FullAt::At(rate),
        _ => FullAt::Beyond(most),
    }
}

#[cfg(test)]
mod tests;

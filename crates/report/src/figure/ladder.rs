//! What the two figures of a sweep show: throughput and mean response time on two axes, and the success ratio.

use plimsoll_analyze::Estimate;
use plimsoll_units::percent_text;

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Side, Spacing, Ticks, highest};
use super::look::Place;
use super::raster::figure;
use super::scale::Scale;
use super::series::{Series, StepPoint};
use crate::amount::{self, at_least};

/// Throughput and mean response time over concurrency.
pub fn throughput(caption: &Caption, series: &Series) -> Result<Figure, FigureError> {
    let runs = vec![speeds(&series.points)];
    let left = Axis::from_zero("throughput (QPS: responses per second)", highest(&runs, Side::Left));
    let right = Axis::aligned_with(&left, "mean response time (ms)", highest(&runs, Side::Right));
    let chart = Chart::new(connections(&[series]), Scale::Linear(left), runs);
    let chart = Chart { right: Some(Scale::Linear(right)), ..chart };
    figure(&Panels { caption: titled("QPS and mean response time", caption), charts: vec![chart] })
}

/// The success ratio over concurrency.
pub fn success(caption: &Caption, series: &Series) -> Result<Figure, FigureError> {
    let charts = vec![success_chart(&[series])];
    figure(&Panels { caption: titled("Success rate", caption), charts })
}

fn titled(about: &str, caption: &Caption) -> Caption {
    Caption { title: format!("{about}: {}", caption.title), ..caption.clone() }
}

/// The numbers of connections of all steps, at distances that are true to their ratios.
pub(super) fn connections(series: &[&Series]) -> Ticks {
    let steps = series.iter().flat_map(|series| &series.points).map(|point| point.connections);
    Ticks::new("concurrency (connections)", Spacing::Log, steps)
}

/// The success ratio of one run or of two.
pub(super) fn success_chart(series: &[&Series]) -> Chart {
    let count = series.len();
    let runs = series.iter().enumerate().map(|(index, series)| {
        let place = Place::new(index, count);
        vec![ratios(&series.prefix(place), &series.points, place)]
    });
    Chart::new(connections(series), Scale::Nines, runs.collect())
}

fn speeds(points: &[StepPoint]) -> Vec<Line> {
    let response_time = points.iter().filter_map(|point| mark(point, point.mean_ms?));
    let response_time =
        Line::new("mean response time".to_owned(), Place::Alone.response_time(), response_time);
    vec![throughput_line("", points, Place::Alone), Line { side: Side::Right, ..response_time }]
}

/// Returns the line of a run's throughput; the legend shows the best value.
pub(super) fn throughput_line(name: &str, points: &[StepPoint], place: Place) -> Line {
    let marks = points
        .iter()
        .filter_map(|point| Some(Mark { hollow: point.lower_bound, ..mark(point, point.throughput)? }));
    Line::new(format!("{name}QPS{}", best_text(points)), place.throughput(), marks)
}

/// Returns the point of a step; `None` if its value cannot be drawn.
pub(super) fn mark(point: &StepPoint, Estimate { value, interval }: Estimate) -> Option<Mark> {
    let interval = interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
    value.is_finite().then(|| Mark::new(point.connections, Estimate { value, interval }))
}

/// The best throughput and its concurrency.
fn best_text(points: &[StepPoint]) -> String {
    let best = points.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value));
    best.filter(|point| point.throughput.value > 0.0).map_or_else(String::new, |point| {
        let best = at_least(point.throughput.value, point.lower_bound);
        format!(", best {best} at {}", amount::connections(point.connections))
    })
}

fn ratios(name: &str, points: &[StepPoint], place: Place) -> Line {
    let legend = format!("{name}success rate{}", lowest_text(points));
    let marks = points.iter().filter_map(|point| {
        let ratio = point.success_ratio.filter(|ratio| ratio.is_finite())?;
        let interval = interval_of(point).map(|(lower, upper)| (lower * 100.0, upper * 100.0));
        let percent = Estimate { value: ratio * 100.0, interval };
        Some(Mark { label: Some(percent_text(ratio)), ..Mark::new(point.connections, percent) })
    });
    Line { labels_below: place == Place::Second, ..Line::new(legend, place.success(), marks) }
}

/// Returns the lowest value and the lowest bound, for the legend.
fn lowest_text(points: &[StepPoint]) -> String {
    let ratios = points.iter().filter_map(|point| Some((point.connections, point.success_ratio?)));
    let Some((connections, ratio)) = ratios.min_by(|a, b| a.1.total_cmp(&b.1)) else { return String::new() };
    let lowest = if ratio == 1.0 {
        "100 % throughout".to_owned()
    } else {
        format!("lowest {} at {}", percent_text(ratio), amount::connections(connections))
    };
    let bounds = points.iter().filter_map(interval_of).map(|(lower, _)| lower);
    let bound = bounds.min_by(f64::total_cmp);
    let bound = bound.map(|bound| format!(", intervals down to {}", percent_text(bound)));
    format!(", {lowest}{}", bound.unwrap_or_default())
}

/// Returns the interval of the ratio, within the range that a ratio can have.
fn interval_of(point: &StepPoint) -> Option<(f64, f64)> {
    point.success_interval.map(|(lower, upper)| (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0)))
}

//! What the figures of a ladder show: throughput and mean response time on two axes, and the success ratio.

use plimsoll_analyze::Estimate;
use plimsoll_units::{grouped, percent_text};

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Side, highest};
use super::look::Place;
use super::raster::figure;
use super::series::{Series, StepPoint};
use crate::amount::at_least;

/// Throughput and mean response time over concurrency, of one run or of two.
pub fn throughput(caption: &Caption, series: &[&Series]) -> Result<Figure, FigureError> {
    let runs = lines_of(series, speeds);
    let left = Axis::from_zero("throughput (QPS: responses per second)", highest(&runs, Side::Left));
    let right = Axis::aligned_with(&left, "mean response time (ms)", highest(&runs, Side::Right));
    let chart = chart("QPS and mean response time", caption, series, left, runs);
    figure(&Chart { right: Some(right), ..chart })
}

/// The success ratio over concurrency, of one run or of two.
pub fn success(caption: &Caption, series: &[&Series]) -> Result<Figure, FigureError> {
    let axis = Axis::percent("success (% of all requests that ended)");
    figure(&chart("Success rate", caption, series, axis, lines_of(series, ratios)))
}

fn chart(about: &str, caption: &Caption, series: &[&Series], left: Axis, runs: Vec<Vec<Line>>) -> Chart {
    let caption = Caption { title: format!("{about}: {}", caption.title), ..caption.clone() };
    let steps = series.iter().flat_map(|series| &series.points).map(|point| point.connections);
    Chart::new(caption, ("concurrency (connections)", steps), left, runs)
}

/// The lines of each run. Of several, the legend begins with the name.
fn lines_of(series: &[&Series], lines: fn(&str, &[StepPoint], Place) -> Vec<Line>) -> Vec<Vec<Line>> {
    let count = series.len();
    let one = |(index, series): (usize, &&Series)| {
        let place = Place::new(index, count);
        let name = if place == Place::Alone { String::new() } else { format!("{}: ", series.name) };
        lines(&name, &series.points, place)
    };
    series.iter().enumerate().map(one).collect()
}

fn speeds(name: &str, points: &[StepPoint], place: Place) -> Vec<Line> {
    let throughput = points
        .iter()
        .filter_map(|point| Some(Mark { hollow: point.lower_bound, ..mark(point, point.throughput)? }));
    let response_time = points.iter().filter_map(|point| mark(point, point.mean_ms?));
    let legend = format!("{name}mean response time");
    let response_time = Line::new(legend, place.response_time(), response_time);
    vec![
        Line::new(format!("{name}QPS{}", best_text(points)), place.throughput(), throughput),
        Line { side: Side::Right, ..response_time },
    ]
}

fn mark(point: &StepPoint, Estimate { value, interval }: Estimate) -> Option<Mark> {
    let interval = interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
    value.is_finite().then(|| Mark::new(point.connections, Estimate { value, interval }))
}

/// The best throughput and its concurrency.
fn best_text(points: &[StepPoint]) -> String {
    let best = points.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value));
    best.filter(|point| point.throughput.value > 0.0).map_or_else(String::new, |point| {
        let best = at_least(point.throughput.value, point.lower_bound);
        format!(", best {best} at {} connections", grouped(point.connections.into()))
    })
}

fn ratios(name: &str, points: &[StepPoint], place: Place) -> Vec<Line> {
    let legend = format!("{name}success rate{}", lowest_text(points));
    let marks = points.iter().filter_map(|point| {
        let ratio = point.success_ratio.filter(|ratio| ratio.is_finite())?;
        let interval = interval_of(point).map(|(lower, upper)| (lower * 100.0, upper * 100.0));
        let percent = Estimate { value: ratio * 100.0, interval };
        Some(Mark { label: Some(percent_text(ratio)), ..Mark::new(point.connections, percent) })
    });
    vec![Line { labels_below: place == Place::Second, ..Line::new(legend, place.success(), marks) }]
}

/// Where nearly all succeed the line is flat at the top and its bars are shorter than a mark, so the lowest
/// value and the lowest bound stand in the legend.
fn lowest_text(points: &[StepPoint]) -> String {
    let ratios = points.iter().filter_map(|point| Some((point.connections, point.success_ratio?)));
    let Some((connections, ratio)) = ratios.min_by(|a, b| a.1.total_cmp(&b.1)) else { return String::new() };
    let lowest = if ratio == 1.0 {
        "100 % throughout".to_owned()
    } else {
        format!("lowest {} at {} connections", percent_text(ratio), grouped(connections.into()))
    };
    let bounds = points.iter().filter_map(interval_of).map(|(lower, _)| lower);
    let bound = bounds.min_by(f64::total_cmp);
    let bound = bound.map(|bound| format!(", intervals down to {}", percent_text(bound)));
    format!(", {lowest}{}", bound.unwrap_or_default())
}

/// The interval of the ratio; no bar leaves the range that a ratio can have.
fn interval_of(point: &StepPoint) -> Option<(f64, f64)> {
    point.success_interval.map(|(lower, upper)| (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0)))
}

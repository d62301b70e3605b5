//! The success ratio over concurrency.

use plimsoll_units::{grouped, percent_text};

use super::axis::Axis;
use super::chart::{CONNECTIONS, Chart, Line, Mark, Side, notes_of, rungs_of, title_of};
use super::look::Place;
use super::series::{Caption, RungPoint, Series};

/// The figure of one or two runs.
pub(super) fn chart(caption: &Caption, series: &[&Series]) -> Chart {
    let count = series.len();
    let line = |(index, series)| vec![line_of(series, Place::new(index, count))];
    let runs: Vec<Vec<Line>> = series.iter().copied().enumerate().map(line).collect();
    Chart {
        title: title_of(caption, "Success rate"),
        detail: caption.detail.clone(),
        rungs: rungs_of(series),
        rung_label: CONNECTIONS,
        left: Axis::percent("success (% of all requests that ended)"),
        right: None,
        notes: notes_of(&runs),
        runs,
    }
}

fn line_of(series: &Series, place: Place) -> Line {
    let prefix = if place == Place::Alone { String::new() } else { format!("{}: ", series.name) };
    Line {
        legend: format!("{prefix}success rate{}", lowest_text(&series.points)),
        look: place.success(),
        side: Side::Left,
        marks: series.points.iter().filter_map(mark).collect(),
        labels_below: place == Place::Second,
    }
}

/// Where nearly all succeed the line is flat at the top and its bars are shorter than a mark, so the lowest
/// value and the lowest bound stand in the legend.
fn lowest_text(points: &[RungPoint]) -> String {
    let ratios = points.iter().filter_map(|point| Some((point.connections, point.success_ratio?)));
    let lowest = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
    lowest.map_or_else(String::new, |(connections, ratio)| {
        let lowest = if ratio == 1.0 {
            "100 % throughout".to_owned()
        } else {
            format!("lowest {} at {} connections", percent_text(ratio), grouped(u64::from(connections)))
        };
        format!(", {lowest}{}", bound_text(points))
    })
}

fn bound_text(points: &[RungPoint]) -> String {
    let bounds = points.iter().filter_map(interval_of).map(|(lower, _)| lower);
    let lowest = bounds.min_by(f64::total_cmp);
    lowest.map_or_else(String::new, |bound| format!(", intervals down to {}", percent_text(bound)))
}

fn mark(point: &RungPoint) -> Option<Mark> {
    let ratio = point.success_ratio.filter(|ratio| ratio.is_finite())?;
    Some(Mark {
        connections: point.connections,
        value: ratio * 100.0,
        interval: interval_of(point).map(|(lower, upper)| (lower * 100.0, upper * 100.0)),
        hollow: false,
        label: Some(percent_text(ratio)),
    })
}

/// The interval of the ratio; no bar leaves the range that a ratio can have.
fn interval_of(point: &RungPoint) -> Option<(f64, f64)> {
    point.success_interval.map(|(lower, upper)| (lower.clamp(0.0, 1.0), upper.clamp(0.0, 1.0)))
}

//! Throughput and mean response time over concurrency: two axes, one line each for every run.

use plimsoll_analyze::Estimate;
use plimsoll_units::{count_text, grouped};

use super::axis::Axis;
use super::chart::{CONNECTIONS, Chart, Line, Mark, Side, highest, notes_of, rungs_of, title_of};
use super::look::Place;
use super::series::{Caption, RungPoint, Series};

/// The figure of one or two runs.
pub(super) fn chart(caption: &Caption, series: &[&Series]) -> Chart {
    let place = |index| Place::new(index, series.len());
    let runs: Vec<Vec<Line>> =
        series.iter().enumerate().map(|(index, series)| lines_of(series, place(index))).collect();
    let left = Axis::from_zero("throughput (QPS: responses per second)", highest(&runs, Side::Left));
    let right = Axis::aligned_with(&left, "mean response time (ms)", highest(&runs, Side::Right));
    Chart {
        title: title_of(caption, "QPS and mean response time"),
        detail: caption.detail.clone(),
        rungs: rungs_of(series),
        rung_label: CONNECTIONS,
        left,
        right: Some(right),
        notes: notes_of(&runs),
        runs,
    }
}

fn lines_of(series: &Series, place: Place) -> Vec<Line> {
    let prefix = if place == Place::Alone { String::new() } else { format!("{}: ", series.name) };
    let throughput = Line {
        legend: format!("{prefix}QPS{}", best_text(&series.points)),
        look: place.throughput(),
        side: Side::Left,
        marks: series.points.iter().filter_map(|p| mark(p, Some(p.throughput), p.lower_bound)).collect(),
        labels_below: false,
    };
    let response_time = Line {
        legend: format!("{prefix}mean response time"),
        look: place.response_time(),
        side: Side::Right,
        marks: series.points.iter().filter_map(|p| mark(p, p.mean_ms, false)).collect(),
        labels_below: false,
    };
    vec![throughput, response_time]
}

/// The best throughput and its concurrency.
fn best_text(points: &[RungPoint]) -> String {
    let best = points.iter().max_by(|a, b| a.throughput.value.total_cmp(&b.throughput.value));
    best.filter(|point| point.throughput.value > 0.0).map_or_else(String::new, |point| {
        let bound = if point.lower_bound { "≥ " } else { "" };
        let connections = grouped(u64::from(point.connections));
        format!(", best {bound}{} at {connections} connections", count_text(point.throughput.value))
    })
}

fn mark(point: &RungPoint, estimate: Option<Estimate>, hollow: bool) -> Option<Mark> {
    let estimate = estimate.filter(|estimate| estimate.value.is_finite())?;
    let interval = estimate.interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite());
    Some(Mark { connections: point.connections, value: estimate.value, interval, hollow, label: None })
}

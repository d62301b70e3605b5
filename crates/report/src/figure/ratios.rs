//! The success ratio over concurrency.

use plimsoll_units::{grouped, percent_text};

use super::axis::Axis;
use super::chart::{Chart, Line, Mark, Side, rungs_of, title_of};
use super::look::Place;
use super::series::{Caption, RungPoint, Series};

/// The figure of one or two runs.
pub(super) fn chart(caption: &Caption, series: &[&Series]) -> Chart {
    let count = series.len();
    let line = |(index, series)| vec![line_of(series, Place::of(index, count))];
    Chart {
        title: title_of(caption, "Success rate"),
        detail: caption.detail.clone(),
        rungs: rungs_of(series),
        left: Axis::percent("success (% of all requests that ended)"),
        right: None,
        runs: series.iter().copied().enumerate().map(line).collect(),
        notes: Vec::new(),
    }
}

fn line_of(series: &Series, place: Place) -> Line {
    let prefix = if place == Place::Alone { String::new() } else { format!("{}: ", series.name) };
    Line {
        legend: format!("{prefix}success rate{}", lowest_text(&series.points)),
        look: place.success(),
        side: Side::Left,
        marks: series.points.iter().filter_map(mark).collect(),
        labels_below: place != Place::First,
    }
}

/// Where nearly all succeed the line is flat at the top, so the lowest value stands in the legend.
fn lowest_text(points: &[RungPoint]) -> String {
    let ratios = points.iter().filter_map(|point| Some((point.connections, point.success_ratio?)));
    let lowest = ratios.min_by(|a, b| a.1.total_cmp(&b.1));
    lowest.map_or_else(String::new, |(connections, ratio)| {
        let at = grouped(u64::from(connections));
        if ratio == 1.0 {
            ", 100 % throughout".to_owned()
        } else {
            format!(", lowest {} at {at} connections", percent_text(ratio))
        }
    })
}

fn mark(point: &RungPoint) -> Option<Mark> {
    let ratio = point.success_ratio.filter(|ratio| ratio.is_finite())?;
    Some(Mark {
        connections: point.connections,
        value: ratio * 100.0,
        interval: None,
        hollow: false,
        label: Some(percent_text(ratio)),
    })
}

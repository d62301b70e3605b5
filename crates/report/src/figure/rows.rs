//! Throughput of rows: by the size of responses with several numbers of cores, and by the time that requests are held,
//! through a front and alone.

use std::collections::BTreeSet;

use plimsoll_analyze::{HeldLines, LinePoint, SizeLine};
use plimsoll_units::{count_text, escape_control};

use super::axis::Axis;
use super::chart::{Chart, Line, Mark, Side, highest, notes_of};
use super::look::{Look, Place};

/// The height of a label, as a part of the axis.
const LABEL_HEIGHT: f64 = 0.06;

/// So many lines share one row of the legend.
const LEGEND_LINES: usize = 4;

pub(super) fn sizes(title: &str, lines: &[SizeLine]) -> Chart {
    let one = |(index, line): (usize, &SizeLine)| {
        let group =
            line.group.as_ref().map_or_else(String::new, |group| format!("{}, ", escape_control(group)));
        let plural = if line.cores == 1.0 { "" } else { "s" };
        drawn(format!("{group}{} core{plural}", line.cores), Look::new(index), &line.points, 1.0)
    };
    chart(
        format!("Throughput by size of response: {title}"),
        String::new(),
        "bytes of a response",
        lines.iter().enumerate().map(one).collect(),
    )
}

pub(super) fn held(title: &str, lines: &HeldLines) -> Chart {
    // The places along the axis are whole numbers.
    let is_whole = |point: &LinePoint| (point.at * 1e3 - (point.at * 1e3).round()).abs() < 1e-6;
    let (scale, label) = match lines.through.iter().all(is_whole) {
        true => (1e3, "time that requests are held (ms)"),
        false => (1e6, "time that requests are held (µs)"),
    };
    let through =
        lines.front.as_deref().map_or_else(|| "together".to_owned(), |front| format!("through {front}"));
    let alone = Look { dashed: true, ..Look::new(1) };
    chart(
        format!("Throughput by time held: {title}"),
        "the sum of the servers measured alone, and their throughput together".to_owned(),
        label,
        vec![
            drawn(escape_control(&through), Place::Alone.throughput(), &lines.through, scale),
            drawn("sum of each alone".to_owned(), alone, &lines.alone, scale),
        ],
    )
}

/// A line whose places along the axis are multiplied by `scale` and rounded.
fn drawn(legend: String, look: Look, points: &[LinePoint], scale: f64) -> Line {
    let mark = |point: &LinePoint| Mark {
        connections: (point.at * scale).round() as u32,
        value: point.throughput.value,
        interval: point.throughput.interval,
        hollow: point.lower_bound,
        label: Some(count_text(point.throughput.value)),
    };
    Line { legend, look, side: Side::Left, marks: points.iter().map(mark).collect(), labels_below: false }
}

fn chart(title: String, detail: String, rung_label: &'static str, lines: Vec<Line>) -> Chart {
    let rungs: BTreeSet<u32> =
        lines.iter().flat_map(|line| &line.marks).map(|mark| mark.connections).collect();
    let lines = unlabelled_twice(lines);
    let runs: Vec<Vec<Line>> = lines.chunks(LEGEND_LINES).map(<[Line]>::to_vec).collect();
    Chart {
        title,
        detail,
        rungs: rungs.into_iter().collect(),
        rung_label,
        left: Axis::from_zero("QPS", highest(&runs, Side::Left)),
        right: None,
        notes: notes_of(&runs),
        runs,
    }
}

/// Of labels that would stand on each other only that of the first line stays.
fn unlabelled_twice(mut lines: Vec<Line>) -> Vec<Line> {
    let top = lines.iter().flat_map(|line| &line.marks).map(|mark| mark.value).fold(0.0, f64::max);
    let mut taken: Vec<(u32, f64)> = Vec::new();
    for mark in lines.iter_mut().flat_map(|line| &mut line.marks) {
        let near = |(place, value): &(u32, f64)| {
            *place == mark.connections && (value - mark.value).abs() < LABEL_HEIGHT * top
        };
        if taken.iter().any(near) {
            mark.label = None;
        } else {
            taken.push((mark.connections, mark.value));
        }
    }
    lines
}

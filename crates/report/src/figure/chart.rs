//! The content of a figure before it is drawn: lines over rungs at equal distances.

use super::axis::Axis;
use super::look::Look;
use super::series::{Caption, Series};

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    /// The rung, which is the place on the x axis.
    pub(super) connections: u32,
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// A lower bound is drawn hollow.
    pub(super) hollow: bool,
    /// A text next to the point, where there is room.
    pub(super) label: Option<String>,
}

impl Mark {
    /// The highest value of the point, including its interval.
    fn highest(&self) -> f64 {
        self.interval.map_or(self.value, |(_, upper)| upper.max(self.value))
    }
}

/// The axis a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// One line of points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) legend: String,
    pub(super) look: Look,
    pub(super) side: Side,
    /// By rising connections.
    pub(super) marks: Vec<Mark>,
    /// Whether the labels are below the points.
    pub(super) labels_below: bool,
}

/// The name of the x axis of a ladder.
pub(super) const CONNECTIONS: &str = "concurrency (connections)";

/// A whole figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) detail: String,
    /// The rungs that any of the lines has, lowest first.
    pub(super) rungs: Vec<u32>,
    /// The name of the x axis.
    pub(super) rung_label: &'static str,
    pub(super) left: Axis,
    pub(super) right: Option<Axis>,
    /// The lines of each run; a run's lines share one row of the legend.
    pub(super) runs: Vec<Vec<Line>>,
    /// Explanations of the marks, printed under the legend.
    pub(super) notes: Vec<&'static str>,
}

impl Chart {
    /// All lines of all runs.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.runs.iter().flatten()
    }

    /// The axis of a line.
    pub(super) fn axis_of(&self, line: &Line) -> &Axis {
        match (line.side, &self.right) {
            (Side::Right, Some(right)) => right,
            _ => &self.left,
        }
    }
}

/// The highest value among the lines of one side.
pub(super) fn highest(runs: &[Vec<Line>], side: Side) -> f64 {
    let lines = runs.iter().flatten().filter(|line| line.side == side);
    lines.flat_map(|line| &line.marks).map(Mark::highest).fold(0.0, f64::max)
}

/// The rungs that any of the series has, lowest first.
pub(super) fn rungs_of(series: &[&Series]) -> Vec<u32> {
    let points = series.iter().flat_map(|series| &series.points);
    let rungs: std::collections::BTreeSet<u32> = points.map(|point| point.connections).collect();
    rungs.into_iter().collect()
}

/// Explanations that the marks of these lines need.
pub(super) fn notes_of(runs: &[Vec<Line>]) -> Vec<&'static str> {
    let mut notes = Vec::new();
    let mut marks = runs.iter().flatten().flat_map(|line| &line.marks);
    if marks.clone().any(|mark| mark.interval.is_some()) {
        notes.push("bars: 95 % interval");
    }
    if marks.any(|mark| mark.hollow) {
        notes.push("hollow: lower bound (≥), the load generator was the limit");
    }
    notes
}

/// The subject of the figure, then the caption's title.
pub(super) fn title_of(caption: &Caption, subject: &str) -> String {
    format!("{subject}: {}", caption.title)
}

//! What a figure shows, before it is drawn: lines over rungs that stand at equal distances.

use super::axis::Axis;
use super::look::Look;
use super::series::{Caption, Series};

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    /// Connections of the rung, which say where along the x axis the point stands.
    pub(super) connections: u32,
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// A lower bound is drawn hollow.
    pub(super) hollow: bool,
    /// A text beside the point, where there is room.
    pub(super) label: Option<String>,
}

impl Mark {
    /// The highest value the point reaches, its interval included.
    fn highest(&self) -> f64 {
        self.interval.map_or(self.value, |(_, upper)| upper.max(self.value))
    }
}

/// The axis a line is read from.
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
    /// Whether the texts beside the points stand below them.
    pub(super) labels_below: bool,
}

/// What the rungs of a ladder are.
pub(super) const CONNECTIONS: &str = "concurrency (connections)";

/// A whole figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) detail: String,
    /// The rungs that any of the lines has, lowest first.
    pub(super) rungs: Vec<u32>,
    /// What the rungs are.
    pub(super) rung_label: &'static str,
    pub(super) left: Axis,
    pub(super) right: Option<Axis>,
    /// The lines of each run; a run's lines share one row of the legend.
    pub(super) runs: Vec<Vec<Line>>,
    /// What the reader must know to read the points, said under the legend.
    pub(super) notes: Vec<&'static str>,
}

impl Chart {
    /// All lines of all runs.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.runs.iter().flatten()
    }

    /// The axis a line is read from.
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

/// What the points of these lines need explained.
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

/// The caption's title with what the figure shows in front.
pub(super) fn title_of(caption: &Caption, subject: &str) -> String {
    format!("{subject}: {}", caption.title)
}

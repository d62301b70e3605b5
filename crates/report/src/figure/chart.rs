//! The content of a figure before it is drawn: lines over ticks at equal distances.

use std::collections::BTreeSet;

use plimsoll_analyze::Estimate;

use super::axis::Axis;
use super::canvas::Caption;
use super::look::Look;

/// One point of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    /// The tick, which is the place on the x axis.
    pub(super) tick: u32,
    pub(super) value: f64,
    pub(super) interval: Option<(f64, f64)>,
    /// A lower bound is drawn hollow.
    pub(super) hollow: bool,
    /// A text next to the point, where there is room.
    pub(super) label: Option<String>,
}

impl Mark {
    /// A filled point without a label.
    pub(super) fn new(tick: u32, Estimate { value, interval }: Estimate) -> Self {
        Self { tick, value, interval, hollow: false, label: None }
    }

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
    /// By rising ticks.
    pub(super) marks: Vec<Mark>,
    pub(super) labels_below: bool,
}

impl Line {
    /// A line of the left axis with its labels above it.
    pub(super) fn new(legend: String, look: Look, marks: impl Iterator<Item = Mark>) -> Self {
        Self { legend, look, side: Side::Left, marks: marks.collect(), labels_below: false }
    }
}

/// A whole figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) caption: Caption,
    /// The ticks that any of the lines has, lowest first.
    pub(super) ticks: Vec<u32>,
    /// The name of the x axis.
    pub(super) tick_label: &'static str,
    pub(super) left: Axis,
    pub(super) right: Option<Axis>,
    /// The lines of each run; a run's lines share one row of the legend.
    pub(super) runs: Vec<Vec<Line>>,
}

impl Chart {
    /// A chart whose lines all belong to the left axis.
    pub(super) fn new(
        caption: Caption,
        (tick_label, ticks): (&'static str, impl IntoIterator<Item = u32>),
        left: Axis,
        runs: Vec<Vec<Line>>,
    ) -> Self {
        let ticks: BTreeSet<u32> = ticks.into_iter().collect();
        Self { caption, ticks: ticks.into_iter().collect(), tick_label, left, right: None, runs }
    }

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

    /// Explanations that the marks need, to print under the legend.
    pub(super) fn notes(&self) -> Vec<&'static str> {
        let any = |is: fn(&Mark) -> bool| self.lines().flat_map(|line| &line.marks).any(is);
        let bars = any(|mark| mark.interval.is_some()).then_some("bars: 95 % interval");
        let hollow = "hollow: lower bound (≥), the load generator was the limit";
        bars.into_iter().chain(any(|mark| mark.hollow).then_some(hollow)).collect()
    }
}

/// The highest value among the lines of one side.
pub(super) fn highest(runs: &[Vec<Line>], side: Side) -> f64 {
    let lines = runs.iter().flatten().filter(|line| line.side == side);
    lines.flat_map(|line| &line.marks).map(Mark::highest).fold(0.0, f64::max)
}

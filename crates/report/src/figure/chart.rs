//! The content of a figure before it is drawn: lines over ticks, in one panel or in several that share the ticks.

use std::borrow::Cow;
use std::collections::BTreeSet;

use plimsoll_analyze::Estimate;
use plimsoll_units::grouped;

use super::canvas::Caption;
use super::look::Look;
use super::scale::Scale;

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
    /// True if each value is drawn from its tick to the next whole one, without marks. Otherwise lines join the points.
    pub(super) stepped: bool,
}

impl Line {
    /// A line of the left axis with its labels above it.
    pub(super) fn new(legend: String, look: Look, marks: impl Iterator<Item = Mark>) -> Self {
        Self { legend, look, side: Side::Left, marks: marks.collect(), labels_below: false, stepped: false }
    }
}

/// The distances of the ticks of the x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// By their values.
    Linear,
    /// By the logarithms of their values, which are at least 1.
    Log,
    /// Percentiles in tenths of a per cent, by the logarithms of the part beyond them, so that p99 is as far from p90 as
    /// p99.9 is from p99. Their texts are in per cent.
    Tail,
}

/// The x axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    pub(super) label: Cow<'static, str>,
    pub(super) spacing: Spacing,
    /// The values, lowest first.
    pub(super) values: Vec<u32>,
}

impl Ticks {
    pub(super) fn new(
        label: impl Into<Cow<'static, str>>,
        spacing: Spacing,
        values: impl IntoIterator<Item = u32>,
    ) -> Self {
        let values: BTreeSet<u32> = values.into_iter().collect();
        Self { label: label.into(), spacing, values: values.into_iter().collect() }
    }

    /// Returns where a value is between the first and the last, from 0 to 1.
    pub(super) fn place(&self, value: u32) -> f64 {
        let at = |value: u32| match self.spacing {
            Spacing::Linear => f64::from(value),
            Spacing::Log => f64::from(value.max(1)).ln(),
            Spacing::Tail => -(1.0 - f64::from(value.min(999)) / 1000.0).ln(),
        };
        match (self.values.first(), self.values.last()) {
            (Some(first), Some(last)) if last > first => (at(value) - at(*first)) / (at(*last) - at(*first)),
            _ => 0.5,
        }
    }
}

impl Ticks {
    /// Returns the text below a tick.
    pub(super) fn text(&self, value: u32) -> String {
        match self.spacing {
            Spacing::Linear | Spacing::Log => grouped(value.into()),
            Spacing::Tail => format!("{}", f64::from(value) / 10.0),
        }
    }
}

/// A horizontal line at a value of the left axis, such as the limit of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) value: f64,
    pub(super) label: String,
}

/// One panel of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    pub(super) ticks: Ticks,
    pub(super) left: Scale,
    pub(super) right: Option<Scale>,
    /// The lines of each run; a run's lines share one row of the legend.
    pub(super) runs: Vec<Vec<Line>>,
    pub(super) rules: Vec<Rule>,
    /// A tick to mark by a vertical line, and its label.
    pub(super) pointed: Option<(u32, &'static str)>,
}

/// A whole figure: panels of equal height below each other, which have the same ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panels {
    pub(super) caption: Caption,
    pub(super) charts: Vec<Chart>,
}

impl Chart {
    /// A chart whose lines all belong to the left axis.
    pub(super) fn new(ticks: Ticks, left: Scale, runs: Vec<Vec<Line>>) -> Self {
        Self { ticks, left, right: None, runs, rules: Vec::new(), pointed: None }
    }

    /// All lines of all runs.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.runs.iter().flatten()
    }

    /// The axis of a line.
    pub(super) fn axis_of(&self, line: &Line) -> &Scale {
        match (line.side, &self.right) {
            (Side::Right, Some(right)) => right,
            _ => &self.left,
        }
    }
}

impl Panels {
    /// Returns explanations of the marks, to print at the bottom.
    pub(super) fn notes(&self) -> Vec<&'static str> {
        let any = |is: fn(&Mark) -> bool| {
            self.charts.iter().flat_map(Chart::lines).flat_map(|line| &line.marks).any(is)
        };
        let bars = any(|mark| mark.interval.is_some()).then_some("bars: 95 % interval");
        let hollow = "hollow: lower bound (≥), the load generator was the limit";
        bars.into_iter().chain(any(|mark| mark.hollow).then_some(hollow)).collect()
    }
}

/// The values of all points of some lines, with the ends of their intervals.
pub(super) fn values(runs: &[Vec<Line>]) -> impl Iterator<Item = f64> {
    let marks = runs.iter().flatten().flat_map(|line| &line.marks);
    marks.flat_map(|mark| {
        let (lower, upper) = mark.interval.unwrap_or((mark.value, mark.value));
        [mark.value, lower, upper]
    })
}

/// The highest value among the lines of one side.
pub(super) fn highest(runs: &[Vec<Line>], side: Side) -> f64 {
    let lines = runs.iter().flatten().filter(|line| line.side == side);
    lines.flat_map(|line| &line.marks).map(Mark::highest).fold(0.0, f64::max)
}

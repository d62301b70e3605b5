//! Two services compared: the difference of each percentile of latency, and the main figure round by round.

use plimsoll_analyze::Estimate;
use plimsoll_analyze::ab::{QuantileDifference, RoundRatio};

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Rule, Spacing, Ticks, values};
use super::look::{Look, Place};
use super::raster::figure;
use super::scale::Scale;

/// B minus A over the percentiles of latency.
///
/// # Errors
/// As for every figure.
pub fn quantile_difference(
    caption: Caption,
    differences: &[QuantileDifference],
) -> Result<Figure, FigureError> {
    let tick = |one: &QuantileDifference| (one.percentile * 10.0).round() as u32;
    let marks = differences.iter().map(|one| Mark::new(tick(one), one.difference_ns.times(1e-6)));
    let line = Line::new("B minus A".to_owned(), Place::Alone.response_time(), marks);
    let ticks = Ticks::new("percentile of latency", Spacing::Tail, differences.iter().map(tick));
    signed(caption, "B minus A (ms)", ticks, vec![line])
}

/// By how many per cent the main figure of B differs from that of A, round by round and by which side was loaded first.
///
/// # Errors
/// As for every figure.
pub fn round_ratios(caption: Caption, what: &str, ratios: &[RoundRatio]) -> Result<Figure, FigureError> {
    let line = |index: usize, legend: &str, a_first: bool| {
        let own = ratios.iter().filter(move |one| one.a_first == a_first);
        let marks = own.map(|one| Mark::new(one.round, Estimate::exact(100.0 * (one.ratio - 1.0))));
        Line::new(legend.to_owned(), Look::new(index), marks)
    };
    let lines = vec![line(0, "A first", true), line(1, "B first", false)];
    let ticks = Ticks::new("round", Spacing::Linear, ratios.iter().map(|one| one.round));
    signed(caption, &format!("{what} of B against A (%)"), ticks, lines)
}

fn signed(caption: Caption, label: &str, ticks: Ticks, lines: Vec<Line>) -> Result<Figure, FigureError> {
    let runs = vec![lines];
    let left = Scale::Linear(Axis::around_zero(label, values(&runs)));
    let equal = Rule { value: 0.0, label: "no difference".to_owned() };
    let chart = Chart { rules: vec![equal], ..Chart::new(ticks, left, runs) };
    figure(&Panels { caption, charts: vec![chart] })
}

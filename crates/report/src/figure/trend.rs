//! A metric over many runs: each value with its interval, the levels between changes, and a mark at the newest change.

use plimsoll_analyze::{Estimate, Trend, TrendLevel};
use plimsoll_units::escape_control;

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Spacing, Ticks, values};
use super::look::{INK, Look, Place, Shape};
use super::raster::figure;
use super::scale::Scale;
use crate::words::trend;

/// Draws the metric of each run, oldest first, and its levels.
///
/// # Errors
/// As for every figure.
pub fn trend(trend: &Trend) -> Result<Figure, FigureError> {
    let (unit, scale) = if trend.metric.is_rate() { ("requests/s", 1.0) } else { ("ms", 1e-6) };
    let legend = trend::metric(trend.metric).to_owned();
    let marks = trend.points.iter().enumerate().map(|(index, point)| Mark {
        hollow: trend.is_bound(point),
        ..Mark::new(place(index), point.value.times(scale))
    });
    let measured = Line::new(legend.clone(), Place::Alone.throughput(), marks);
    let mut runs = vec![vec![measured]];
    runs[0].extend(trend.levels.iter().map(|level| level_line(level, scale)));
    let (low, high) = values(&runs)
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
    let left = Scale::Linear(Axis::around(&format!("{legend} ({unit})"), low, high));
    let ticks = Ticks::new("run", Spacing::Linear, (0..trend.points.len()).map(place));
    let pointed = trend.changes.last().map(|change| (place(change.at), "change"));
    let chart = Chart { pointed, ..Chart::new(ticks, left, runs) };
    figure(&Panels { caption: caption(trend), charts: vec![chart] })
}

/// The place of a run on the axis, from 1.
fn place(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// The mean of a level from its first run to its last one.
fn level_line(level: &TrendLevel, scale: f64) -> Line {
    let ends = [level.points.start, level.points.end.saturating_sub(1)];
    let mean = Estimate::exact(level.mean.value * scale);
    let marks = ends.map(|index| Mark::new(place(index), mean));
    let look = Look { color: INK, shape: Shape::Diamond, dashed: true };
    Line::new(format!("mean of {} runs", level.points.len()), look, marks.into_iter())
}

fn caption(trend: &Trend) -> Caption {
    let newest = trend.points.last().map(|point| &point.run);
    let title = newest.map(|run| escape_control(&run.target)).unwrap_or_default();
    let detail = trend.changes.last().map_or_else(trend::no_change, |change| trend::change(trend, change));
    Caption { title: format!("{}: {title}", trend::metric(trend.metric)), detail }
}

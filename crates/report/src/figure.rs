//! Figures as SVG and PNG, drawn by the same code: throughput and mean response time over concurrency, the success ratio, the
//! costs of switches, throughput over machines, over response sizes and over held times. Flame graphs are SVG only.

mod axis;
mod bars;
mod canvas;
mod chart;
mod flame;
mod legend;
mod look;
mod plot;
mod raster;
mod ratios;
mod rows;
mod scaling;
mod series;
mod speeds;

pub use bars::Bar;
use bars::BarChart;
use canvas::Sheet;
pub use canvas::{Figure, FigureError};
pub use flame::flame;
use plimsoll_analyze::{HeldLines, SizeLine, TierScaling};
pub use series::{Caption, RungPoint, Series};

/// Throughput and mean response time over concurrency, of one run or of two.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn throughput(caption: &Caption, series: &[&Series]) -> Result<Figure, FigureError> {
    render(&speeds::chart(caption, series))
}

/// The success ratio over concurrency, of one run or of two.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn success(caption: &Caption, series: &[&Series]) -> Result<Figure, FigureError> {
    render(&ratios::chart(caption, series))
}

/// The costs in a ledger, as bars; `axis` names their unit.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn ledger(caption: &Caption, axis: &str, bars: &[Bar]) -> Result<Figure, FigureError> {
    render(&BarChart { title: &caption.title, detail: &caption.detail, axis, bars })
}

/// Throughput over the machines of a tier, with the line of linear growth.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn tier_scaling(title: &str, scaling: &TierScaling) -> Result<Figure, FigureError> {
    render(&scaling::chart(title, scaling))
}

/// Throughput over the size of responses, a line for each number of cores.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn response_sizes(title: &str, lines: &[SizeLine]) -> Result<Figure, FigureError> {
    render(&rows::sizes(title, lines))
}

/// Throughput over the time that requests are held: through a front, and as the sum of the servers behind it measured alone.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn held_times(title: &str, lines: &HeldLines) -> Result<Figure, FigureError> {
    render(&rows::held(title, lines))
}

fn render(chart: &impl Sheet) -> Result<Figure, FigureError> {
    canvas::register_font()?;
    Ok(Figure { svg: canvas::svg(chart)?, png: raster::png(chart)? })
}

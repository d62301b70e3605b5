//! Figures of a ladder, as SVG and PNG drawn by the same code: throughput and mean response time over
//! concurrency, and the success ratio over concurrency, for one run or for two side by side.

mod axis;
mod bars;
mod canvas;
mod chart;
mod flame;
mod font;
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
pub use flame::flame;
use plimsoll_analyze::{HeldLines, SizeLine, TierScaling};
pub use series::{Caption, RungPoint, Series};

/// One figure in both forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The figure as an SVG document.
    pub svg: String,
    /// The same as a PNG image of 1200 × 720 pixels.
    pub png: Vec<u8>,
}

/// A figure that could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The embedded font cannot be used.
    #[error("the embedded font cannot be read; this build of plimsoll is damaged, install it again")]
    Font,
    /// A backend refused.
    #[error("the figure cannot be drawn: {0}")]
    Draw(String),
    /// The image could not be put into bytes.
    #[error("the figure cannot be encoded as PNG: {0}")]
    Encode(#[from] png::EncodingError),
}

/// Throughput and mean response time over concurrency, of one run.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn sweep_qps_ttlb(caption: &Caption, series: &Series) -> Result<Figure, FigureError> {
    render(&speeds::chart(caption, &[series]))
}

/// The success ratio over concurrency, of one run.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn sweep_successrate(caption: &Caption, series: &Series) -> Result<Figure, FigureError> {
    render(&ratios::chart(caption, &[series]))
}

/// Throughput and mean response time over concurrency, of two runs.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn diff_qps_ttlb(caption: &Caption, a: &Series, b: &Series) -> Result<Figure, FigureError> {
    render(&speeds::chart(caption, &[a, b]))
}

/// The success ratio over concurrency, of two runs.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn diff_successrate(caption: &Caption, a: &Series, b: &Series) -> Result<Figure, FigureError> {
    render(&ratios::chart(caption, &[a, b]))
}

/// What each item of a ledger costs, as bars; `axis` says what their lengths are.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn ledger(caption: &Caption, axis: &str, bars: &[Bar]) -> Result<Figure, FigureError> {
    render(&BarChart { title: &caption.title, detail: &caption.detail, axis, bars })
}

/// Throughput over the machines of a tier, beside the line of growth in proportion.
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

/// Throughput over the time that requests are held, through a front and as the sum of those behind it alone.
///
/// # Errors
/// When drawing fails, which only a damaged build does.
pub fn held_times(title: &str, lines: &HeldLines) -> Result<Figure, FigureError> {
    render(&rows::held(title, lines))
}

fn render(chart: &impl Sheet) -> Result<Figure, FigureError> {
    font::register()?;
    Ok(Figure { svg: canvas::svg(chart)?, png: raster::png(chart)? })
}

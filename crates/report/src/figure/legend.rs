//! The legend: one row for each run, above the frame, where it covers no point.

use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Drawn, Lettering, WIDTH};
use super::chart::{Chart, Line};
use super::look::INK;

const SIZE: f64 = 17.0;
const ROW_HEIGHT: f64 = 26.0;
/// The length of the line sample in front of a text.
const SAMPLE_WIDTH: f64 = 44.0;
const GAP: f64 = 10.0;
const BETWEEN: f64 = 40.0;

pub(super) fn height(chart: &Chart) -> f64 {
    chart.runs.len() as f64 * ROW_HEIGHT
}

/// Draws the legend with its first row at `top`.
pub(super) fn draw<DB: DrawingBackend>(chart: &Chart, canvas: &Canvas<DB>, top: f64) -> Drawn {
    for (index, lines) in chart.runs.iter().enumerate() {
        row(lines, canvas, top + index as f64 * ROW_HEIGHT)?;
    }
    Ok(())
}

fn row<DB: DrawingBackend>(lines: &[Line], canvas: &Canvas<DB>, y: f64) -> Drawn {
    let room = WIDTH * 0.95 / lines.len().max(1) as f64 - SAMPLE_WIDTH - GAP - BETWEEN;
    let texts: Vec<String> = lines.iter().map(|line| canvas.fitted(&line.legend, SIZE, room)).collect();
    let widths = texts.iter().map(|text| SAMPLE_WIDTH + GAP + canvas.width_of(text, SIZE));
    let total = widths.sum::<f64>() + BETWEEN * (lines.len().max(1) - 1) as f64;
    let mut x = (WIDTH - total) / 2.0;
    for (line, text) in lines.iter().zip(&texts) {
        canvas.path(&[(x, y), (x + SAMPLE_WIDTH, y)], line.look)?;
        canvas.mark((x + SAMPLE_WIDTH / 2.0, y), line.look, false)?;
        x += SAMPLE_WIDTH + GAP;
        canvas.text((x, y), text, Lettering::new(SIZE, INK).anchored(HPos::Left))?;
        x += canvas.width_of(text, SIZE) + BETWEEN;
    }
    Ok(())
}

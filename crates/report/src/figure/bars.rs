//! A ledger as bars: one row for each item, costs to the right of zero, savings to the left.

use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::canvas::{Canvas, Caption, Drawn, Figure, FigureError, HEIGHT, Lettering, Sheet, WIDTH};
use super::look::{BLUE, FAINT, FRAME, GRID, INK, RED};
use super::raster::figure;

const NAME_SIZE: f64 = 18.0;
const TICK_SIZE: f64 = 16.0;
const NAME_ROOM: f64 = 250.0;
const VALUE_ROOM: f64 = 150.0;
const TOP: f64 = 100.0;
const BOTTOM: f64 = HEIGHT - 74.0;
/// The maximum height of a row.
const MAX_ROW: f64 = 110.0;
/// The share of a row's height that its bar takes.
const BAR_PART: f64 = 0.56;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    /// Its length; negative to the left.
    pub value: f64,
    pub interval: Option<(f64, f64)>,
    /// The value as a text.
    pub label: String,
}

/// Draws the costs in a ledger as bars; `axis` names their unit.
pub fn ledger(caption: &Caption, axis: &str, bars: &[Bar]) -> Result<Figure, FigureError> {
    figure(&BarChart { caption, axis, bars })
}

struct BarChart<'a> {
    caption: &'a Caption,
    /// The quantity and its unit.
    axis: &'a str,
    bars: &'a [Bar],
}

/// The mapping from values to pixels, between the names and the labels.
struct Scale {
    zero: f64,
    /// Pixels of one unit.
    unit: f64,
}

impl Scale {
    fn new(bars: &[Bar]) -> (Self, Axis, Axis) {
        let ends = |bar: &Bar| {
            let (low, high) = bar.interval.unwrap_or((bar.value, bar.value));
            (low.min(bar.value), high.max(bar.value))
        };
        let most = bars.iter().map(|bar| ends(bar).1).fold(0.0, f64::max);
        let least = bars.iter().map(|bar| -ends(bar).0).fold(0.0, f64::max);
        let wide = Axis::from_zero("", most.max(least));
        // Both sides have ticks at the same distance.
        let side = |reach: f64| {
            let top = (reach * 1.02 / wide.step).ceil() * wide.step;
            Axis { top, last_tick: top, ..wide.clone() }
        };
        let (below, mut above) = (side(least), side(most));
        if above.top + below.top == 0.0 {
            // Where nothing has a cost, zero is at the left end.
            (above.top, above.last_tick) = (wide.step, wide.step);
        }
        let width = WIDTH - NAME_ROOM - VALUE_ROOM;
        let unit = width / (above.top + below.top);
        (Self { zero: NAME_ROOM + below.top * unit, unit }, above, below)
    }

    fn x(&self, value: f64) -> f64 {
        self.zero + value * self.unit
    }
}

impl Sheet for BarChart<'_> {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.captions(self.caption)?;
        let (scale, above, below) = Scale::new(self.bars);
        let row = ((BOTTOM - TOP) / self.bars.len().max(1) as f64).min(MAX_ROW);
        let end = TOP + row * self.bars.len() as f64;
        Self::ticks(canvas, &scale, (&above, &below), end)?;
        for (index, bar) in self.bars.iter().enumerate() {
            Self::bar(canvas, &scale, bar, TOP + (index as f64 + 0.5) * row, row * BAR_PART / 2.0)?;
        }
        canvas.line((scale.zero, TOP), (scale.zero, end), FRAME, 1.5)?;
        let axis = canvas.fitted(self.axis, NAME_SIZE, WIDTH - 80.0);
        canvas.text((WIDTH / 2.0, end + 52.0), &axis, Lettering::new(NAME_SIZE, INK))
    }
}

impl BarChart<'_> {
    fn ticks<DB: DrawingBackend>(
        canvas: &Canvas<DB>,
        scale: &Scale,
        sides: (&Axis, &Axis),
        end: f64,
    ) -> Drawn {
        let (above, below) = sides;
        // The embedded font has no minus sign, only the hyphen.
        let left = below.ticks().into_iter().skip(1).map(|(value, text)| (-value, format!("-{text}")));
        for (value, text) in above.ticks().into_iter().chain(left) {
            let x = scale.x(value);
            canvas.line((x, TOP), (x, end), GRID, 1.0)?;
            canvas.text((x, end + 18.0), &text, Lettering::new(TICK_SIZE, FAINT))?;
        }
        Ok(())
    }

    /// Costs are red, savings blue.
    fn bar<DB: DrawingBackend>(canvas: &Canvas<DB>, scale: &Scale, bar: &Bar, y: f64, half: f64) -> Drawn {
        let color = if bar.value < 0.0 { BLUE } else { RED };
        let (from, to) = (scale.zero.min(scale.x(bar.value)), scale.zero.max(scale.x(bar.value)));
        canvas.fill((from, y - half), (to, y + half), color)?;
        let reach = bar.interval.map_or(to, |(_, high)| to.max(scale.x(high)));
        if let Some((low, high)) = bar.interval {
            canvas.error_bar((scale.x(low), y), (scale.x(high), y), half / 2.0, INK)?;
        }
        let name = canvas.fitted(&bar.name, NAME_SIZE, NAME_ROOM - 40.0);
        canvas.text((NAME_ROOM - 20.0, y), &name, Lettering::new(NAME_SIZE, INK).anchored(HPos::Right))?;
        let label = Lettering::new(TICK_SIZE, INK).anchored(HPos::Left);
        canvas.text((reach + 8.0, y), &bar.label, label)
    }
}

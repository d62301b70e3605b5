//! Use over the rate of requests, a panel for each resource: the points, the line with the interval of its slope, the capacity,
//! and the rate at which the two meet.

use plimsoll_analyze::{AmountUnit, ProductionFindings, ResourceFinding};
use plimsoll_units::count_text;
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::axis::Axis;
use super::canvas::{Canvas, Caption, Drawn, Figure, FigureError, HEIGHT, Lettering, Sheet, Spot, WIDTH};
use super::look::{BLUE, FAINT, FRAME, GRID, INK, LIMIT, Look, RED, Shape};
use super::raster::figure;
use crate::words;

/// The panels of a row.
const COLUMNS: usize = 2;
const MAX_PANELS: usize = 4;
/// The maximum number of points in a panel; of more, every second, third … is drawn.
const MAX_POINTS: usize = 500;
const TOP: f64 = 84.0;
const BOTTOM: f64 = HEIGHT - 34.0;
const AXIS_ROOM: f64 = 96.0;
const TITLE_ROOM: f64 = 30.0;
const TICK_ROOM: f64 = 52.0;
const RIGHT_ROOM: f64 = 26.0;
const TITLE_SIZE: f64 = 17.0;
const TICK_SIZE: f64 = 14.0;
const NOTE_SIZE: f64 = 15.0;
/// Half the side of a point.
const POINT_HALF: f64 = 2.0;

/// Draws the use of the resources that fill first over the rate; the title is the answer.
///
/// # Errors
/// As for every figure.
pub fn production(findings: &ProductionFindings) -> Result<Figure, FigureError> {
    let drawn = findings.resources.iter().filter(|one| one.kind.limits() && one.points.used.len() > 1);
    let panels: Vec<&ResourceFinding> = drawn.take(MAX_PANELS).collect();
    let caption = Caption {
        title: words::production_title(findings),
        detail: "use of each resource over the rate of requests".to_owned(),
    };
    figure(&Production { findings, panels, caption })
}

struct Production<'a> {
    findings: &'a ProductionFindings,
    panels: Vec<&'a ResourceFinding>,
    caption: Caption,
}

impl Sheet for Production<'_> {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.captions(&self.caption)?;
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let (width, height) = (WIDTH / columns as f64, (BOTTOM - TOP) / rows as f64);
        for (at, resource) in self.panels.iter().enumerate() {
            let corner = ((at % columns) as f64 * width, TOP + (at / columns) as f64 * height);
            Panel::new(resource, self.findings, corner, (width, height)).draw(canvas)?;
        }
        let notes = "dashed: 95 % interval of the slope · light: left out";
        canvas.text((WIDTH / 2.0, HEIGHT - 12.0), notes, Lettering::new(NOTE_SIZE, FAINT))
    }
}

/// One resource, and where it is drawn.
struct Panel<'a> {
    resource: &'a ResourceFinding,
    title: String,
    rates: Axis,
    amounts: Axis,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl<'a> Panel<'a> {
    fn new(
        resource: &'a ResourceFinding,
        findings: &ProductionFindings,
        (x, y): Spot,
        (width, height): (f64, f64),
    ) -> Self {
        let full_at = resource.full_at().map_or(0.0, |rate| rate.value);
        let highest_rate = findings.rate.map_or(0.0, |rate| rate.highest).max(full_at);
        let shown_capacity = resource.capacity.filter(|_| full_at > 0.0).unwrap_or(0.0);
        let highest = resource.highest.unwrap_or(0.0).max(shown_capacity) / scale(resource.unit);
        Self {
            resource,
            title: words::production_resource(resource, &findings.resources),
            rates: Axis::from_zero("requests/s", highest_rate),
            amounts: Axis::from_zero(unit(resource.unit), highest),
            left: x + AXIS_ROOM,
            right: x + width - RIGHT_ROOM,
            top: y + TITLE_ROOM,
            bottom: y + height - TICK_ROOM,
        }
    }

    fn spot(&self, rate: f64, usage: f64) -> Spot {
        let across = (rate / self.rates.top).clamp(0.0, 1.0);
        let up = (usage / scale(self.resource.unit) / self.amounts.top).clamp(0.0, 1.0);
        (self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let title = canvas.fitted(&self.title, TITLE_SIZE, self.right - self.left);
        canvas.text(
            (f64::midpoint(self.left, self.right), self.top - 14.0),
            &title,
            Lettering::new(TITLE_SIZE, INK),
        )?;
        self.axes(canvas)?;
        self.points(canvas, &self.resource.points.left_out, RGBColor(245, 190, 120))?;
        self.points(canvas, &self.resource.points.used, RGBColor(120, 165, 235))?;
        self.lines(canvas)?;
        self.capacity(canvas)
    }

    fn axes<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let tick = Lettering::new(TICK_SIZE, FAINT);
        for (value, text) in self.amounts.ticks() {
            let (_, y) = self.spot(0.0, value * scale(self.resource.unit));
            canvas.line((self.left, y), (self.right, y), GRID, 1.0)?;
            canvas.text((self.left - 8.0, y), &text, tick.anchored(HPos::Right))?;
        }
        for (value, text) in self.rates.ticks() {
            let (x, _) = self.spot(value, 0.0);
            canvas.line((x, self.bottom), (x, self.bottom + 5.0), FRAME, 1.0)?;
            canvas.text((x, self.bottom + 16.0), &text, tick)?;
        }
        canvas.line((self.left, self.bottom), (self.right, self.bottom), FRAME, 1.0)?;
        let below = (f64::midpoint(self.left, self.right), self.bottom + 36.0);
        canvas.text(below, &self.rates.label, Lettering::new(TICK_SIZE, INK))?;
        let upright = Lettering { upright: true, ..Lettering::new(TICK_SIZE, INK) };
        canvas.text((self.left - 76.0, f64::midpoint(self.top, self.bottom)), &self.amounts.label, upright)
    }

    fn points<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<DB>,
        points: &[(f64, f64)],
        color: RGBColor,
    ) -> Drawn {
        let every = points.len().div_ceil(MAX_POINTS).max(1);
        points.iter().step_by(every).try_for_each(|(rate, usage)| {
            let (x, y) = self.spot(*rate, *usage);
            canvas.fill((x - POINT_HALF, y - POINT_HALF), (x + POINT_HALF, y + POINT_HALF), color)
        })
    }

    /// Draws the line, and through the middle of its points the lines of the smallest and the greatest slope.
    fn lines<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let Some(demand) = self.resource.demand else { return Ok(()) };
        let points = &self.resource.points.used;
        let count = points.len() as f64;
        let middle = points.iter().map(|point| point.0).sum::<f64>() / count;
        let height = demand.background.value + demand.per_request.value * middle;
        let through = |slope: f64, dashed: bool| {
            let at = |rate: f64| height + slope * (rate - middle);
            // The line ends where it leaves the frame.
            let top = self.amounts.top * scale(self.resource.unit);
            let end = self.rates.top.min(middle + (top - height) / slope);
            let start = (middle - height / slope).max(0.0);
            let look = Look { color: BLUE, shape: Shape::Circle, dashed };
            canvas.path(&[self.spot(start, at(start)), self.spot(end, at(end))], look)
        };
        if let Some((least, greatest)) = demand.per_request.interval {
            through(least, true)?;
            through(greatest, true)?;
        }
        through(demand.per_request.value, false)
    }

    /// Draws the capacity, and where the line reaches it.
    fn capacity<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        let (Some(capacity), Some(full_at)) = (self.resource.capacity, self.resource.full_at()) else {
            return Ok(());
        };
        let look = Look { color: LIMIT, shape: Shape::Circle, dashed: true };
        let (x, y) = self.spot(full_at.value, capacity);
        canvas.path(&[(self.left, y), (self.right, y)], look)?;
        canvas.path(&[(x, y), (x, self.bottom)], look)?;
        if let Some((lower, upper)) = full_at.interval {
            let (from, to) = (self.spot(lower, capacity), self.spot(upper, capacity));
            canvas.error_bar(from, to, 7.0, RED)?;
        }
        let label = format!("full at {}", count_text(full_at.value));
        let text = Lettering::new(TICK_SIZE, RED).anchored(HPos::Right);
        canvas.text((x - 8.0, f64::midpoint(y, self.bottom) + 12.0), &label, text)
    }
}

/// Returns how many of a resource's units make one unit of its axis.
const fn scale(unit: AmountUnit) -> f64 {
    match unit {
        AmountUnit::Cores | AmountUnit::Count => 1.0,
        AmountUnit::BitsPerSec | AmountUnit::Bytes => 1e6,
        AmountUnit::Ratio => 0.01,
    }
}

const fn unit(unit: AmountUnit) -> &'static str {
    match unit {
        AmountUnit::Cores => "cores",
        AmountUnit::BitsPerSec => "Mbit/s",
        AmountUnit::Bytes => "MB",
        AmountUnit::Ratio => "%",
        AmountUnit::Count => "in use",
    }
}

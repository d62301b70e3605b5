//! The parts of a figure, each in its place: captions, legend, frame, axes, lines, labels.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use plimsoll_units::grouped;

use super::FigureError;
use super::axis::Axis;
use super::canvas::{Canvas, HEIGHT, Lettering, Sheet, Spot, WIDTH};
use super::chart::{Chart, Line, Mark, Side};
use super::legend;
use super::look::{FAINT, FRAME, GRID, INK};

const TITLE_SIZE: f64 = 25.0;
const DETAIL_SIZE: f64 = 17.0;
const AXIS_SIZE: f64 = 18.0;
const TICK_SIZE: f64 = 17.0;
const LABEL_SIZE: f64 = 16.0;
/// Room beside the frame for ticks and the name of an axis.
const AXIS_ROOM: f64 = 118.0;
const BARE_SIDE_ROOM: f64 = 40.0;
const LEGEND_TOP: f64 = 88.0;
const BOTTOM: f64 = HEIGHT - 74.0;

/// Where the frame stands on the sheet.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn of(chart: &Chart) -> Self {
        let right_room = if chart.right.is_some() { AXIS_ROOM } else { BARE_SIDE_ROOM };
        let top = LEGEND_TOP + legend::height(chart) + 6.0;
        Self { left: AXIS_ROOM, right: WIDTH - right_room, top, bottom: BOTTOM }
    }

    fn slot_width(&self, chart: &Chart) -> f64 {
        (self.right - self.left) / chart.rungs.len().max(1) as f64
    }

    fn x(&self, chart: &Chart, connections: u32) -> f64 {
        let index = chart.rungs.iter().position(|rung| *rung == connections).unwrap_or(0);
        self.left + (index as f64 + 0.5) * self.slot_width(chart)
    }

    /// Lines stand a little beside each other, so that their intervals do not cover each other.
    fn sidestep(&self, chart: &Chart, line: &Line) -> f64 {
        const APART: f64 = 9.0;
        let count = chart.lines().count() as f64;
        let index = chart.lines().position(|other| other == line).unwrap_or(0) as f64;
        (index - (count - 1.0) / 2.0) * APART.min(self.slot_width(chart) / (2.0 * count))
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * (value / axis.top).clamp(0.0, 1.0)
    }

    /// Where a mark stands, and the highest and lowest pixel of it and its bar.
    fn reach(&self, chart: &Chart, line: &Line, mark: &Mark) -> (f64, (f64, f64)) {
        let (x, y) = self.spot(chart, line, mark);
        let (lower, upper) = mark.interval.unwrap_or((mark.value, mark.value));
        let end = |value| self.y(chart.axis_of(line), value);
        (x, (y.min(end(upper)), y.max(end(lower))))
    }

    fn spot(&self, chart: &Chart, line: &Line, mark: &Mark) -> Spot {
        let x = self.x(chart, mark.connections) + self.sidestep(chart, line);
        (x, self.y(chart.axis_of(line), mark.value))
    }
}

impl Sheet for Chart {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), FigureError> {
        draw(self, canvas)
    }
}

fn draw<DB: DrawingBackend>(chart: &Chart, canvas: &Canvas<DB>) -> Result<(), FigureError> {
    let frame = Frame::of(chart);
    captions(chart, canvas)?;
    legend::draw(chart, canvas, LEGEND_TOP)?;
    value_axes(chart, canvas, &frame)?;
    rung_axis(chart, canvas, &frame)?;
    if chart.lines().all(|line| line.marks.is_empty()) {
        let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        canvas.text(middle, "nothing was measured", Lettering::new(AXIS_SIZE, FAINT))?;
    }
    chart.lines().try_for_each(|line| draw_line(chart, line, canvas, &frame))?;
    chart.lines().try_for_each(|line| labels(chart, line, canvas, &frame))
}

fn captions<DB: DrawingBackend>(chart: &Chart, canvas: &Canvas<DB>) -> Result<(), FigureError> {
    let caption = |y, text: &str, lettering: Lettering| {
        let text = canvas.fitted(text, lettering.size, WIDTH - 2.0 * BARE_SIDE_ROOM);
        canvas.text((WIDTH / 2.0, y), &text, lettering)
    };
    caption(30.0, &chart.title, Lettering::new(TITLE_SIZE, INK))?;
    caption(62.0, &chart.detail, Lettering::new(DETAIL_SIZE, FAINT))
}

fn value_axes<DB: DrawingBackend>(
    chart: &Chart,
    canvas: &Canvas<DB>,
    frame: &Frame,
) -> Result<(), FigureError> {
    for (value, _) in chart.left.ticks() {
        let y = frame.y(&chart.left, value);
        canvas.line((frame.left, y), (frame.right, y), GRID, 1.0)?;
    }
    value_axis(&chart.left, Side::Left, side_color(chart, Side::Left), canvas, frame)?;
    if let Some(right) = &chart.right {
        value_axis(right, Side::Right, side_color(chart, Side::Right), canvas, frame)?;
    }
    canvas.line((frame.left, frame.bottom), (frame.left, frame.top), FRAME, 1.0)?;
    canvas.line((frame.right, frame.bottom), (frame.right, frame.top), FRAME, 1.0)
}

/// The colour an axis shares with the first line that is read from it.
fn side_color(chart: &Chart, side: Side) -> RGBColor {
    chart.lines().find(|line| line.side == side).map_or(INK, |line| line.look.color)
}

fn value_axis<DB: DrawingBackend>(
    axis: &Axis,
    side: Side,
    color: RGBColor,
    canvas: &Canvas<DB>,
    frame: &Frame,
) -> Result<(), FigureError> {
    const NAME_DISTANCE: f64 = 94.0;
    let (x, outward, anchor) = match side {
        Side::Left => (frame.left, -1.0, HPos::Right),
        Side::Right => (frame.right, 1.0, HPos::Left),
    };
    let lettering = Lettering::new(TICK_SIZE, color).anchored(anchor);
    for (value, text) in axis.ticks() {
        let y = frame.y(axis, value);
        canvas.line((x, y), (x + 6.0 * outward, y), FRAME, 1.0)?;
        canvas.text((x + 11.0 * outward, y), &text, lettering)?;
    }
    let name = Lettering { upright: true, ..Lettering::new(AXIS_SIZE, color) };
    canvas.text((x + NAME_DISTANCE * outward, (frame.top + frame.bottom) / 2.0), &axis.label, name)
}

fn rung_axis<DB: DrawingBackend>(
    chart: &Chart,
    canvas: &Canvas<DB>,
    frame: &Frame,
) -> Result<(), FigureError> {
    let texts: Vec<String> = chart.rungs.iter().map(|rung| grouped(u64::from(*rung))).collect();
    let widest = texts.iter().map(|text| canvas.width_of(text, TICK_SIZE)).fold(0.0, f64::max);
    // Where the labels would touch, only every second, third … rung is named.
    let every = ((widest + 8.0) / frame.slot_width(chart)).ceil().max(1.0) as usize;
    canvas.line((frame.left, frame.bottom), (frame.right, frame.bottom), FRAME, 1.0)?;
    for (index, (rung, text)) in chart.rungs.iter().zip(&texts).enumerate() {
        let x = frame.x(chart, *rung);
        canvas.line((x, frame.bottom), (x, frame.bottom + 6.0), FRAME, 1.0)?;
        if index.is_multiple_of(every) {
            canvas.text((x, frame.bottom + 20.0), text, Lettering::new(TICK_SIZE, INK))?;
        }
    }
    let middle = ((frame.left + frame.right) / 2.0, frame.bottom + 52.0);
    canvas.text(middle, chart.rung_label, Lettering::new(AXIS_SIZE, INK))
}

fn draw_line<DB: DrawingBackend>(
    chart: &Chart,
    line: &Line,
    canvas: &Canvas<DB>,
    frame: &Frame,
) -> Result<(), FigureError> {
    let spots: Vec<Spot> = line.marks.iter().map(|mark| frame.spot(chart, line, mark)).collect();
    canvas.path(&spots, line.look)?;
    for (mark, spot) in line.marks.iter().zip(spots) {
        if let Some((lower, upper)) = mark.interval {
            let axis = chart.axis_of(line);
            error_bar(canvas, spot.0, (frame.y(axis, lower), frame.y(axis, upper)), line.look.color)?;
        }
        canvas.mark(spot, line.look, mark.hollow)?;
    }
    Ok(())
}

fn error_bar<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    x: f64,
    (lower, upper): (f64, f64),
    color: RGBColor,
) -> Result<(), FigureError> {
    const CAP_HALF: f64 = 9.0;
    canvas.line((x, lower), (x, upper), color, 1.5)?;
    canvas.line((x - CAP_HALF, lower), (x + CAP_HALF, lower), color, 1.5)?;
    canvas.line((x - CAP_HALF, upper), (x + CAP_HALF, upper), color, 1.5)
}

/// Texts beside the points, beyond the end of their bars. One that would touch its left neighbour, or a point
/// of another line or its bar, is left out.
fn labels<DB: DrawingBackend>(
    chart: &Chart,
    line: &Line,
    canvas: &Canvas<DB>,
    frame: &Frame,
) -> Result<(), FigureError> {
    const DISTANCE: f64 = 19.0;
    let mut free_from = frame.left;
    for mark in &line.marks {
        let Some(text) = &mark.label else { continue };
        let (x, (top, bottom)) = frame.reach(chart, line, mark);
        let half = canvas.width_of(text, LABEL_SIZE) / 2.0;
        let below = line.labels_below && bottom + 2.0 * DISTANCE < frame.bottom;
        let y = if below { bottom + DISTANCE } else { top - DISTANCE };
        if x - half < free_from || touches_another(chart, line, frame, (x, y), half) {
            continue;
        }
        free_from = x + half + 6.0;
        canvas.text((x, y), text, Lettering::new(LABEL_SIZE, line.look.color))?;
    }
    Ok(())
}

/// True if a text of this half width would stand on a point of another line, or on its bar.
fn touches_another(chart: &Chart, line: &Line, frame: &Frame, (x, y): Spot, half: f64) -> bool {
    const CLEARANCE: f64 = LABEL_SIZE / 2.0 + 4.0;
    let others = chart.lines().filter(|other| *other != line);
    let mut reaches = others.flat_map(|other| other.marks.iter().map(|mark| frame.reach(chart, other, mark)));
    reaches.any(|(at, (top, bottom))| {
        (at - x).abs() < half + 4.0 && y + CLEARANCE > top && y - CLEARANCE < bottom
    })
}

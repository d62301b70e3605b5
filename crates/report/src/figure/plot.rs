//! Draws a chart: captions, legend, frame, axes, lines, labels, each in its place.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use plimsoll_units::grouped;

use super::axis::Axis;
use super::canvas::{Canvas, Drawn, HEIGHT, Lettering, Sheet, Spot, WIDTH};
use super::chart::{Chart, Line, Mark, Side};
use super::legend;
use super::look::{FAINT, FRAME, GRID, INK};

const AXIS_SIZE: f64 = 18.0;
const TICK_SIZE: f64 = 17.0;
const LABEL_SIZE: f64 = 16.0;
/// Room next to the frame for the ticks and the name of an axis.
const AXIS_ROOM: f64 = 118.0;
const BARE_SIDE_ROOM: f64 = 40.0;
const LEGEND_TOP: f64 = 88.0;
const BOTTOM: f64 = HEIGHT - 74.0;

impl Sheet for Chart {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        Plot::new(self, canvas).draw()
    }
}

/// A chart on a canvas, and where its frame is.
struct Plot<'a, DB: DrawingBackend> {
    chart: &'a Chart,
    canvas: &'a Canvas<'a, DB>,
    left: f64,
    right: f64,
    top: f64,
}

impl<'a, DB: DrawingBackend> Plot<'a, DB> {
    fn new(chart: &'a Chart, canvas: &'a Canvas<'a, DB>) -> Self {
        let right_room = if chart.right.is_some() { AXIS_ROOM } else { BARE_SIDE_ROOM };
        let top = LEGEND_TOP + legend::height(chart) + 6.0;
        Self { chart, canvas, left: AXIS_ROOM, right: WIDTH - right_room, top }
    }

    fn draw(&self) -> Drawn {
        self.canvas.captions(&self.chart.caption)?;
        legend::draw(self.chart, self.canvas, LEGEND_TOP)?;
        self.value_axes()?;
        self.tick_axis()?;
        if self.chart.lines().all(|line| line.marks.is_empty()) {
            let middle = ((self.left + self.right) / 2.0, (self.top + BOTTOM) / 2.0);
            self.canvas.text(middle, "nothing was measured", Lettering::new(AXIS_SIZE, FAINT))?;
        }
        self.chart.lines().try_for_each(|line| self.line(line))?;
        self.chart.lines().try_for_each(|line| self.labels(line))
    }

    fn slot_width(&self) -> f64 {
        (self.right - self.left) / self.chart.ticks.len().max(1) as f64
    }

    fn x(&self, tick: u32) -> f64 {
        let index = self.chart.ticks.iter().position(|other| *other == tick).unwrap_or(0);
        self.left + (index as f64 + 0.5) * self.slot_width()
    }

    fn y(&self, axis: &Axis, value: f64) -> f64 {
        BOTTOM - (BOTTOM - self.top) * (value / axis.top).clamp(0.0, 1.0)
    }

    /// Where a mark is. Lines are shifted a little against each other, so that their intervals do not overlap.
    fn spot(&self, line: &Line, mark: &Mark) -> Spot {
        const APART: f64 = 9.0;
        let count = self.chart.lines().count() as f64;
        let index = self.chart.lines().position(|other| other == line).unwrap_or(0) as f64;
        let shift = (index - (count - 1.0) / 2.0) * APART.min(self.slot_width() / (2.0 * count));
        (self.x(mark.tick) + shift, self.y(self.chart.axis_of(line), mark.value))
    }

    /// Where a mark is, and the highest and lowest pixel of it and its bar.
    fn reach(&self, line: &Line, mark: &Mark) -> (f64, (f64, f64)) {
        let (x, y) = self.spot(line, mark);
        let (lower, upper) = mark.interval.unwrap_or((mark.value, mark.value));
        let end = |value| self.y(self.chart.axis_of(line), value);
        (x, (y.min(end(upper)), y.max(end(lower))))
    }

    fn value_axes(&self) -> Drawn {
        for (value, _) in self.chart.left.ticks() {
            let y = self.y(&self.chart.left, value);
            self.canvas.line((self.left, y), (self.right, y), GRID, 1.0)?;
        }
        self.value_axis(&self.chart.left, Side::Left)?;
        if let Some(right) = &self.chart.right {
            self.value_axis(right, Side::Right)?;
        }
        [self.left, self.right]
            .into_iter()
            .try_for_each(|x| self.canvas.line((x, BOTTOM), (x, self.top), FRAME, 1.0))
    }

    fn value_axis(&self, axis: &Axis, side: Side) -> Drawn {
        const NAME_DISTANCE: f64 = 94.0;
        let (x, outward, anchor) = match side {
            Side::Left => (self.left, -1.0, HPos::Right),
            Side::Right => (self.right, 1.0, HPos::Left),
        };
        let color = self.side_color(side);
        let lettering = Lettering::new(TICK_SIZE, color).anchored(anchor);
        for (value, text) in axis.ticks() {
            let y = self.y(axis, value);
            self.canvas.line((x, y), (x + 6.0 * outward, y), FRAME, 1.0)?;
            self.canvas.text((x + 11.0 * outward, y), &text, lettering)?;
        }
        let name = Lettering { upright: true, ..Lettering::new(AXIS_SIZE, color) };
        self.canvas.text((x + NAME_DISTANCE * outward, (self.top + BOTTOM) / 2.0), &axis.label, name)
    }

    /// The colour of an axis is that of the first line that belongs to it.
    fn side_color(&self, side: Side) -> RGBColor {
        self.chart.lines().find(|line| line.side == side).map_or(INK, |line| line.look.color)
    }

    fn tick_axis(&self) -> Drawn {
        let texts: Vec<String> = self.chart.ticks.iter().map(|tick| grouped(u64::from(*tick))).collect();
        let widest = texts.iter().map(|text| self.canvas.width_of(text, TICK_SIZE)).fold(0.0, f64::max);
        // Where labels would touch, only every second, third … tick has one.
        let every = ((widest + 8.0) / self.slot_width()).ceil().max(1.0) as usize;
        self.canvas.line((self.left, BOTTOM), (self.right, BOTTOM), FRAME, 1.0)?;
        for (index, (tick, text)) in self.chart.ticks.iter().zip(&texts).enumerate() {
            let x = self.x(*tick);
            self.canvas.line((x, BOTTOM), (x, BOTTOM + 6.0), FRAME, 1.0)?;
            if index.is_multiple_of(every) {
                self.canvas.text((x, BOTTOM + 20.0), text, Lettering::new(TICK_SIZE, INK))?;
            }
        }
        let middle = ((self.left + self.right) / 2.0, BOTTOM + 52.0);
        self.canvas.text(middle, self.chart.tick_label, Lettering::new(AXIS_SIZE, INK))
    }

    fn line(&self, line: &Line) -> Drawn {
        const CAP_HALF: f64 = 9.0;
        let spots: Vec<Spot> = line.marks.iter().map(|mark| self.spot(line, mark)).collect();
        self.canvas.path(&spots, line.look)?;
        let axis = self.chart.axis_of(line);
        for (mark, (x, y)) in line.marks.iter().zip(spots) {
            if let Some((lower, upper)) = mark.interval {
                let (lower, upper) = (self.y(axis, lower), self.y(axis, upper));
                self.canvas.error_bar((x, lower), (x, upper), CAP_HALF, line.look.color)?;
            }
            self.canvas.mark((x, y), line.look, mark.hollow)?;
        }
        Ok(())
    }

    /// Labels of points, beyond the end of their bars. One that would touch its left neighbour, or a point or bar of another
    /// line, is left out.
    fn labels(&self, line: &Line) -> Drawn {
        const DISTANCE: f64 = 19.0;
        let mut free_from = self.left;
        for mark in &line.marks {
            let Some(text) = &mark.label else { continue };
            let (x, (top, bottom)) = self.reach(line, mark);
            let half = self.canvas.width_of(text, LABEL_SIZE) / 2.0;
            let below = line.labels_below && bottom + 2.0 * DISTANCE < BOTTOM;
            let y = if below { bottom + DISTANCE } else { top - DISTANCE };
            if x - half < free_from || self.touches_another(line, (x, y), half) {
                continue;
            }
            free_from = x + half + 6.0;
            self.canvas.text((x, y), text, Lettering::new(LABEL_SIZE, line.look.color))?;
        }
        Ok(())
    }

    /// True if a text of this half width would cover a point or bar of another line.
    fn touches_another(&self, line: &Line, (x, y): Spot, half: f64) -> bool {
        const CLEARANCE: f64 = LABEL_SIZE / 2.0 + 4.0;
        let others = self.chart.lines().filter(|other| *other != line);
        let mut reaches = others.flat_map(|other| other.marks.iter().map(|mark| self.reach(other, mark)));
        reaches.any(|(at, (top, bottom))| {
            (at - x).abs() < half + 4.0 && y + CLEARANCE > top && y - CLEARANCE < bottom
        })
    }
}

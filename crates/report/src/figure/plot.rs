//! Draws a figure: captions, and for each panel its legend, frame, axes, lines and labels, each in its place.

use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use plotters::style::text_anchor::HPos;

use super::canvas::{Canvas, Drawn, HEIGHT, Lettering, Sheet, Spot, WIDTH};
use super::chart::{Chart, Line, Mark, Panels, Side};
use super::legend;
use super::look::{FAINT, FRAME, GRID, INK, LIMIT, Look, Shape};
use super::scale::Scale;

const AXIS_SIZE: f64 = 18.0;
const TICK_SIZE: f64 = 17.0;
const LABEL_SIZE: f64 = 16.0;
const NOTE_SIZE: f64 = 15.0;
/// Room next to the frame for the ticks and the name of an axis.
const AXIS_ROOM: f64 = 118.0;
const BARE_SIDE_ROOM: f64 = 40.0;
const LEGEND_TOP: f64 = 88.0;
const BOTTOM: f64 = HEIGHT - 80.0;
/// The middle of the line of notes at the bottom.
const NOTES_AT: f64 = HEIGHT - 12.0;
/// The distance from the frame of one panel to the legend of the next.
const BETWEEN_PANELS: f64 = 30.0;
/// The distance from the sides of the frame to the first and last tick.
const SIDE_PAD: f64 = 46.0;

impl Sheet for Panels {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn {
        canvas.captions(&self.caption)?;
        let count = self.charts.len().max(1) as f64;
        let each = (BOTTOM - LEGEND_TOP - BETWEEN_PANELS * (count - 1.0)) / count;
        for (index, chart) in self.charts.iter().enumerate() {
            let top = LEGEND_TOP + index as f64 * (each + BETWEEN_PANELS);
            let (is_first, is_last) = (index == 0, index + 1 == self.charts.len());
            Plot::new(chart, canvas, (top, top + each), is_first, is_last).draw()?;
        }
        canvas.text((WIDTH / 2.0, NOTES_AT), &self.notes().join(" · "), Lettering::new(NOTE_SIZE, FAINT))
    }
}

/// A chart on a canvas, and where its frame is.
struct Plot<'a, DB: DrawingBackend> {
    chart: &'a Chart,
    canvas: &'a Canvas<'a, DB>,
    legend_top: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    /// True if the marked tick has its label.
    has_pointed_label: bool,
    /// True if the ticks have texts, and the axis its name.
    has_tick_texts: bool,
}

impl<'a, DB: DrawingBackend> Plot<'a, DB> {
    fn new(
        chart: &'a Chart,
        canvas: &'a Canvas<'a, DB>,
        (legend_top, bottom): (f64, f64),
        has_pointed_label: bool,
        has_tick_texts: bool,
    ) -> Self {
        let right_room = if chart.right.is_some() { AXIS_ROOM } else { BARE_SIDE_ROOM };
        let top = legend_top + legend::height(chart) + 6.0;
        Self {
            chart,
            canvas,
            legend_top,
            left: AXIS_ROOM,
            right: WIDTH - right_room,
            top,
            bottom,
            has_pointed_label,
            has_tick_texts,
        }
    }

    fn draw(&self) -> Drawn {
        legend::draw(self.chart, self.canvas, self.legend_top)?;
        self.value_axes()?;
        self.tick_axis()?;
        self.rules()?;
        self.pointed()?;
        if self.chart.lines().all(|line| line.marks.is_empty()) {
            let middle = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
            self.canvas.text(middle, "nothing was measured", Lettering::new(AXIS_SIZE, FAINT))?;
        }
        self.chart.lines().try_for_each(|line| self.line(line))?;
        self.chart.lines().try_for_each(|line| self.labels(line))
    }

    /// Returns the shortest distance between two ticks.
    fn shortest_gap(&self) -> f64 {
        let pairs = self.chart.ticks.values.windows(2);
        pairs.map(|pair| self.x(pair[1]) - self.x(pair[0])).fold(self.right - self.left, f64::min)
    }

    fn x(&self, tick: u32) -> f64 {
        self.left + SIDE_PAD + (self.right - self.left - 2.0 * SIDE_PAD) * self.chart.ticks.place(tick)
    }

    fn y(&self, axis: &Scale, value: f64) -> f64 {
        self.bottom - (self.bottom - self.top) * axis.height(value)
    }

    /// Draws a dashed line at each rule, with its text above the right end.
    fn rules(&self) -> Drawn {
        for rule in &self.chart.rules {
            let y = self.y(&self.chart.left, rule.value);
            let look = Look { color: LIMIT, shape: Shape::Circle, dashed: true };
            self.canvas.path(&[(self.left, y), (self.right, y)], look)?;
            let text = Lettering::new(LABEL_SIZE, LIMIT).anchored(HPos::Right);
            let above = y - 12.0 > self.top;
            self.canvas.text(
                (self.right - 8.0, if above { y - 12.0 } else { y + 14.0 }),
                &rule.label,
                text,
            )?;
        }
        Ok(())
    }

    fn pointed(&self) -> Drawn {
        let Some((tick, label)) = self.chart.pointed else { return Ok(()) };
        let x = self.x(tick);
        let look = Look { color: FAINT, shape: Shape::Circle, dashed: true };
        self.canvas.path(&[(x, self.bottom), (x, self.top)], look)?;
        if !self.has_pointed_label {
            return Ok(());
        }
        let text = Lettering::new(LABEL_SIZE, FAINT).anchored(HPos::Left);
        self.canvas.text((x + 7.0, self.bottom - 14.0), label, text)
    }

    /// Returns where a mark is. Lines are shifted a little against each other, so that their intervals do not overlap.
    fn spot(&self, line: &Line, mark: &Mark) -> Spot {
        const APART: f64 = 9.0;
        let count = self.chart.lines().count() as f64;
        let index = self.chart.lines().position(|other| other == line).unwrap_or(0) as f64;
        let shift = (index - (count - 1.0) / 2.0) * APART.min(self.shortest_gap() / (2.0 * count));
        (self.x(mark.tick) + shift, self.y(self.chart.axis_of(line), mark.value))
    }

    /// Returns where a mark is, and the highest and lowest pixel of the mark with its bar.
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
            .try_for_each(|x| self.canvas.line((x, self.bottom), (x, self.top), FRAME, 1.0))
    }

    fn value_axis(&self, axis: &Scale, side: Side) -> Drawn {
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
        self.canvas.text((x + NAME_DISTANCE * outward, (self.top + self.bottom) / 2.0), axis.label(), name)
    }

    /// Returns the colour of an axis: that of the first line that belongs to it.
    fn side_color(&self, side: Side) -> RGBColor {
        self.chart.lines().find(|line| line.side == side).map_or(INK, |line| line.look.color)
    }

    fn tick_axis(&self) -> Drawn {
        let bottom = self.bottom;
        self.canvas.line((self.left, bottom), (self.right, bottom), FRAME, 1.0)?;
        let mut free_from = 0.0;
        for tick in &self.chart.ticks.values {
            let x = self.x(*tick);
            self.canvas.line((x, bottom), (x, bottom + 6.0), FRAME, 1.0)?;
            let text = self.chart.ticks.text(*tick);
            let half = self.canvas.width_of(&text, TICK_SIZE) / 2.0;
            // A text that would touch the one before it is left out.
            if self.has_tick_texts && x - half >= free_from {
                self.canvas.text((x, bottom + 20.0), &text, Lettering::new(TICK_SIZE, INK))?;
                free_from = x + half + 8.0;
            }
        }
        if !self.has_tick_texts {
            return Ok(());
        }
        let middle = ((self.left + self.right) / 2.0, bottom + 46.0);
        self.canvas.text(middle, &self.chart.ticks.label, Lettering::new(AXIS_SIZE, INK))
    }

    fn line(&self, line: &Line) -> Drawn {
        const CAP_HALF: f64 = 9.0;
        if line.stepped {
            return self.steps(line);
        }
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

    /// Draws values that hold from one tick to the next, with a gap where a tick has none.
    fn steps(&self, line: &Line) -> Drawn {
        for marks in line.marks.chunk_by(|one, next| one.tick + 1 == next.tick) {
            let corners = marks.iter().flat_map(|mark| {
                let (x, y) = self.spot(line, mark);
                [(x, y), (x + self.x(mark.tick + 1) - self.x(mark.tick), y)]
            });
            self.canvas.path(&corners.collect::<Vec<Spot>>(), line.look)?;
        }
        Ok(())
    }

    /// Draws the labels of points, beyond the end of their bars. A label that would touch its left neighbour, or a point
    /// or bar of another line, is left out.
    fn labels(&self, line: &Line) -> Drawn {
        const DISTANCE: f64 = 19.0;
        let mut free_from = self.left;
        for mark in &line.marks {
            let Some(text) = &mark.label else { continue };
            let (x, (top, bottom)) = self.reach(line, mark);
            let half = self.canvas.width_of(text, LABEL_SIZE) / 2.0;
            let below = line.labels_below && bottom + 2.0 * DISTANCE < self.bottom;
            let y = if below { bottom + DISTANCE } else { top - DISTANCE };
            if x - half < free_from || self.touches_another(line, (x, y), half) || self.touches_rule(y) {
                continue;
            }
            free_from = x + half + 6.0;
            self.canvas.text((x, y), text, Lettering::new(LABEL_SIZE, line.look.color))?;
        }
        Ok(())
    }

    /// True if a text at this height would cover the line or the text of a rule.
    fn touches_rule(&self, y: f64) -> bool {
        const CLEARANCE: f64 = 1.6 * LABEL_SIZE;
        self.chart.rules.iter().any(|rule| (self.y(&self.chart.left, rule.value) - y).abs() < CLEARANCE)
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

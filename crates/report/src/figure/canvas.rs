//! The few strokes that figures are made of, on any backend, in pixels of a 1200 × 720 sheet.

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::FigureError;
use super::font::FAMILY;
use super::look::{Look, PAPER, Shape};

/// Width of the sheet.
pub(super) const WIDTH: f64 = 1200.0;
/// Height of the sheet.
pub(super) const HEIGHT: f64 = 720.0;

/// Length of a dash and of the gap after it.
const DASH: f64 = 9.0;
const DASH_GAP: f64 = 6.0;
/// Half the extent of a mark.
const MARK_RADIUS: f64 = 6.0;

/// A place on the sheet: x to the right, y down.
pub(super) type Spot = (f64, f64);

/// How a text stands at its spot.
#[derive(Clone, Copy)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) color: RGBColor,
    pub(super) anchor: HPos,
    /// Turned to read upwards.
    pub(super) upright: bool,
}

impl Lettering {
    /// Centred text.
    pub(super) const fn new(size: f64, color: RGBColor) -> Self {
        Self { size, color, anchor: HPos::Center, upright: false }
    }

    /// The same with its left or right end at the spot.
    pub(super) const fn anchored(self, anchor: HPos) -> Self {
        Self { anchor, ..self }
    }
}

/// A sheet to draw on.
pub(super) struct Canvas<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    /// Pixels of the backend for one of the sheet.
    scale: f64,
    /// How far letters must be moved down to stand centred, as a part of their size. The backends differ.
    letter_drop: f64,
}

/// Something that is drawn on a whole sheet.
pub(super) trait Sheet {
    /// Draws all of it.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), FigureError>;
}

/// The sheet as an SVG document.
pub(super) fn svg(chart: &impl Sheet) -> Result<String, FigureError> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
        draw(chart, &area, 1.0, 0.0)?;
    }
    Ok(text)
}

/// Draws the sheet on a backend `scale` times as large as the sheet.
pub(super) fn draw<DB: DrawingBackend>(
    chart: &impl Sheet,
    area: &DrawingArea<DB, Shift>,
    scale: f64,
    letter_drop: f64,
) -> Result<(), FigureError> {
    area.fill(&PAPER).map_err(refused)?;
    chart.draw(&Canvas { area, scale, letter_drop })?;
    area.present().map_err(refused)
}

fn refused(error: impl std::fmt::Display) -> FigureError {
    FigureError::Draw(error.to_string())
}

impl<DB: DrawingBackend> Canvas<'_, DB> {
    fn pixel(&self, spot: Spot) -> (i32, i32) {
        ((spot.0 * self.scale).round() as i32, (spot.1 * self.scale).round() as i32)
    }

    fn stroke(&self, color: RGBColor, width: f64) -> ShapeStyle {
        color.stroke_width((width * self.scale).round().max(1.0) as u32)
    }

    /// A straight line.
    pub(super) fn line(&self, from: Spot, to: Spot, color: RGBColor, width: f64) -> Result<(), FigureError> {
        let ends = vec![self.pixel(from), self.pixel(to)];
        self.area.draw(&PathElement::new(ends, self.stroke(color, width))).map_err(refused)
    }

    /// A line through all spots in the given look.
    pub(super) fn path(&self, spots: &[Spot], look: Look) -> Result<(), FigureError> {
        const WIDTH_PX: f64 = 2.0;
        let pieces = if look.dashed { dashes(spots) } else { pairs(spots).collect() };
        pieces.into_iter().try_for_each(|(from, to)| self.line(from, to, look.color, WIDTH_PX))
    }

    /// A filled box.
    pub(super) fn fill(&self, from: Spot, to: Spot, color: RGBColor) -> Result<(), FigureError> {
        let corners = [self.pixel(from), self.pixel(to)];
        self.area.draw(&Rectangle::new(corners, color.filled())).map_err(refused)
    }

    /// A mark of the look's shape; a hollow one has the paper inside.
    pub(super) fn mark(&self, spot: Spot, look: Look, hollow: bool) -> Result<(), FigureError> {
        self.shape(spot, MARK_RADIUS, look.shape, look.color)?;
        if hollow {
            self.shape(spot, MARK_RADIUS - 2.5, look.shape, PAPER)?;
        }
        Ok(())
    }

    fn shape(&self, (x, y): Spot, radius: f64, shape: Shape, color: RGBColor) -> Result<(), FigureError> {
        let corner = |dx: f64, dy: f64| (x + dx * radius, y + dy * radius);
        match shape {
            Shape::Circle => {
                let radius = (radius * self.scale).round() as i32;
                self.area.draw(&Circle::new(self.pixel((x, y)), radius, color.filled())).map_err(refused)
            }
            Shape::Square => self.fill(corner(-0.88, -0.88), corner(0.88, 0.88), color),
            Shape::Triangle => {
                self.polygon(&[corner(0.0, -1.15), corner(1.1, 0.85), corner(-1.1, 0.85)], color)
            }
            Shape::Diamond => {
                let spots = [corner(0.0, -1.25), corner(1.25, 0.0), corner(0.0, 1.25), corner(-1.25, 0.0)];
                self.polygon(&spots, color)
            }
        }
    }

    fn polygon(&self, spots: &[Spot], color: RGBColor) -> Result<(), FigureError> {
        let corners: Vec<_> = spots.iter().map(|spot| self.pixel(*spot)).collect();
        self.area.draw(&Polygon::new(corners, color.filled())).map_err(refused)
    }

    fn style(&self, lettering: Lettering) -> TextStyle<'static> {
        let font = (FAMILY, lettering.size * self.scale).into_font();
        let transform = if lettering.upright { FontTransform::Rotate270 } else { FontTransform::None };
        let pos = Pos::new(lettering.anchor, VPos::Center);
        let style = TextStyle::from(font.transform(transform)).pos(pos);
        TextStyle { color: lettering.color.to_backend_color(), ..style }
    }

    /// A line of text, centred in height on its spot.
    pub(super) fn text(&self, spot: Spot, text: &str, lettering: Lettering) -> Result<(), FigureError> {
        let drop = lettering.size * self.letter_drop;
        let spot = if lettering.upright { (spot.0 + drop, spot.1) } else { (spot.0, spot.1 + drop) };
        let element = Text::new(text.to_owned(), self.pixel(spot), self.style(lettering));
        self.area.draw(&element).map_err(refused)
    }

    /// How wide a text of this size is, in pixels of the sheet.
    pub(super) fn width_of(&self, text: &str, size: f64) -> f64 {
        let style = self.style(Lettering::new(size, PAPER));
        self.area.estimate_text_size(text, &style).map_or(0.0, |(width, _)| f64::from(width) / self.scale)
    }

    /// The text, cut with an ellipsis where it is wider than `width`.
    pub(super) fn fitted(&self, text: &str, size: f64, width: f64) -> String {
        if self.width_of(text, size) <= width {
            return text.to_owned();
        }
        let mut kept: Vec<char> = text.chars().collect();
        while !kept.is_empty() && self.width_of(&format!("{}…", String::from_iter(&kept)), size) > width {
            kept.pop();
        }
        format!("{}…", String::from_iter(kept))
    }
}

fn pairs(spots: &[Spot]) -> impl Iterator<Item = (Spot, Spot)> {
    spots.windows(2).map(|pair| (pair[0], pair[1]))
}

/// The dashes along a line through all spots. Each leg begins with a dash, so no leg vanishes.
fn dashes(spots: &[Spot]) -> Vec<(Spot, Spot)> {
    let mut pieces = Vec::new();
    for (from, to) in pairs(spots) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |along: f64| {
            let part = if length > 0.0 { (along / length).min(1.0) } else { 0.0 };
            (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
        };
        let count = (length / (DASH + DASH_GAP)).ceil() as u32;
        let starts = (0..count).map(|n| f64::from(n) * (DASH + DASH_GAP));
        pieces.extend(starts.map(|start| (at(start), at(start + DASH))));
    }
    pieces
}

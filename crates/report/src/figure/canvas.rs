//! The shapes that figures consist of, on any backend, in pixels of a 1200 × 720 sheet.

use std::sync::OnceLock;

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingBackend, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle, register_font as register,
};

use super::look::{FAINT, INK, Look, PAPER, Shape};

pub(super) const WIDTH: f64 = 1200.0;
pub(super) const HEIGHT: f64 = 720.0;

/// The font that SVG readers are asked for; in a PNG the same name means the embedded font.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
/// A subset of DejaVu Sans: Latin, Greek and punctuation. Its licence is in the same folder.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// Length of a dash and of the gap after it.
const DASH: f64 = 9.0;
const DASH_GAP: f64 = 6.0;
/// Half the extent of a mark.
const MARK_RADIUS: f64 = 6.0;

/// The text above a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caption {
    /// What was measured, such as the URL.
    pub title: String,
    /// How it was measured.
    pub detail: String,
}

/// One figure in both forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    pub svg: String,
    /// 1200 × 720 pixels.
    pub png: Vec<u8>,
}

/// A figure that could not be drawn.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    #[error("the embedded font cannot be read; this build of plimsoll is damaged, install it again")]
    Font,
    #[error("the figure cannot be drawn: {0}")]
    Draw(String),
    #[error("the figure cannot be encoded as PNG: {0}")]
    Encode(#[from] png::EncodingError),
}

/// The result of a drawing step.
pub(super) type Drawn = Result<(), FigureError>;

/// Registers the embedded font with the drawing library, once per process: figures look the same on a machine without fonts.
pub(super) fn register_font() -> Drawn {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = REGISTERED.get_or_init(|| register(FAMILY, FontStyle::Normal, FONT).is_ok());
    if *registered { Ok(()) } else { Err(FigureError::Font) }
}

/// A place on the sheet: x to the right, y down.
pub(super) type Spot = (f64, f64);

/// How a text is placed at its spot.
#[derive(Clone, Copy)]
pub(super) struct Lettering {
    pub(super) size: f64,
    pub(super) color: RGBColor,
    pub(super) anchor: HPos,
    /// Rotated to read upwards.
    pub(super) upright: bool,
}

impl Lettering {
    /// Centred text.
    pub(super) const fn new(size: f64, color: RGBColor) -> Self {
        Self { size, color, anchor: HPos::Center, upright: false }
    }

    /// Places the left or right end of the text at the spot.
    pub(super) const fn anchored(self, anchor: HPos) -> Self {
        Self { anchor, ..self }
    }
}

/// A sheet to draw on.
pub(super) struct Canvas<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    /// Pixels of the backend for one pixel of the sheet.
    scale: f64,
    /// How far letters must be moved down to be centred, as a part of their size. The backends differ.
    letter_drop: f64,
}

/// Something that is drawn on a whole sheet.
pub(super) trait Sheet {
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Drawn;
}

/// Draws the sheet on a backend `scale` times as large as the sheet.
pub(super) fn draw(chart: &impl Sheet, backend: impl DrawingBackend, scale: f64, letter_drop: f64) -> Drawn {
    let area = &backend.into_drawing_area();
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

    pub(super) fn line(&self, from: Spot, to: Spot, color: RGBColor, width: f64) -> Drawn {
        let ends = vec![self.pixel(from), self.pixel(to)];
        self.area.draw(&PathElement::new(ends, self.stroke(color, width))).map_err(refused)
    }

    /// A horizontal or vertical bar with a cap at each end; `half` is half the length of a cap.
    pub(super) fn error_bar(&self, from: Spot, to: Spot, half: f64, color: RGBColor) -> Drawn {
        const WIDTH_PX: f64 = 1.5;
        let (dx, dy) = if from.0 == to.0 { (half, 0.0) } else { (0.0, half) };
        self.line(from, to, color, WIDTH_PX)?;
        [from, to]
            .into_iter()
            .try_for_each(|(x, y)| self.line((x - dx, y - dy), (x + dx, y + dy), color, WIDTH_PX))
    }

    /// The title of the sheet and a line of details below it, cut to its width.
    pub(super) fn captions(&self, Caption { title, detail }: &Caption) -> Drawn {
        const MARGIN: f64 = 40.0;
        let line = |y, text: &str, size, color| {
            let text = self.fitted(text, size, WIDTH - 2.0 * MARGIN);
            self.text((WIDTH / 2.0, y), &text, Lettering::new(size, color))
        };
        line(30.0, title, 25.0, INK)?;
        line(62.0, detail, 17.0, FAINT)
    }

    /// A line through all spots in the given look.
    pub(super) fn path(&self, spots: &[Spot], look: Look) -> Drawn {
        const WIDTH_PX: f64 = 2.0;
        let pieces = if look.dashed { dashes(spots) } else { pairs(spots).collect() };
        pieces.into_iter().try_for_each(|(from, to)| self.line(from, to, look.color, WIDTH_PX))
    }

    pub(super) fn fill(&self, from: Spot, to: Spot, color: RGBColor) -> Drawn {
        let corners = [self.pixel(from), self.pixel(to)];
        self.area.draw(&Rectangle::new(corners, color.filled())).map_err(refused)
    }

    /// A mark of the look's shape, filled or hollow.
    pub(super) fn mark(&self, spot: Spot, look: Look, hollow: bool) -> Drawn {
        self.shape(spot, MARK_RADIUS, look.shape, look.color)?;
        if hollow {
            self.shape(spot, MARK_RADIUS - 2.5, look.shape, PAPER)?;
        }
        Ok(())
    }

    fn shape(&self, (x, y): Spot, radius: f64, shape: Shape, color: RGBColor) -> Drawn {
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

    fn polygon(&self, spots: &[Spot], color: RGBColor) -> Drawn {
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
    pub(super) fn text(&self, spot: Spot, text: &str, lettering: Lettering) -> Drawn {
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

/// The dashes along a line through all spots. Each leg starts with a dash, so that no leg is invisible.
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

fn pairs(spots: &[Spot]) -> impl Iterator<Item = (Spot, Spot)> {
    spots.windows(2).map(|pair| (pair[0], pair[1]))
}

//! Colours and marks. Lines differ in mark and dash as well as in colour, so that figures can be read without colour.

use plotters::style::RGBColor;

pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const FAINT: RGBColor = RGBColor(96, 96, 96);
pub(super) const GRID: RGBColor = RGBColor(228, 228, 228);
pub(super) const FRAME: RGBColor = RGBColor(150, 150, 150);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
/// The limit of a condition.
pub(super) const LIMIT: RGBColor = RGBColor(190, 90, 0);
/// Throughput, red as in the figures of wrk scripts.
pub(super) const RED: RGBColor = RGBColor(200, 16, 16);
/// Response time, blue as in those figures.
pub(super) const BLUE: RGBColor = RGBColor(16, 48, 190);
const RED_DARK: RGBColor = RGBColor(139, 0, 0);
const BLUE_DARK: RGBColor = RGBColor(0, 0, 139);
const RED_LIGHT: RGBColor = RGBColor(240, 120, 110);
const BLUE_LIGHT: RGBColor = RGBColor(100, 155, 240);
const GREEN: RGBColor = RGBColor(0, 110, 70);
const GREEN_DARK: RGBColor = RGBColor(0, 80, 50);
const GREEN_LIGHT: RGBColor = RGBColor(70, 175, 120);

/// The shape that marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// How one line and its points are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) color: RGBColor,
    pub(super) shape: Shape,
    pub(super) dashed: bool,
}

/// Colours of different brightness, for lines of one kind.
const COLORS: [RGBColor; 4] = [BLUE_DARK, RED, GREEN, BLUE_LIGHT];
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

impl Look {
    /// The look of one of several lines of one kind. Eight are distinct: four solid, four dashed.
    pub(super) fn new(index: usize) -> Self {
        let place = index % COLORS.len();
        let dashed = !(index / COLORS.len()).is_multiple_of(2);
        Self { color: COLORS[place], shape: SHAPES[place], dashed }
    }
}

/// Whether a run is alone in its figure, or the first or second of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Alone,
    First,
    Second,
}

impl Place {
    /// The places of `count` runs in one figure.
    pub(super) fn new(index: usize, count: usize) -> Self {
        match (index, count) {
            (_, 1) => Self::Alone,
            (0, _) => Self::First,
            _ => Self::Second,
        }
    }

    fn look(self, colors: [RGBColor; 3], shapes: [Shape; 3], dashed: bool) -> Look {
        Look { color: colors[self as usize], shape: shapes[self as usize], dashed }
    }

    /// Throughput: red, solid.
    pub(super) fn throughput(self) -> Look {
        self.look([RED, RED_DARK, RED_LIGHT], [Shape::Circle, Shape::Circle, Shape::Triangle], false)
    }

    /// Mean response time: blue, dashed.
    pub(super) fn response_time(self) -> Look {
        self.look([BLUE, BLUE_DARK, BLUE_LIGHT], [Shape::Square, Shape::Square, Shape::Diamond], true)
    }

    /// A percentile of latency: the median dashed, a high one solid.
    pub(super) fn percentile(self, is_high: bool) -> Look {
        let (colors, shapes) = if is_high {
            ([BLUE, BLUE_DARK, BLUE_LIGHT], [Shape::Triangle, Shape::Square, Shape::Diamond])
        } else {
            ([BLUE_LIGHT, BLUE_DARK, BLUE_LIGHT], [Shape::Square, Shape::Square, Shape::Diamond])
        };
        self.look(colors, shapes, !is_high)
    }

    /// Success ratio: green; the second of two is dashed.
    pub(super) fn success(self) -> Look {
        let colors = [GREEN, GREEN_DARK, GREEN_LIGHT];
        self.look(colors, [Shape::Circle, Shape::Circle, Shape::Triangle], self == Self::Second)
    }
}

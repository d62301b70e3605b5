//! A flame graph: each box is a function, as wide as its CPU time, on top of who called it.
//!
//! It is written as text and not through the canvas of the other figures: its boxes carry titles, which a browser shows
//! when they are pointed at, and its height follows from the depth of the stacks.

use std::fmt::Write as _;

use plimsoll_profile::{Flame, PerRequest, flame as tree};
use plimsoll_units::{escape_control, significant};
use plotters::style::RGBColor;

use super::canvas::WIDTH;
use super::font::FAMILY;
use super::look::{FAINT, INK, PAPER};
use crate::profiled::ProfiledRun;

const MARGIN: f64 = 12.0;
const TITLE_SIZE: f64 = 17.0;
const DETAIL_SIZE: f64 = 12.0;
/// Where the boxes begin, below the title.
const TOP: f64 = 62.0;
const ROW: f64 = 18.0;
const LETTER_SIZE: f64 = 11.0;
/// The mean width of a letter, as a part of its size: a little too much rather than too little.
const LETTER_WIDTH: f64 = 0.62;
/// A box narrower than this is not to be seen.
const NARROWEST: f64 = 0.4;
/// A name of fewer letters says nothing.
const LETTERS_LEAST: usize = 3;

/// Light enough for ink to be read on them. A package has one of them, so that what belongs together looks it.
const FILLS: [RGBColor; 6] = [
    RGBColor(247, 190, 178),
    RGBColor(250, 212, 160),
    RGBColor(244, 230, 160),
    RGBColor(200, 226, 190),
    RGBColor(184, 212, 240),
    RGBColor(220, 205, 235),
];

/// The flame graph of a profile, as an SVG document. The outermost functions are at the bottom.
pub fn flame(profiled: &ProfiledRun) -> String {
    let mut root = tree(&profiled.stacks);
    root.name = "all".to_owned();
    let rows = visible_rows(&root, WIDTH - 2.0 * MARGIN);
    let height = TOP + rows as f64 * ROW + MARGIN;
    let mut sheet = Sheet {
        text: String::new(),
        floor: height - MARGIN,
        all: profiled.per_request(),
        total: root.cost.cpu_ns,
    };
    sheet.opening(height, profiled);
    sheet.branch(&root, (MARGIN, WIDTH - 2.0 * MARGIN), 0);
    sheet.text.push_str("</svg>\n");
    sheet.text
}

/// How many rows have a box that is wide enough to be seen.
fn visible_rows(flame: &Flame, width: f64) -> usize {
    let share = |call: &Flame| width * call.cost.cpu_ns as f64 / flame.cost.cpu_ns.max(1) as f64;
    let above = flame.calls.iter().filter(|call| share(call) >= NARROWEST);
    1 + above.map(|call| visible_rows(call, share(call))).max().unwrap_or(0)
}

/// The document as far as it is written.
struct Sheet<'a> {
    text: String,
    /// Where the lowest row ends.
    floor: f64,
    all: PerRequest<'a>,
    total: u64,
}

impl Sheet<'_> {
    fn opening(&mut self, height: f64, profiled: &ProfiledRun) {
        let title = format!("CPU profile of {}", escape_control(&profiled.source));
        let detail = format!(
            "{} requests/s · {} µs of CPU a request · a box is as wide as the CPU time of its function with all it called",
            plimsoll_units::count_text(profiled.step.throughput.value),
            significant(self.all.total().value),
        );
        self.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
             font-family=\"{FAMILY}\">\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"{}\"/>\n",
            color(PAPER)
        ));
        for (text, y, size, ink) in [(title, 26.0, TITLE_SIZE, INK), (detail, 46.0, DETAIL_SIZE, FAINT)] {
            let text = escaped(&cut(&text, size, WIDTH - 2.0 * MARGIN));
            self.push(format_args!(
                "<text x=\"{}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"{}\">{text}</text>\n",
                WIDTH / 2.0,
                color(ink)
            ));
        }
    }

    /// A function and what it called, from x on.
    fn branch(&mut self, flame: &Flame, (x, width): (f64, f64), row: usize) {
        self.frame(flame, (x, width), self.floor - (row as f64 + 1.0) * ROW);
        let mut from = x;
        for call in &flame.calls {
            let share = width * call.cost.cpu_ns as f64 / flame.cost.cpu_ns.max(1) as f64;
            if share >= NARROWEST {
                self.branch(call, (from, share), row + 1);
            }
            from += share;
        }
    }

    fn frame(&mut self, flame: &Flame, (x, width): (f64, f64), y: f64) {
        let name = escape_control(&flame.name);
        let share = 100.0 * flame.cost.cpu_ns as f64 / self.total.max(1) as f64;
        let micros = significant(self.all.micros(flame.cost).value);
        let samples = flame.cost.samples;
        self.push(format_args!(
            "<g><title>{}: {share:.1} %, {micros} µs a request, {samples} samples</title>\
             <rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"0.5\"/>",
            escaped(&name),
            ROW - 1.0,
            color(fill(&name)),
            color(PAPER)
        ));
        let label = cut(&name, LETTER_SIZE, width - 6.0);
        if !label.is_empty() {
            self.push(format_args!(
                "<text x=\"{:.2}\" y=\"{:.1}\" font-size=\"{LETTER_SIZE}\" fill=\"{}\">{}</text>",
                x + 3.0,
                y + ROW - 6.0,
                color(INK),
                escaped(&label)
            ));
        }
        self.text.push_str("</g>\n");
    }

    fn push(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing into a String does not fail.
        self.text.write_fmt(part).ok();
    }
}

fn color(color: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", color.0, color.1, color.2)
}

/// The colour of the package that a function belongs to.
fn fill(name: &str) -> RGBColor {
    let sum =
        package(name).bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    FILLS[sum % FILLS.len()]
}

/// `net/http` of `net/http.(*conn).serve`, `tokio` of `tokio::runtime::park`.
fn package(name: &str) -> &str {
    if let Some((outermost, _)) = name.split_once("::") {
        return outermost;
    }
    let from = name.rfind('/').map_or(0, |at| at + 1);
    let dot = name[from..].find('.').map_or(name.len(), |at| from + at);
    &name[..dot]
}

/// As much of a text as fits; empty if that is next to nothing.
fn cut(text: &str, size: f64, width: f64) -> String {
    let fits = (width / (size * LETTER_WIDTH)).max(0.0) as usize;
    if text.chars().count() <= fits {
        return text.to_owned();
    }
    if fits <= LETTERS_LEAST {
        return String::new();
    }
    text.chars().take(fits - 1).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_one_package_have_one_colour() {
        assert_eq!(package("net/http.(*conn).serve"), "net/http");
        assert_eq!(package("github.com/gin-gonic/gin.(*Engine).ServeHTTP"), "github.com/gin-gonic/gin");
        assert_eq!(package("hyper::proto::h1"), "hyper");
        assert_eq!(package("do_syscall_64"), "do_syscall_64");
    }

    #[test]
    fn a_name_is_cut_where_its_box_ends() {
        assert_eq!(cut("serve", 10.0, 100.0), "serve");
        assert_eq!(cut("serveHTTP", 10.0, 40.0), "serve…");
        assert_eq!(cut("serveHTTP", 10.0, 15.0), "");
    }
}

//! A flame graph: each box is a function, as wide as its CPU time, on top of its caller. The SVG contains the script with
//! which a browser zooms and searches; it loads nothing from a network.

use inferno::flamegraph::color::BackgroundColor;
use inferno::flamegraph::{Options, TextTruncateDirection, from_lines};
use plimsoll_units::{count_text, escape_control, significant};

use super::canvas::{FigureError, WIDTH};
use crate::profiled::ProfiledRun;

/// Draws the flame graph of a profile, as an SVG document. The outermost functions are at the bottom.
///
/// # Errors
/// When the profile holds no CPU time.
pub fn flame(profiled: &ProfiledRun) -> Result<String, FigureError> {
    let per_request = profiled.per_request();
    let mut options = Options::default();
    options.title = format!("CPU profile of {}", escape_control(&profiled.source));
    options.subtitle = Some(format!(
        "{} requests/s · {} µs of CPU per request",
        count_text(profiled.step.throughput.value),
        significant(per_request.total().value),
    ));
    options.count_name = "ns of CPU per request".to_owned();
    options.factor = 1.0 / per_request.requests;
    options.image_width = Some(WIDTH as usize);
    options.bgcolors = Some(BackgroundColor::Flat((255, 255, 255).into()));
    // Names differ more at their ends than at their beginnings, which are modules.
    options.text_truncate_direction = TextTruncateDirection::Left;
    // The colour follows from the name, so that the same profile gives the same bytes.
    options.hash = true;
    let folded: Vec<String> =
        profiled.stacks.iter().map(|(stack, cost)| folded(&stack, cost.cpu_ns)).collect();
    let mut svg = Vec::new();
    let drawn = from_lines(&mut options, folded.iter().map(String::as_str), &mut svg);
    drawn.map_err(|error| FigureError::Draw(error.to_string()))?;
    String::from_utf8(svg).map_err(|error| FigureError::Draw(error.to_string()))
}

/// A stack in the format that flame graphs are made from: `main;serve;write 1200`.
fn folded(stack: &[&str], cpu_ns: u64) -> String {
    let names: Vec<String> = stack.iter().map(|name| escape_control(name).replace(';', ":")).collect();
    let names = names.join(";");
    let names = names.trim_end();
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    match names.rsplit_once(' ') {
        // Two numbers at the end would be read as two profiles to compare.
        Some((before, last)) if is_number(last) => format!("{before}\u{a0}{last} {cpu_ns}"),
        _ => format!("{names} {cpu_ns}"),
    }
}

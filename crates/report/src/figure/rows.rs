//! Throughput of several runs: by the machines of a tier, by the size of responses with several numbers of cores, and by the
//! time that requests are held, through a front and alone.

use plimsoll_analyze::{Estimate, HeldLines, LinePoint, SizeLine, TierScaling};
use plimsoll_units::{count_text, escape_control};

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Side, Spacing, Ticks, highest};
use super::look::{FAINT, Look, Place, Shape};
use super::raster::figure;
use super::scale::Scale;
use crate::amount::ratio_bound;
use crate::words::machines::tier_counts;

/// Up to this many machines, every number has a place on the axis, so that the ideal line is straight.
const MAX_MARKED: u32 = 40;
/// The height of a label, as a part of the axis.
const LABEL_HEIGHT: f64 = 0.06;
/// The number of lines that share one row of the legend.
const LEGEND_LINES: usize = 4;

/// Throughput over the machines of a tier, with the line of linear growth.
pub fn tier_scaling(title: &str, scaling: &TierScaling) -> Result<Figure, FigureError> {
    let counts: Vec<u32> = scaling.points.iter().map(|(machines, ..)| *machines).collect();
    let (least, most) = (counts.first().copied().unwrap_or(1), counts.last().copied().unwrap_or(1));
    let ticks = if most <= MAX_MARKED { (least..=most).collect() } else { counts };
    let is_base_bound = scaling.points.first().is_some_and(|(.., lower_bound)| *lower_bound);
    let measured = scaling.points.iter().map(|(machines, throughput, lower_bound)| {
        let each = 100.0 * throughput.value / scaling.ideal_per_sec(*machines);
        let each = match *machines == least {
            true => "100 %".to_owned(),
            false if is_base_bound && *lower_bound => "?".to_owned(),
            false => format!("{}{each:.0} %", ratio_bound(*lower_bound, is_base_bound)),
        };
        let label = Some(format!("{} ({each})", count_text(throughput.value)));
        Mark { hollow: *lower_bound, label, ..Mark::new(*machines, *throughput) }
    });
    let ideal = ticks.iter().map(|machines| {
        let value = scaling.ideal_per_sec(*machines);
        Mark::new(*machines, Estimate { value, interval: None })
    });
    let look = Look { color: FAINT, shape: Shape::Diamond, dashed: true };
    let legend = "measured (per cent of linear)".to_owned();
    let measured = Line { labels_below: true, ..Line::new(legend, Place::Alone.throughput(), measured) };
    let lines = vec![measured, Line::new("linear from the fewest machines".to_owned(), look, ideal)];
    let detail = match tier_counts(&scaling.others) {
        none if none.is_empty() => none,
        others => format!("with {others}"),
    };
    let caption = Caption { title: format!("Scaling of {}: {title}", scaling.tier), detail };
    throughput(caption, Ticks::new("machines", Spacing::Linear, ticks), vec![lines])
}

/// Throughput over the size of responses, a line for each number of cores.
pub fn response_sizes(title: &str, lines: &[SizeLine]) -> Result<Figure, FigureError> {
    let one = |(index, line): (usize, &SizeLine)| {
        let group = line.group.as_ref().map(|group| format!("{}, ", escape_control(group)));
        let plural = if line.cores == 1.0 { "" } else { "s" };
        let legend = format!("{}{} core{plural}", group.unwrap_or_default(), line.cores);
        line_over(1.0, legend, Look::new(index), &line.points)
    };
    let title = format!("Throughput by size of response: {title}");
    let lines = lines.iter().enumerate().map(one).collect();
    over_places(Caption { title, detail: String::new() }, ("bytes of a response", Spacing::Log), lines)
}

/// Throughput over the time that requests are held: through a front, and as the sum of the servers behind it measured alone.
pub fn held_times(title: &str, lines: &HeldLines) -> Result<Figure, FigureError> {
    // The places along the axis are whole numbers.
    let is_whole = |point: &LinePoint| (point.at * 1e3 - (point.at * 1e3).round()).abs() < 1e-6;
    let (scale, label) = match lines.through.iter().all(is_whole) {
        true => (1e3, "time that requests are held (ms)"),
        false => (1e6, "time that requests are held (µs)"),
    };
    let through = lines.front.as_ref().map(|front| format!("through {}", escape_control(front)));
    let through = through.unwrap_or_else(|| "together".to_owned());
    let dashed = Look { dashed: true, ..Look::new(1) };
    let detail = "the sum of the servers measured alone, and their throughput together".to_owned();
    let lines = vec![
        line_over(scale, through, Place::Alone.throughput(), &lines.through),
        line_over(scale, "sum of each alone".to_owned(), dashed, &lines.alone),
    ];
    over_places(
        Caption { title: format!("Throughput by time held: {title}"), detail },
        (label, Spacing::Linear),
        lines,
    )
}

/// Returns a line whose places along the axis are multiplied by `scale` and rounded.
fn line_over(scale: f64, legend: String, look: Look, points: &[LinePoint]) -> Line {
    let marks = points.iter().map(|point| {
        let label = Some(count_text(point.throughput.value));
        let place = (point.at * scale).round() as u32;
        Mark { hollow: point.lower_bound, label, ..Mark::new(place, point.throughput) }
    });
    Line::new(legend, look, marks)
}

fn over_places(
    caption: Caption,
    (label, spacing): (&'static str, Spacing),
    mut lines: Vec<Line>,
) -> Result<Figure, FigureError> {
    unlabel_twice(&mut lines);
    let places: Vec<u32> = lines.iter().flat_map(|line| &line.marks).map(|mark| mark.tick).collect();
    throughput(
        caption,
        Ticks::new(label, spacing, places),
        lines.chunks(LEGEND_LINES).map(<[Line]>::to_vec).collect(),
    )
}

fn throughput(caption: Caption, ticks: Ticks, runs: Vec<Vec<Line>>) -> Result<Figure, FigureError> {
    let left = Scale::Linear(Axis::from_zero("QPS", highest(&runs, Side::Left)));
    figure(&Panels { caption, charts: vec![Chart::new(ticks, left, runs)] })
}

/// Removes labels that would cover the label of an earlier line.
fn unlabel_twice(lines: &mut [Line]) {
    let top = lines.iter().flat_map(|line| &line.marks).map(|mark| mark.value).fold(0.0, f64::max);
    let mut taken: Vec<(u32, f64)> = Vec::new();
    for mark in lines.iter_mut().flat_map(|line| &mut line.marks) {
        let near = |(place, value): &(u32, f64)| {
            *place == mark.tick && (value - mark.value).abs() < LABEL_HEIGHT * top
        };
        if taken.iter().any(near) {
            mark.label = None;
        } else {
            taken.push((mark.tick, mark.value));
        }
    }
}

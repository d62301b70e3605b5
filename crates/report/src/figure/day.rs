//! The rate of a day and the machines of each hour.

use plimsoll_analyze::{DayPlan, Estimate, HourPlan};
use plimsoll_units::escape_control;

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Side, Spacing, Ticks, highest};
use super::look::{Look, Place};
use super::raster::figure;
use super::scale::Scale;

/// The number of tiers that share one row of the legend.
const LEGEND_TIERS: usize = 4;
const HOURS_OF_A_DAY: i64 = 24;

/// Draws the highest rate of each hour in one panel, the machines of each tier in the other, both as steps.
///
/// # Errors
/// As for every figure.
pub fn day(title: &str, day: &DayPlan) -> Result<Figure, FigureError> {
    let first = day.hours.first().map_or(0, |hour| hour.hour);
    let is_clock = day.hours.iter().all(|hour| (0..HOURS_OF_A_DAY).contains(&hour.hour));
    let tick = |hour: &HourPlan| (hour.hour - if is_clock { 0 } else { first }) as u32;
    let label = match day.hours.first() {
        Some(first) if !is_clock => format!("hours since {}", escape_control(&first.label)),
        _ => "hour of the day".to_owned(),
    };
    let ticks = day.hours.iter().flat_map(|hour| [tick(hour), tick(hour) + 1]);
    let ticks = Ticks::new(label, Spacing::Linear, ticks);
    let rate = day.hours.iter().map(|hour| Mark::new(tick(hour), Estimate::exact(hour.peak_per_sec)));
    let rate = vec![vec![stepped("highest rate of the hour".to_owned(), Place::Alone.throughput(), rate)]];
    let tiers = day.tiers.iter().enumerate().map(|(index, tier)| {
        let count = |hour: &HourPlan| {
            Some(Mark::new(tick(hour), Estimate::exact(hour.machines[index]?.count as f64)))
        };
        // Lines of tiers with equally many machines cover each other, so every second one is dashed.
        let look = Look { dashed: index % 2 == 1, ..Look::new(index) };
        stepped(escape_control(&tier.tier), look, day.hours.iter().filter_map(count))
    });
    let tiers: Vec<Line> = tiers.collect();
    let tiers: Vec<Vec<Line>> = tiers.chunks(LEGEND_TIERS).map(<[Line]>::to_vec).collect();
    let caption = Caption { title: format!("Machines by hour: {title}"), detail: String::new() };
    figure(&Panels {
        caption,
        charts: vec![chart(&ticks, "requests/s", rate), chart(&ticks, "machines", tiers)],
    })
}

fn chart(ticks: &Ticks, label: &str, runs: Vec<Vec<Line>>) -> Chart {
    let axis = Axis::from_zero(label, highest(&runs, Side::Left));
    Chart::new(ticks.clone(), Scale::Linear(axis), runs)
}

fn stepped(legend: String, look: Look, marks: impl Iterator<Item = Mark>) -> Line {
    Line { stepped: true, ..Line::new(legend, look, marks) }
}

//! Overloads as figures: goodput over the offered load, and over time.

use plimsoll_analyze::{Estimate, Onset, Overload, OverloadMoment, OverloadStep};
use plimsoll_units::{count_text, escape_control};

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Mark, Panels, Rule, Side, Spacing, Ticks, highest};
use super::look::{FAINT, Look, Place, Shape};
use super::raster::figure;
use super::scale::Scale;
use crate::words;

/// Draws goodput over the offered load, of jumps and of the ramp, with the line of a service that keeps up.
///
/// # Errors
/// As for every figure.
pub fn overload(url: &str, overload: &Overload) -> Result<Figure, FigureError> {
    let (scale, unit) = offered_unit(overload);
    let mark = |rate_per_sec: f64, goodput| mark(rate_per_sec * scale, goodput);
    let reference = overload.reference.iter().map(|phase| mark(phase.offered_per_sec, phase.goodput));
    // A step that ended before its second half has no point.
    let is_shown = |step: &&OverloadStep| step.settled.span_sec > 0.0;
    let of = |onset: Onset| overload.steps.iter().filter(is_shown).filter(move |step| step.onset == onset);
    let point = |step: &OverloadStep| mark(step.settled.offered_per_sec, step.settled.goodput);
    let jumps = reference.clone().chain(of(Onset::Jump).map(point));
    let ramps = of(Onset::Ramp).map(point);
    let places: Vec<u32> = jumps.clone().chain(ramps.clone()).map(|mark| mark.tick).collect();
    let kept_up = places.iter().map(|rate| Mark::new(*rate, Estimate::exact(f64::from(*rate) / scale)));
    let lines = vec![
        Line::new("goodput after a jump".to_owned(), Place::Alone.throughput(), jumps),
        Line {
            labels_below: true,
            ..Line::new("after a ramp".to_owned(), Place::Alone.percentile(true), ramps)
        },
        Line::new("all that is offered".to_owned(), faint(), kept_up),
    ];
    let holds =
        overload.held_per_sec.map(|rate| Rule { value: rate, label: format!("holds {}", count_text(rate)) });
    let runs = vec![lines];
    let left = Scale::Linear(Axis::from_zero("goodput/s", highest(&runs, Side::Left)));
    let ticks = Ticks::new(unit, Spacing::Linear, places);
    let chart = Chart { rules: holds.into_iter().collect(), ..Chart::new(ticks, left, runs) };
    let caption = Caption { title: format!("Overload: {}", class(overload)), detail: escape_control(url) };
    figure(&Panels { caption, charts: vec![chart] })
}

/// Draws goodput and the rate of due requests over time, a panel for the jump to the highest overload and one for the
/// ramp. `None` without an overload.
///
/// # Errors
/// As for every figure.
pub fn overload_over_time(url: &str, overload: &Overload) -> Result<Option<Figure>, FigureError> {
    let highest_jump = overload.jump_to_the_same().or(overload.steps.last());
    let shown: Vec<&OverloadStep> = highest_jump.into_iter().chain(overload.ramped()).collect();
    let Some(longest) = shown.iter().map(|step| moments(step)).max_by_key(Vec::len) else { return Ok(None) };
    let seconds: Vec<u32> = longest.iter().map(|(second, _)| *second).collect();
    let chart = |step: &&OverloadStep| course(step, &seconds);
    let caption =
        Caption { title: format!("Overload over time: {}", class(overload)), detail: escape_control(url) };
    figure(&Panels { caption, charts: shown.iter().map(chart).collect() }).map(Some)
}

fn class(overload: &Overload) -> String {
    let at = overload.at_factor.map(|factor| format!(" at {} times what it holds", words::times(factor)));
    format!("{}{}", overload.class.name().replace('_', " "), at.unwrap_or_default())
}

/// Returns the unit of offered rates, in seconds, and its name: places along the axis are whole numbers.
fn offered_unit(overload: &Overload) -> (f64, &'static str) {
    /// From this rate on, rounding to a whole number changes it by at most 1 %.
    const MIN_PER_SEC: f64 = 50.0;
    let lowest = overload.reference.iter().chain(overload.steps.iter().map(|step| &step.settled));
    match lowest.map(|phase| phase.offered_per_sec).fold(f64::INFINITY, f64::min) {
        rate if rate < MIN_PER_SEC => (60.0, "requests/min offered"),
        _ => (1.0, "requests/s offered"),
    }
}

fn mark(rate: f64, goodput: Estimate) -> Mark {
    let tick = rate.round().clamp(0.0, f64::from(u32::MAX)) as u32;
    Mark { label: Some(count_text(goodput.value)), ..Mark::new(tick, goodput) }
}

fn faint() -> Look {
    Look { color: FAINT, shape: Shape::Diamond, dashed: true }
}

/// Returns the last moment of each second.
fn moments(step: &OverloadStep) -> Vec<(u32, OverloadMoment)> {
    let mut by_second: Vec<(u32, OverloadMoment)> = Vec::new();
    for moment in &step.over_time {
        let second = moment.at_sec.floor().max(0.0) as u32;
        match by_second.last_mut().filter(|(last, _)| *last == second) {
            Some(last) => last.1 = *moment,
            None => by_second.push((second, *moment)),
        }
    }
    by_second
}

fn course(step: &OverloadStep, seconds: &[u32]) -> Chart {
    let onset = if step.onset == Onset::Ramp { "ramp" } else { "jump" };
    let line = |legend: String, look: Look, value: fn(&OverloadMoment) -> f64| {
        let known = moments(step).into_iter();
        Line::new(
            legend,
            look,
            known.map(|(second, moment)| Mark::new(second, Estimate::exact(value(&moment)))),
        )
    };
    let goodput = format!("goodput, {onset} to {} times", words::times(step.factor));
    let runs = vec![vec![
        line(goodput, Place::Alone.throughput(), |moment| moment.goodput_per_sec),
        line("due".to_owned(), faint(), |moment| moment.due_per_sec),
    ]];
    let left = Scale::Linear(Axis::from_zero("requests/s", highest(&runs, Side::Left)));
    Chart::new(Ticks::new("seconds", Spacing::Linear, seconds.iter().copied()), left, runs)
}

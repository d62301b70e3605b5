//! The figure of an answer: throughput in one panel, latency in the other, over concurrency; and the same for two runs. A
//! third panel shows success if a request failed.

use std::time::Duration;

use plimsoll_analyze::{Estimate, Findings};
use plimsoll_units::{count_text, escape_control, exact_percent_text};

use super::axis::Axis;
use super::canvas::{Caption, Figure, FigureError};
use super::chart::{Chart, Line, Panels, Rule, Side, highest, values};
use super::ladder::{connections, mark, success_chart, throughput_line};
use super::look::{Look, Place};
use super::raster::figure;
use super::scale::Scale;
use super::series::{Series, StepPoint};
use crate::amount::{chosen_step, load_of, span};
use crate::text;
use crate::words;

/// Draws what the target holds and what limits it; the title is the verdict.
///
/// # Errors
/// As for every figure.
pub fn answer(findings: &Findings) -> Result<Figure, FigureError> {
    let series = Series::new(findings);
    let slo = &findings.plan.slo;
    let held_per_sec = findings.search.as_ref().and_then(|search| search.held_per_sec);
    let mut charts = vec![throughput(&[&series], held_per_sec), percentiles(&series, slo.limit_ms(99.0))];
    if has_failed(&series) {
        let limit = slo.success_ratio.map(|ratio| Rule {
            value: ratio * 100.0,
            label: format!("limit of success, {}", exact_percent_text(ratio)),
        });
        let mut success = success_chart(&[&series]);
        success.rules.extend(limit);
        charts.push(success);
    }
    charts[0].rules.extend(held_per_sec.map(held_rule));
    let knee = findings.knee.filter(|knee| knee.reached && !findings.lower_bound);
    for chart in &mut charts {
        chart.pointed = knee.map(|knee| (knee.connections, "sweet spot"));
    }
    figure(&Panels { caption: verdict(findings), charts })
}

/// Returns a rule at the arrival rate that held, on the axis of throughput.
fn held_rule(held_per_sec: f64) -> Rule {
    Rule {
        value: held_per_sec,
        label: format!("{} requests/s arriving at random hold", count_text(held_per_sec)),
    }
}

/// Draws two runs: the throughput of both in one panel, their response times in the other.
///
/// # Errors
/// As for every figure.
pub fn comparison(caption: &Caption, old: &Series, new: &Series) -> Result<Figure, FigureError> {
    let both = [old, new];
    let mut charts = vec![throughput(&both, None), response_times(&both)];
    if both.iter().any(|series| has_failed(series)) {
        charts.push(success_chart(&both));
    }
    figure(&Panels { caption: caption.clone(), charts })
}

/// Returns the verdict as a title, and what was measured under which conditions.
fn verdict(findings: &Findings) -> Caption {
    let slo = &findings.plan.slo;
    let url = escape_control(&findings.plan.target.url);
    let detail = words::limits(slo).fold(url, |detail, limit| format!("{detail} · {limit}"));
    let title = match chosen_step(findings).filter(|step| step.counts.ok > 0) {
        None if findings.answered_late() => "No answer came within a step".to_owned(),
        None => "No request succeeded".to_owned(),
        Some(step) => {
            let load = match findings.search.as_ref().and_then(|search| search.held_per_sec) {
                Some(_) => "arriving at random".to_owned(),
                None => format!("at {}{}", load_of(step), text::successes(step, findings)),
            };
            let served = capitalised(&text::served_in_short(findings));
            format!("{served} requests/s {load} · {}", text::verdict_in_short(findings))
        }
    };
    Caption { title, detail }
}

/// Capitalises a text for the start of a title.
fn capitalised(text: &str) -> String {
    let first = text.chars().next();
    first.map_or_else(String::new, |first| first.to_uppercase().chain(text.chars().skip(1)).collect())
}

fn ms_text(ms: f64) -> String {
    span(Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default())
}

/// True if a request failed, so that success needs a panel.
fn has_failed(series: &Series) -> bool {
    series.points.iter().any(|point| point.success_ratio.is_some_and(|ratio| ratio < 1.0))
}

/// Returns the lines of each run; with several runs, a legend begins with the run's name.
fn lines_of(series: &[&Series], lines: impl Fn(&Series, &str, Place) -> Vec<Line>) -> Vec<Vec<Line>> {
    let one = |(index, one): (usize, &&Series)| {
        let place = Place::new(index, series.len());
        lines(one, &one.prefix(place), place)
    };
    series.iter().enumerate().map(one).collect()
}

/// Returns the throughput of each run, with room for a rule at `rule_per_sec`.
fn throughput(series: &[&Series], rule_per_sec: Option<f64>) -> Chart {
    let runs = lines_of(series, |series, name, place| vec![throughput_line(name, &series.points, place)]);
    let most = highest(&runs, Side::Left).max(rule_per_sec.unwrap_or_default());
    let left = Axis::from_zero("responses/s", most);
    Chart::new(connections(series), Scale::Linear(left), runs)
}

/// Returns the median and the 99th percentile of one run, and the limit of the latter.
fn percentiles(series: &Series, limit_ms: Option<f64>) -> Chart {
    let p50 = times("p50".to_owned(), Place::Alone.percentile(false), series, |point| point.p50_ms);
    let p99 = times("p99".to_owned(), Place::Alone.percentile(true), series, |point| point.p99_ms);
    let runs = vec![vec![p99, p50]];
    let scale = Scale::times("latency", values(&runs).chain(limit_ms));
    let limit = limit_ms.map(|ms| Rule { value: ms, label: format!("limit of p99, {}", ms_text(ms)) });
    Chart { rules: limit.into_iter().collect(), ..Chart::new(connections(&[series]), scale, runs) }
}

/// Returns the mean response times of two runs, which are always known, and p99 if it is known for both.
fn response_times(series: &[&Series]) -> Chart {
    let has_p99 = series.iter().all(|series| series.points.iter().any(|point| point.p99_ms.is_some()));
    let runs = lines_of(series, |series, name, place| {
        let mean = times(format!("{name}mean"), place.percentile(false), series, |point| point.mean_ms);
        let p99 = times(format!("{name}p99"), place.percentile(true), series, |point| point.p99_ms);
        if has_p99 { vec![mean, p99] } else { vec![mean] }
    });
    let left = Scale::times("response time", values(&runs));
    Chart::new(connections(series), left, runs)
}

fn times(legend: String, look: Look, series: &Series, value: fn(&StepPoint) -> Option<Estimate>) -> Line {
    Line::new(legend, look, series.points.iter().filter_map(|point| mark(point, value(point)?)))
}

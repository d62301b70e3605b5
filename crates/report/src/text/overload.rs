//! Overloads as text: a table with bars for the short answer, and all figures for the full report.

use plimsoll_analyze::overload::protection;
use plimsoll_analyze::{Findings, Onset, Overload, OverloadPhase, OverloadStep, RampEffect};
use plimsoll_units::{count_text, escape_control, exact_duration_text, grouped, part_text, share_text};

use super::page::Page;
use super::paragraph::{WIDTH, blocks, headed, point, wrapped};
use super::table::{Column, cells, laid_out, table};
use crate::amount::{NOT_KNOWN, if_known, percentile, range, ratio, seconds, span};
use crate::words;

/// The width of the longest bar, in columns.
const BAR: usize = 14;
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// One line of the short table.
struct Row {
    load: String,
    offered: f64,
    /// Requests per second; `None` if the overload ended before its second half began.
    goodput: Option<f64>,
    left: String,
    failed: String,
    p99: String,
    back: String,
}

impl Row {
    /// The row of the rate itself: all of its goodput is left if the rate is known to hold.
    fn reference(phase: &OverloadPhase, overload: &Overload) -> Self {
        let holds = overload.reference_doubt.is_none() && phase.span_sec > 0.0;
        let left = if holds { "100 %" } else { NOT_KNOWN };
        Self::new("1×".to_owned(), phase, phase, (left.to_owned(), String::new()))
    }

    fn overload(step: &OverloadStep) -> Self {
        let ramp = if step.onset == Onset::Ramp { " ramp" } else { "" };
        let left = step.kept.map_or_else(|| "n/k".to_owned(), |kept| share_text(kept.value));
        let load = format!("{}×{ramp}", words::times(step.factor));
        Self::new(load, &step.settled, &step.whole, (left, words::recovery_cell(step.recovery)))
    }

    fn new(
        load: String,
        settled: &OverloadPhase,
        whole: &OverloadPhase,
        (left, back): (String, String),
    ) -> Self {
        Self {
            load,
            offered: settled.offered_per_sec,
            goodput: settled.if_it_began(settled.goodput.value),
            left,
            failed: if_known(whole.failed_ratio(), part_text),
            p99: percentile(settled.latency.p99),
            back,
        }
    }
}

fn known(rate: Option<f64>) -> String {
    rate.map_or_else(|| "n/k".to_owned(), count_text)
}

/// Returns goodput against offered load, a line for each overload.
pub(super) fn short_table(overload: &Overload) -> String {
    laid_out(WIDTH, &short_cells(overload))
}

/// Returns the cells of the short table below the names of its columns.
pub(crate) fn short_cells(overload: &Overload) -> Vec<Vec<String>> {
    let reference = overload.reference.as_ref().map(|phase| Row::reference(phase, overload));
    let rows: Vec<Row> = reference.into_iter().chain(overload.steps.iter().map(Row::overload)).collect();
    let most = rows.iter().filter_map(|row| row.goodput).fold(0.0, f64::max);
    let columns: [Column<'_, Row>; 8] = [
        ("load", &|row| row.load.clone()),
        ("offered", &|row| count_text(row.offered)),
        ("goodput", &|row| known(row.goodput)),
        ("", &|row| format!("{:<BAR$}", bar(row.goodput.unwrap_or_default() / most.max(1e-9)))),
        ("left", &|row| row.left.clone()),
        ("failed", &|row| row.failed.clone()),
        ("p99", &|row| row.p99.clone()),
        ("back after", &|row| row.back.clone()),
    ];
    cells(&rows, &columns)
}

/// Returns a bar of this share of the longest, to an eighth of a column.
fn bar(part: f64) -> String {
    let eighths = (part.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((!eighths.is_multiple_of(8)).then(|| EIGHTHS[eighths % 8 - 1]));
    bar
}

/// Says what goodput counts, and when users give up.
pub(crate) fn meaning(findings: &Findings, overload: &Overload) -> String {
    let timeout = span(findings.plan.generator.timeout);
    match overload.limit_ms {
        Some(ms) => format!(
            "Goodput: successes within {} of the instant they were due, per second. Users give up after {timeout}.",
            exact_duration_text(ms * 1e6)
        ),
        None => format!("Goodput: successes per second. Users give up after {timeout}."),
    }
}

/// Returns the limits that protect the target, and the command that gives them as settings; `None` where no rate is known
/// to hold.
pub(super) fn limits(findings: &Findings, page: &Page) -> Option<String> {
    let limits = protecting(findings)?;
    let run = page.run_name.as_ref().map_or_else(|| "last".to_owned(), Clone::clone);
    Some(format!(
        "{limits} As settings: plimsoll report {run} --snippet nginx (or envoy, haproxy, resilience4j, grpc)."
    ))
}

/// Returns the limits alone.
pub(crate) fn protecting(findings: &Findings) -> Option<String> {
    let limits = words::limits_text(&protection(findings)?);
    let ramp = findings.overload.as_ref().and_then(|overload| overload.ramp);
    Some(match ramp {
        Some(RampEffect::KeepsUp) => {
            format!("To protect it from a jump, {limits}; that also refuses what it answers in a ramp.")
        }
        _ => format!("To protect it, {limits}."),
    })
}

/// Returns everything about overloads; empty without any.
pub(super) fn block(findings: &Findings) -> String {
    let Some(overload) = &findings.overload else { return String::new() };
    let url = escape_control(&findings.plan.target.url);
    let verdict = wrapped("", "", &format!("{url} {}", words::overload_verdict(findings, overload)));
    let ramp = if_known(words::ramp_text(overload), |text| point(&text));
    let limits = if_known(protecting(findings), |text| point(&text));
    let lines = verdict + &point(&meaning(findings, overload)) + &ramp + &limits;
    blocks([headed("Overload", lines), settled(findings, overload), before_and_after(overload)])
}

/// Returns the judged part of each overload.
fn settled(findings: &Findings, overload: &Overload) -> String {
    let reference = overload.reference.iter().map(|phase| ("1×".to_owned(), phase, String::new()));
    let rows: Vec<(String, &OverloadPhase, String)> = reference
        .chain(overload.steps.iter().map(|step| {
            let load = format!("{}× {}", words::times(step.factor), words::onset_name(step.onset));
            (load, &step.settled, words::outcome_text(step, findings, overload))
        }))
        .collect();
    type Settled<'a> = (String, &'a OverloadPhase, String);
    let columns: [Column<'_, Settled<'_>>; 9] = [
        ("load", &|row| row.0.clone()),
        ("due/s", &|row| known(row.1.if_it_began(row.1.due as f64 / row.1.span_sec))),
        ("goodput/s", &|row| known(row.1.if_it_began(row.1.goodput.value))),
        ("interval", &|row| range(row.1.goodput.interval, count_text).trim().to_owned()),
        ("late", &|row| grouped(row.1.late)),
        ("refused", &|row| grouped(row.1.refused)),
        ("no answer", &|row| grouped(row.1.failed.total())),
        ("p99", &|row| percentile(row.1.latency.p99)),
        ("outcome", &|row| row.2.clone()),
    ];
    headed("Goodput in the second half of each overload", table(&rows, &columns))
}

/// Returns the base load before each overload, and whether goodput came back to it.
fn before_and_after(overload: &Overload) -> String {
    if overload.steps.is_empty() {
        return String::new();
    }
    let columns: [Column<'_, OverloadStep>; 6] = [
        ("load", &|step| format!("{}× {}", words::times(step.factor), words::onset_name(step.onset))),
        ("base/s", &|step| count_text(step.before.offered_per_sec)),
        ("good before", &|step| ratio(step.before.good_ratio)),
        ("under way", &|step| grouped(step.settled.in_flight)),
        ("unsent", &|step| grouped(step.settled.backlog)),
        ("back after", &|step| back(step)),
    ];
    headed("Before and after", table(&overload.steps, &columns))
}

fn back(step: &OverloadStep) -> String {
    match step.recovery {
        plimsoll_analyze::Recovery::Not { watched_sec, queue_sec, .. } => format!(
            "not in {}, while a queue of the excess would be gone after {}",
            seconds(watched_sec),
            seconds(queue_sec)
        ),
        recovery => words::recovery_cell(recovery),
    }
}

/// Returns the overloads of several runs, each with its name, in one table; empty unless two runs have any.
pub fn overloads(runs: &[(&str, &Findings)]) -> String {
    let with: Vec<(&str, &Overload)> =
        runs.iter().filter_map(|(name, findings)| Some((*name, findings.overload.as_ref()?))).collect();
    if with.len() < 2 {
        return String::new();
    }
    let columns: [Column<'_, (&str, &Overload)>; 4] = [
        ("run", &|run| run.0.to_owned()),
        ("class", &|run| run.1.class.name().replace('_', " ")),
        ("holds", &|run| known(run.1.held_per_sec)),
        ("goodput left at each overload", &|run| lefts(run.1)),
    ];
    table(&with, &columns)
}

fn lefts(overload: &Overload) -> String {
    let one = |step: &OverloadStep| {
        let ramp = if step.onset == Onset::Ramp { " ramp" } else { "" };
        let left = step.kept.map_or_else(|| "n/k".to_owned(), |kept| share_text(kept.value));
        format!("{}×{ramp} {left} (back: {})", words::times(step.factor), words::recovery_cell(step.recovery))
    };
    overload.steps.iter().map(one).collect::<Vec<_>>().join(", ")
}

//! The ladder as a small table: a bar for each step, with the sweet spot and the best step marked.

use plimsoll_analyze::{Findings, Held, StepSummary};
use plimsoll_units::grouped;

use crate::amount::{NOT_KNOWN, at_least, chosen_step, list, mean, percentile, ratio};
use crate::text::page::{Ink, Page};
use crate::text::paragraph::{cut, width};
use crate::text::{slo, steps};

const GAP: &str = "  ";
const MAX_BAR: usize = 20;
const MIN_BAR: usize = 6;
/// The width of the longest mark, `best, sweet spot`.
const MIN_NOTE: usize = 16;
/// The eighths of a column at which a bar can end.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Returns at most `max_rows` steps, by rising connections. Marked steps, the first and the last are left out only last.
pub(super) fn ladder(findings: &Findings, page: &Page, max_rows: usize) -> String {
    let steps = selected(findings, max_rows);
    if steps.is_empty() {
        return String::new();
    }
    let columns = columns(findings);
    let widest = |(name, cell): &(&str, Cell)| {
        steps.iter().map(|step| width(&cell(step))).max().unwrap_or(0).max(width(name))
    };
    let widths: Vec<usize> = columns.iter().map(widest).collect();
    let taken: usize = widths.iter().map(|width| width + GAP.len()).sum();
    let free = page.width.saturating_sub(taken + GAP.len() + MIN_NOTE);
    let table = Table { findings, page, bar: free.clamp(MIN_BAR, MAX_BAR), columns, widths };
    table.header() + &steps.iter().map(|step| table.row(step)).collect::<String>() + &steps::not_run(findings)
}

/// Selects the steps to show, by rising connections.
fn selected(findings: &Findings, max_rows: usize) -> Vec<&StepSummary> {
    let mut steps: Vec<&StepSummary> = findings.steps.iter().collect();
    steps.sort_by_key(|step| step.connections);
    let last = steps.len().saturating_sub(1);
    let best = steps.iter().position(|step| is_best(findings, step));
    let rank = |at: usize| match at {
        _ if Some(at) == best => 0,
        _ if is_sweet_spot(findings, steps[at]) => 1,
        at if at == last => 2,
        0 => 3,
        // The others by their distance from the best one.
        _ => 4 + best.unwrap_or(last).abs_diff(at),
    };
    let mut ranked: Vec<usize> = (0..steps.len()).collect();
    ranked.sort_by_key(|at| rank(*at));
    ranked.truncate(max_rows);
    ranked.sort_unstable();
    ranked.into_iter().map(|at| steps[at]).collect()
}

fn is_best(findings: &Findings, step: &StepSummary) -> bool {
    chosen_step(findings).is_some_and(|best| best.index == step.index && best.counts.ok > 0)
}

/// True for the knee, unless it is outside the conditions.
fn is_sweet_spot(findings: &Findings, step: &StepSummary) -> bool {
    let knee = findings.knee.filter(|knee| knee.reached && !findings.lower_bound);
    knee.is_some_and(|knee| knee.connections == step.connections) && !is_broken(findings, step)
}

/// True for a step that breaks a condition; false without conditions.
fn is_broken(findings: &Findings, step: &StepSummary) -> bool {
    findings.slo.as_ref().is_some_and(|check| slo::is_broken(&check.slo, step))
}

type Cell = fn(&StepSummary) -> String;

fn columns(findings: &Findings) -> Vec<(&'static str, Cell)> {
    let mut columns: Vec<(&'static str, Cell)> = vec![
        ("conns", |step| grouped(step.connections.into())),
        ("QPS", |step| at_least(step.throughput.value, step.lower_bound)),
        ("mean", |step| mean(&step.latency)),
        ("p50", |step| percentile(step.latency.p50)),
        ("p99", |step| percentile(step.latency.p99)),
    ];
    if findings.steps.iter().any(|step| step.success_ratio.is_some_and(|ratio| ratio < 1.0)) {
        // If requests fail, their success matters more than the mean.
        columns[2] = ("success", |step| ratio(step.success_ratio));
    }
    columns
}

struct Table<'a> {
    findings: &'a Findings,
    page: &'a Page,
    /// The width of the longest bar, in columns.
    bar: usize,
    columns: Vec<(&'static str, Cell)>,
    widths: Vec<usize>,
}

impl Table<'_> {
    fn header(&self) -> String {
        let cells = self.columns.iter().zip(&self.widths);
        let names: String = cells.map(|((name, _), width)| format!("{name:>width$}{GAP}")).collect();
        self.page.paint(Ink::Faint, names.trim_end()) + "\n"
    }

    fn row(&self, step: &StepSummary) -> String {
        let cells: Vec<String> = self
            .columns
            .iter()
            .zip(&self.widths)
            .map(|((name, cell), width)| self.cell(name, format!("{:>width$}", cell(step)), step))
            .collect();
        let numbers = self.widths.iter().map(|width| width + GAP.len()).sum::<usize>();
        let room = self.page.width.saturating_sub(numbers + self.bar + GAP.len());
        let note = note(self.findings, step, room);
        let note = if self.is_marked(step) { self.page.paint(Ink::Strong, &note) } else { note };
        let bar = self.bar_of(step);
        let pad = if note.is_empty() { 0 } else { self.bar.saturating_sub(width(&bar)) };
        let bar = self.page.paint(self.ink(step), &bar);
        let line = format!("{}{GAP}{bar}{}{GAP}{note}", cells.join(GAP), " ".repeat(pad));
        line.trim_end().to_owned() + "\n"
    }

    /// A cell, in red if it breaks a condition.
    fn cell(&self, name: &str, text: String, step: &StepSummary) -> String {
        let Some(check) = &self.findings.slo else { return text };
        let broken = match name {
            "p50" => slo::percentile_held(&check.slo, 50.0, step) == Held::No,
            "p99" => slo::percentile_held(&check.slo, 99.0, step) == Held::No,
            "success" => slo::success_held(&check.slo, step) == Held::No,
            _ => false,
        };
        if broken { self.page.paint(Ink::Bad, &text) } else { text }
    }

    /// Returns the bar of a step; its length is the share of the highest throughput.
    fn bar_of(&self, step: &StepSummary) -> String {
        let most = self.findings.steps.iter().map(|step| step.throughput.value).fold(0.0, f64::max);
        let part = if most > 0.0 { step.throughput.value / most } else { 0.0 };
        let eighths = (part * self.bar as f64 * 8.0).round() as usize;
        "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
    }

    /// Returns green within the conditions, red outside.
    fn ink(&self, step: &StepSummary) -> Ink {
        if is_broken(self.findings, step) { Ink::Bad } else { Ink::Good }
    }

    fn is_marked(&self, step: &StepSummary) -> bool {
        is_best(self.findings, step) || is_sweet_spot(self.findings, step)
    }
}

/// Returns the marks of a step, and a remark if there is room for it.
fn note(findings: &Findings, step: &StepSummary, room: usize) -> String {
    let best = is_best(findings, step).then(|| "best".to_owned());
    let sweet_spot = is_sweet_spot(findings, step).then(|| "sweet spot".to_owned());
    let marks = list(best.into_iter().chain(sweet_spot), ", ");
    let Some(remark) = steps::chief_remark(&findings.plan, step) else { return marks };
    if marks.is_empty() {
        return cut(&remark, room);
    }
    let both = format!("{marks}, {remark}");
    if width(&both) <= room { both } else { marks }
}

/// Returns the cells of the table below the names of its columns, without bars; empty without steps.
pub(crate) fn cells(findings: &Findings, max_rows: usize) -> Vec<Vec<String>> {
    let steps = selected(findings, max_rows);
    if steps.is_empty() {
        return Vec::new();
    }
    let columns = columns(findings);
    let names = columns.iter().map(|(name, _)| (*name).to_owned()).chain([String::new()]).collect();
    let row = |step: &&StepSummary| {
        let note = note(findings, step, usize::MAX);
        columns.iter().map(|(_, cell)| cell(step)).chain([note]).collect()
    };
    std::iter::once(names).chain(steps.iter().map(row)).collect()
}

/// True if the table shows a value that is not known.
pub(crate) fn has_unknown(findings: &Findings, max_rows: usize) -> bool {
    let columns = columns(findings);
    selected(findings, max_rows).iter().any(|step| columns.iter().any(|(_, cell)| cell(step) == NOT_KNOWN))
}

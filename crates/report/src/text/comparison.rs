//! Two ladders compared.

use plimsoll_analyze::{
    BestComparison, Comparison, ComparisonRow, Estimate, HighestRates, Incomparable, RateBracket, Setting,
    StepOutcome,
};
use plimsoll_units::{
    count_text, duration_text, escape_control, grouped, percent_text, share_text, significant,
};

use super::page::Page;
use super::paragraph::{WIDTH, wrapped_to};
use super::table::{Column, cells, laid_out};
use crate::amount::{at_least, connections, half_width, if_known, range};
use crate::privacy::shown_sentence;

/// The limits of a comparison of two single runs.
const ONE_PAIR: &str = "These are one run each, which does not show how results vary from run to run. An interval is that \
                        within a run. Repeat both in turn before acting on a small difference.";

/// One run of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub name: &'a str,
    /// The name of the run in the table: one word.
    pub label: &'a str,
}

/// Returns the comparison of two runs, in at most 80 columns.
pub fn comparison(comparison: &Comparison, candidate: Side<'_>, reference: Side<'_>) -> String {
    let notes = notes(candidate, reference);
    let notes = notes.map(|note| wrapped_to(Page::DEFAULT_WIDTH, "  ", "  ", &note)).concat();
    let sentences = [Some(headline(comparison, candidate, reference)), highest_rates(comparison)];
    let sentences = sentences.into_iter().flatten();
    let head: String = sentences.map(|text| wrapped_to(Page::DEFAULT_WIDTH, "", "", &text)).collect();
    head + "\n" + &laid_out(WIDTH, &steps(comparison, [reference.label, candidate.label])) + &notes
}

/// Returns the result of the comparison in a sentence.
pub(crate) fn headline(comparison: &Comparison, candidate: Side<'_>, reference: Side<'_>) -> String {
    match &comparison.best {
        Some(best) => best_text(best, &escape_control(candidate.name), &escape_control(reference.name)),
        None => "The best QPS cannot be compared: one of the two runs has no step with responses.".to_owned(),
    }
}

/// Compares the highest rates of both runs, if both searched for them within the same conditions.
pub(crate) fn highest_rates(comparison: &Comparison) -> Option<String> {
    let HighestRates { candidate, reference } = comparison.highest_rates?;
    Some(format!(
        "Highest rate within the conditions, in requests/s: old {}, new {}.",
        bracket(reference),
        bracket(candidate)
    ))
}

fn bracket(RateBracket { held_per_sec, broken_per_sec }: RateBracket) -> String {
    match (held_per_sec, broken_per_sec) {
        (Some(held), Some(broken)) => format!("{} (to {})", count_text(held), count_text(broken)),
        (Some(held), None) => at_least(held, true),
        (None, Some(broken)) => format!("below {}", count_text(broken)),
        (None, None) => "not known".to_owned(),
    }
}

/// Explains the columns of the table, and the limits of the comparison.
pub(crate) fn notes(candidate: Side<'_>, reference: Side<'_>) -> [String; 2] {
    let (a, b) = (escape_control(reference.name), escape_control(candidate.name));
    let (of, to) = (reference.label, candidate.label);
    let sides = format!(
        "{of}: {a}. {to}: {b}. {to} / {of}: the ratio of QPS with its 95 % interval; below 1, {to} serves less."
    );
    [sides, ONE_PAIR.to_owned()]
}

fn best_text(best: &BestComparison, candidate: &str, reference: &str) -> String {
    let per_cent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
    let [candidate_least, reference_least] = best.lower_bounds();
    format!(
        "{candidate}: best QPS is {} of {reference}'s{}: {} at {} against {} at {}.",
        per_cent(best.throughput_ratio.value),
        range(best.throughput_ratio.interval, per_cent),
        at_least(best.candidate.throughput.value, candidate_least),
        connections(best.candidate.connections),
        at_least(best.reference.throughput.value, reference_least),
        connections(best.reference.connections),
    )
}

/// Returns the reasons not to compare two runs, a sentence each; empty if there are none.
pub fn incomparable(against: &[Incomparable]) -> String {
    against.iter().map(|one| wrapped_to(Page::DEFAULT_WIDTH, "! ", "  ", &objection(one))).collect()
}

/// Returns a reason not to compare two runs, in a sentence.
pub(crate) fn objection(one: &Incomparable) -> String {
    match one {
        Incomparable::Differs(Setting::Server, old, new) => {
            format!(
                "The same requests went to two servers: {} and {}.",
                escape_control(old),
                escape_control(new)
            )
        }
        Incomparable::Differs(Setting::Kernel, old, new) => format!(
            "The kernels differ, {} in the old run and {} in the new one: it may be the reason for a difference.",
            or_none(old),
            or_none(new)
        ),
        Incomparable::Differs(setting, old, new) => {
            let [old, new] = [old, new].map(|value| or_none(&shown_sentence(value)));
            if old == new {
                return format!(
                    "Not comparable: the requests differ in what is hidden or not shown here (values of queries and headers, \
                     bodies, weights, further requests, rows of a CSV file): {old}. Send the same in both runs."
                );
            }
            let advice = match setting {
                Setting::Load => " Make both with the same -c, -R or ladder.",
                _ => "",
            };
            format!(
                "Not comparable: {} differ, {old} in the old run and {new} in the new one.{advice}",
                differing(*setting)
            )
        }
        Incomparable::GeneratorLimited(side) => format!(
            "Not comparable: the load generator was the limit of the {} run, whose figures are lower bounds.",
            side.name()
        ),
        Incomparable::Unfinished(side) => format!(
            "Not comparable: the ladder of the {} run ended before it was known what more connections serve, and the best QPS of the \
             other one is at another number of them. Let it run to its end, or give both the same --ladder.",
            side.name()
        ),
        Incomparable::Noisy(side, Some(half)) => format!(
            "Not comparable: the throughput of the {} run is known to ±{} only. Hold the load longer (-d, --step).",
            side.name(),
            percent_text(*half)
        ),
        Incomparable::Noisy(side, None) => format!(
            "Not comparable: how much the throughput of the {} run varies is not known. Hold the load longer (-d, --step).",
            side.name()
        ),
        Incomparable::OtherProcesses(side, share) => format!(
            "Not comparable: other processes used {} of the processors of a host during the {} run.",
            share_text(*share),
            side.name()
        ),
    }
}

fn or_none(value: &str) -> String {
    if value.is_empty() { "none".to_owned() } else { escape_control(value) }
}

fn differing(setting: Setting) -> &'static str {
    match setting {
        Setting::Machine => "the machines that made the load",
        Setting::Cores => "the cores of the load generator",
        Setting::Kernel => "the kernels",
        Setting::ToolVersion => "the versions of plimsoll",
        Setting::Driver => "the drivers",
        Setting::Protocol => "the protocols",
        Setting::Tls => "versions or ciphers of TLS",
        Setting::Requests => "the requests",
        Setting::Load => "the loads",
        Setting::KeepAlive => "the lives of connections",
        Setting::Server => "the servers",
    }
}

/// The function that returns the text of a row in a column.
type Cell<'a> = Box<dyn Fn(&ComparisonRow) -> String + 'a>;

/// Returns the cells of the table below the names of its columns; `labels` are those of the reference and of the
/// candidate.
pub(crate) fn steps(comparison: &Comparison, labels: [&str; 2]) -> Vec<Vec<String>> {
    let has = |of: fn(StepOutcome) -> bool| comparison.rows.iter().any(|row| outcomes(row).any(of));
    // A table of figures without percentiles is compared by its means.
    let (time, time_of): (_, fn(StepOutcome) -> String) = match has(|step| step.p99_ns.is_some()) {
        true => ("p99", |step| step.p99_ns.map_or_else(|| "n/k".to_owned(), duration_text)),
        false => ("mean", |step| duration_text(step.mean_latency_ns)),
    };
    let mut columns: Vec<(String, Cell<'_>)> =
        vec![("conns".to_owned(), Box::new(|row| grouped(row.connections.into())))];
    columns.extend(of_both("QPS", labels, speed));
    let [old, new] = labels;
    columns
        .push((format!("{new} / {old}"), Box::new(|row| or_missing(row.throughput_ratio.map(ratio_text)))));
    columns.extend(of_both(time, labels, time_of));
    if has(|step| step.success_ratio < 1.0) {
        columns.extend(of_both("ok", labels, |step| percent_text(step.success_ratio)));
    }
    columns.push((String::new(), Box::new(|_| String::new())));
    let columns: Vec<Column<'_, ComparisonRow>> =
        columns.iter().map(|(name, cell)| (name.as_str(), &**cell as _)).collect();
    cells(&comparison.rows, &columns)
}

/// Returns the columns of a figure, for the reference and for the candidate.
fn of_both(
    figure: &str,
    [old, new]: [&str; 2],
    of: fn(StepOutcome) -> String,
) -> [(String, Cell<'static>); 2] {
    [
        (format!("{figure} {old}"), Box::new(move |row| or_missing(row.reference.map(of)))),
        (format!("{figure} {new}"), Box::new(move |row| or_missing(row.candidate.map(of)))),
    ]
}

fn outcomes(row: &ComparisonRow) -> impl Iterator<Item = StepOutcome> {
    [row.reference, row.candidate].into_iter().flatten()
}

fn speed(step: StepOutcome) -> String {
    at_least(step.throughput.value, step.lower_bound)
}

fn ratio_text(ratio: Estimate) -> String {
    let half = if_known(half_width(ratio), |half| format!(" ± {}", significant(half)));
    format!("{}{half}", significant(ratio.value))
}

fn or_missing(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

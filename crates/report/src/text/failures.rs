//! What failed, by name, with its meaning and what helps.

use plimsoll_analyze::{Findings, GeneratorReason, StepSummary, wants_status};
use plimsoll_plan::Plan;
use plimsoll_record::{Counts, FAILURES, FailureKind, FailureRow};
use plimsoll_units::{escape_control, grouped, percent_text};

use super::paragraph::wrapped;

/// What helps against requests that were not sent because the workers had no time for them.
const OUT_OF_TIME: &str = "the generator itself was at its limit, and more connections would not help: lower the rate, use more workers (-t) if cores are free, or another machine";

/// What helps where the workers had time, and no connection was free.
const OUT_OF_CONNECTIONS: &str = "no connection was free: raise --max-connections, or lower the rate";

/// Failures by name, failed checks and unsuccessful statuses, the most frequent first.
fn by_name(plan: &Plan, counts: &Counts) -> Vec<(String, u64)> {
    let failed = counts.failed.iter().map(|(kind, count)| (kind.name().to_owned(), count));
    let refused = counts.status.iter().filter(|(status, _)| !wants_status(plan, *status));
    let refused = refused.map(|(status, count)| (status_name(status), count));
    let checks = counts.checks.iter().map(|(check, count)| (check_name(plan, check), count));
    let mut all: Vec<_> = failed.chain(refused).chain(checks).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

fn status_name(status: u16) -> String {
    if status == 0 { "status outside 100 to 599".to_owned() } else { format!("status {status}") }
}

fn check_name(plan: &Plan, check: u16) -> String {
    let name = plan.checks.get(usize::from(check)).map_or("?", String::as_str);
    format!("check {}", escape_control(name))
}

/// The same as [`by_name`], as short as the column of notes wants it: `timed_out ×3`, `503 ×12`.
pub(super) fn in_brief(plan: &Plan, counts: &Counts) -> Vec<String> {
    let short = |name: &str| name.strip_prefix("status ").unwrap_or(name).to_owned();
    by_name(plan, counts)
        .iter()
        .map(|(name, count)| format!("{} ×{}", short(name), grouped(*count)))
        .collect()
}

/// Everything that failed in the run; nothing if nothing did.
pub(super) fn block(findings: &Findings) -> String {
    let mut sum = Counts::default();
    findings.steps.iter().for_each(|step| sum.merge(&step.counts));
    let mut remedies = Vec::new();
    let rows = by_name(&findings.plan, &sum);
    let lines: String = rows.iter().map(|row| line(findings, row, sum.ended(), &mut remedies)).collect();
    if lines.is_empty() { lines } else { format!("Failed requests\n{lines}") }
}

/// What helps. Requests are never sent for want of connections, or of the generator's own time; its check of itself
/// tells which.
fn remedy(findings: &Findings, row: &FailureRow) -> &'static str {
    let unsent = |step: &&StepSummary| step.counts.failed.of(FailureKind::Unsent) > 0;
    let Some(step) = findings.steps.iter().find(unsent).filter(|_| row.kind == FailureKind::Unsent) else {
        return row.remedy_over(findings.plan.network.unix.is_some());
    };
    let short_of_descriptors =
        |reason: &&GeneratorReason| matches!(reason, GeneratorReason::OutOfConnections { .. });
    match step.generator.reasons.iter().find(short_of_descriptors) {
        Some(reason) => reason.remedy(),
        None if step.generator.out_of_time() => OUT_OF_TIME,
        None if step.generator.too_short => row.remedy,
        None => OUT_OF_CONNECTIONS,
    }
}

/// One kind with its meaning. What helps is said once, however many kinds share it.
fn line(
    findings: &Findings,
    (name, count): &(String, u64),
    ended: u64,
    remedies: &mut Vec<&'static str>,
) -> String {
    let share = percent_text(*count as f64 / ended.max(1) as f64);
    let seen = format!("{name}: {} ({share})", grouped(*count));
    let Some(row) = FAILURES.iter().find(|row| row.name == name) else {
        let what = if name.starts_with("check ") {
            "a response that does not meet it"
        } else {
            "a response, but not a success"
        };
        return wrapped("  ", "    ", &format!("{seen}, {what}"));
    };
    let meaning = wrapped("  ", "    ", &format!("{seen}, {}", row.meaning));
    let remedy = remedy(findings, row);
    if remedies.contains(&remedy) {
        return meaning;
    }
    remedies.push(remedy);
    meaning + &wrapped("    → ", "      ", remedy)
}

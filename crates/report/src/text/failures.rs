//! Failed requests by name, with the meaning of each failure and its remedy.

use plimsoll_analyze::{Findings, failure_advice, wants_status};
use plimsoll_plan::Plan;
use plimsoll_record::{Counts, FAILURES};
use plimsoll_units::{escape_control, grouped, percent_text};

use super::paragraph::{advice, headed, wrapped};
use crate::words;

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

/// The same as [`by_name`], short enough for the column of notes: `timed_out ×3`, `503 ×12`.
pub(super) fn in_brief(plan: &Plan, counts: &Counts) -> Vec<String> {
    let short = |name: &str| name.strip_prefix("status ").unwrap_or(name).to_owned();
    by_name(plan, counts)
        .iter()
        .map(|(name, count)| format!("{} ×{}", short(name), grouped(*count)))
        .collect()
}

/// All failures of the run; empty if none failed.
pub(super) fn block(findings: &Findings) -> String {
    let mut sum = Counts::default();
    findings.steps.iter().for_each(|step| sum.merge(&step.counts));
    let mut remedies = Vec::new();
    let rows = by_name(&findings.plan, &sum);
    let lines: String = rows.iter().map(|row| line(findings, row, sum.ended(), &mut remedies)).collect();
    headed("Failed requests", lines)
}

/// One kind with its meaning. A remedy that several kinds share is printed once.
fn line(
    findings: &Findings,
    (name, count): &(String, u64),
    ended: u64,
    remedies: &mut Vec<&'static str>,
) -> String {
    let share = percent_text(*count as f64 / ended.max(1) as f64);
    let seen = format!("{name}: {} ({share})", grouped(*count));
    let row = FAILURES.iter().find(|row| row.name == name);
    let meaning = match row {
        Some(row) => words::failure_meaning(row.kind),
        None if name.starts_with("check ") => "the response does not pass the check",
        None => "a response, but no success",
    };
    let meaning = wrapped("  ", "    ", &format!("{seen}, {meaning}"));
    let Some(row) = row else { return meaning };
    let remedy = words::failure_advice(failure_advice(&findings.plan, &findings.steps, row.kind));
    if remedies.contains(&remedy) {
        return meaning;
    }
    remedies.push(remedy);
    meaning + &advice("    ", remedy)
}

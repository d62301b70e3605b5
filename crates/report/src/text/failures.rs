//! Failed requests by name, with the meaning of each failure and its remedy.

use plimsoll_analyze::{Findings, failure_advice, wants_status};
use plimsoll_plan::Plan;
use plimsoll_record::{Counts, FailureKind};
use plimsoll_units::{escape_control, grouped, percent_text};

use super::paragraph::{advice, headed, wrapped};
use crate::words;

/// A way in which requests failed, or a reason why their responses are no success.
#[derive(Debug, Clone, Copy)]
enum Failure<'a> {
    Kind(FailureKind),
    /// The status; 0 for any outside 100 to 599.
    Status(u16),
    /// The check that a response failed; `None` for one that the plan does not have.
    Check(Option<&'a str>),
}

impl Failure<'_> {
    /// `timed_out`, `status 503`, `check json:/code=200`.
    fn name(self) -> String {
        match self {
            Self::Kind(kind) => kind.name().to_owned(),
            Self::Status(_) => format!("status {}", self.brief_name()),
            Self::Check(check) => format!("check {}", escape_control(check.unwrap_or("?"))),
        }
    }

    /// Returns a shorter name for a column of notes, where a status is its number alone.
    fn brief_name(self) -> String {
        match self {
            Self::Status(0) => "outside 100 to 599".to_owned(),
            Self::Status(status) => status.to_string(),
            Self::Kind(_) | Self::Check(_) => self.name(),
        }
    }

    fn meaning(self) -> &'static str {
        match self {
            Self::Kind(kind) => words::failure_meaning(kind),
            Self::Status(_) => "a response, but no success",
            Self::Check(_) => "the response does not pass the check",
        }
    }

    /// Returns what helps; `None` for a status and for a check.
    fn remedy(self, findings: &Findings) -> Option<&'static str> {
        let Self::Kind(kind) = self else { return None };
        Some(words::failure_advice(failure_advice(&findings.plan, &findings.steps, kind)))
    }
}

/// Returns failures, unsuccessful statuses and failed checks, the most frequent first.
fn counted<'a>(plan: &'a Plan, counts: &Counts) -> Vec<(Failure<'a>, u64)> {
    let failed = counts.failed.iter().map(|(kind, count)| (Failure::Kind(kind), count));
    let refused = counts.status.iter().filter(|(status, _)| !wants_status(plan, *status));
    let refused = refused.map(|(status, count)| (Failure::Status(status), count));
    let check = |index: u16| plan.checks.get(usize::from(index)).map(String::as_str);
    let checks = counts.checks.iter().map(|(index, count)| (Failure::Check(check(index)), count));
    let mut all: Vec<_> = failed.chain(refused).chain(checks).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

/// Lists failures, short enough for the column of notes: `timed_out ×3`, `503 ×12`.
pub(super) fn in_brief(plan: &Plan, counts: &Counts) -> Vec<String> {
    let brief =
        |(failure, count): &(Failure<'_>, u64)| format!("{} ×{}", failure.brief_name(), grouped(*count));
    counted(plan, counts).iter().map(brief).collect()
}

/// Describes the most frequent failure, with its count, its meaning and the number of other kinds; `None` if none failed.
pub(super) fn chief(findings: &Findings) -> Option<String> {
    let sum = sum(findings);
    let all = counted(&findings.plan, &sum);
    let (failure, count) = all.first()?;
    let share = percent_text(*count as f64 / sum.ended().max(1) as f64);
    let others = match all.len() - 1 {
        0 => String::new(),
        others => format!(" ({} more)", crate::amount::counted(others as u64, "kind")),
    };
    Some(format!(
        "{} failed ({share}): {}, {}{others}.",
        crate::amount::counted(*count, "request"),
        failure.name(),
        failure.meaning()
    ))
}

fn sum(findings: &Findings) -> Counts {
    let mut sum = Counts::default();
    findings.steps.iter().for_each(|step| sum.merge(&step.counts));
    sum
}

/// Returns all failures of the run; empty if none failed.
pub(super) fn block(findings: &Findings) -> String {
    let sum = sum(findings);
    let mut remedies = Vec::new();
    let rows = counted(&findings.plan, &sum);
    let lines: String = rows.iter().map(|row| line(findings, *row, sum.ended(), &mut remedies)).collect();
    headed("Failed requests", lines)
}

/// Describes one failure. A remedy that several failures share is printed once.
fn line(
    findings: &Findings,
    (failure, count): (Failure<'_>, u64),
    ended: u64,
    remedies: &mut Vec<&'static str>,
) -> String {
    let share = percent_text(count as f64 / ended.max(1) as f64);
    let text = format!("{}: {} ({share}), {}", failure.name(), grouped(count), failure.meaning());
    let line = wrapped("  ", "    ", &text);
    match failure.remedy(findings).filter(|remedy| !remedies.contains(remedy)) {
        None => line,
        Some(remedy) => {
            remedies.push(remedy);
            line + &advice("    ", remedy)
        }
    }
}

//! What to do next, and the command to type.

use std::time::Duration;

use plimsoll_analyze::{Findings, GeneratorReason, Limit};
use plimsoll_plan::{LadderSteps, Load, Slo, TlsSpec};
use plimsoll_record::{EventKind, Run, RunCommand};
use plimsoll_units::{duration_text, escape_control};

use super::sentences::sentences_in;
use crate::amount::unfinished;
use crate::text::page::{Ink, Page};
use crate::text::paragraph::{width, wrapped_to};
use crate::text::verdict;
use crate::words;

const INDENT: &str = "  ";
/// The maximum number of lines of the advice; its first sentence is never cut.
const ADVICE_LINES: usize = 2;

/// Returns the first advice and a command, under `Next:`.
pub(super) fn next(run: &Run, findings: &Findings, page: &Page) -> String {
    const LABEL: &str = "Next:";
    let advised = advised(findings);
    let command = command(run, findings, page);
    let text = match advised {
        Some(advice) => sentences_in(page, ADVICE_LINES, &format!("{LABEL} {advice}"), INDENT),
        None if command.is_some() => String::new(),
        None => return String::new(),
    };
    let first = if text.is_empty() { format!("{LABEL} ") } else { INDENT.to_owned() };
    let command = command.map(|command| wrapped_to(page.width, &first, INDENT, &command)).unwrap_or_default();
    page.paint_part(Ink::Strong, LABEL, &(text + &command))
}

/// Returns the first advice; `None` if there is none.
pub(crate) fn advised(findings: &Findings) -> Option<String> {
    let advised = too_slow(findings).or_else(|| words::advice(&findings.verdict).into_iter().next());
    advised.map(|text| escape_control(&text))
}

/// Returns advice for a single request that alone takes longer than its limit: no pool and no machine makes it shorter.
fn too_slow(findings: &Findings) -> Option<String> {
    let is_ladder = matches!(findings.plan.load, Load::Ladder { .. });
    let check = findings.slo.as_ref().filter(|check| is_ladder && check.best_step.is_none())?;
    let limit = check.slo.highest_limit()?;
    let allowed_ns = limit.limit_ns();
    let lowest = findings.steps.iter().min_by_key(|step| step.connections)?;
    let is_broken = lowest.latency.count > 0 && lowest.latency.mean_ns > allowed_ns;
    is_broken.then(|| {
        format!(
            "make the request faster, or allow it more than {} ({}). What the verdict names bounds throughput, not this time",
            duration_text(allowed_ns),
            limit.name()
        )
    })
}

/// Returns the command that helps the reader most, with its purpose.
fn command(run: &Run, findings: &Findings, page: &Page) -> Option<String> {
    let plain = is_plain(findings).then(|| url(findings, page));
    let again = |options: &str| match plain.as_ref().filter(|_| run.manifest.command == RunCommand::Answer) {
        Some(url) => format!("$ plimsoll {url} {options}"),
        None => format!("the same command with {options}"),
    };
    if findings.steps.iter().all(|step| step.counts.completed == 0) {
        return findings
            .answered_late()
            .then(|| longer_steps(findings))
            .flatten()
            .map(|options| again(&options));
    }
    if findings.steps.iter().all(|step| step.counts.ok == 0) {
        return plain.map(|url| format!("$ curl -i {url}"));
    }
    match (findings.verdict.limit, &findings.plan.load) {
        _ if findings.lost_step().is_some() => None,
        (Limit::Generator, _) => {
            is_busy(findings).then(|| "$ plimsoll calibrate shows how much this machine can send".to_owned())
        }
        (Limit::Unknown, _) if !verdict::is_watched(run) && !run.manifest.preflight.local => {
            Some(again("--probe ssh://HOST"))
        }
        (Limit::None | Limit::Unknown, Load::Single { .. }) => plain.map(|url| format!("$ plimsoll {url}")),
        (_, Load::Ladder { .. }) if unfinished(findings).is_some() => {
            further(run, findings).map(|options| again(&options))
        }
        (Limit::None | Limit::Unknown, _) => None,
        _ => page.run_name.as_ref().map(|name| compared(name)),
    }
}

/// True if the generator was held back by its own work, which a calibration measures.
fn is_busy(findings: &Findings) -> bool {
    let of_its_work = |reason: &GeneratorReason| {
        matches!(
            reason,
            GeneratorReason::WorkerBusy { .. }
                | GeneratorReason::NearCeiling { .. }
                | GeneratorReason::BehindSchedule { .. }
        )
    };
    findings.generator.reasons.first().is_some_and(of_its_work)
}

/// Says how to compare a later run with this one.
fn compared(name: &str) -> String {
    let (old, new) = if name == "last" { ("last~1", "last") } else { (name, "NEW") };
    format!("Change it, run again, compare: $ plimsoll diff {old} {new}")
}

/// Returns the option with which a ladder goes further, by what ended it; `None` if no option does.
fn further(run: &Run, findings: &Findings) -> Option<String> {
    let Load::Ladder { steps, budget, .. } = &findings.plan.load else { return None };
    let highest = findings.steps.iter().map(|step| step.connections).max()?;
    if run.events.iter().any(|event| event.kind == EventKind::Interrupted) {
        return None;
    }
    if run.events.iter().any(|event| event.kind == EventKind::BudgetEnded) {
        return budget.map(longer_budget);
    }
    let allowed = run.manifest.machine.lowered_to.map(|allowed| allowed.connections);
    match steps {
        _ if allowed.is_some_and(|allowed| u64::from(highest) >= allowed) => None,
        LadderSteps::Fixed(_) => Some(format!("a --ladder that goes beyond {highest}")),
        LadderSteps::Doubling { connections_max } if highest >= *connections_max => {
            Some(format!("--max-connections {}", u64::from(highest) * 4))
        }
        LadderSteps::Doubling { .. } => None,
    }
}

/// Returns the option that makes the steps of a ladder long enough for slow answers.
fn longer_steps(findings: &Findings) -> Option<String> {
    match &findings.plan.load {
        Load::Ladder { budget: Some(budget), .. } => Some(longer_budget(*budget)),
        Load::Ladder { step_limit, .. } => Some(format!("--step {}s", 4 * step_limit.as_secs().max(1))),
        Load::Single { .. } => None,
    }
}

fn longer_budget(budget: Duration) -> String {
    format!("--budget {}s", 4 * budget.as_secs().max(1))
}

/// True if a URL alone makes the same requests, to the same server over the same network path. No other run is repeated
/// here: without its flags, the command might load another machine.
fn is_plain(findings: &Findings) -> bool {
    let plan = &findings.plan;
    let target = &plan.target;
    target.method == "GET"
        && target.headers.is_empty()
        && target.body.is_empty()
        && plan.mix.is_empty()
        && plan.checks.is_empty()
        && plan.csv.is_none()
        && plan.network.is_usual()
        && plan.tls.as_ref().is_none_or(|tls| *tls == TlsSpec::default())
        && !plan.http2
        && plan.hosts.is_empty()
        && plan.profile.is_none()
        && plan.warm.is_none()
        && (plan.slo == Slo::default() || plan.slo == Slo::reference())
}

/// Returns the URL as a shell accepts it; `URL` if it leaves no room for a command.
fn url(findings: &Findings, page: &Page) -> String {
    const ROOM_FOR_COMMAND: usize = 24;
    let url = escape_control(&findings.plan.target.url);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "/:._-~%@+,=".contains(c);
    if width(&url) + ROOM_FOR_COMMAND > page.width || url.contains('\'') {
        "URL".to_owned()
    } else if url.chars().all(is_safe) {
        url
    } else {
        format!("'{url}'")
    }
}

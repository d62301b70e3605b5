//! The answer at a glance, in at most [`MAX_LINES`] lines: what the target holds and within which conditions, what limits it,
//! what to do next, the ladder, and what to be wary of. A sweep has all its steps in addition.

mod figure;
mod headline;
mod ladder;
mod level;
mod next;
mod overload;
mod sentences;

pub(crate) use self::figure::HeadlineFigure;
pub(crate) use self::headline::{conditions, sentences as headline};
pub(crate) use self::ladder::{cells as ladder_cells, has_unknown};
pub(crate) use self::level::{facts, request_cells, rest, window_cells};
pub(crate) use self::next::advised;

use plimsoll_analyze::{Confidence, Excluded, Findings, Limit, Place, ProofOutcome, Steadiness, StepSummary};
use plimsoll_plan::Load;
use plimsoll_record::{Counts, ProfileOutcome, Run, RunCommand};
use plimsoll_units::{count_text, escape_control};

use self::figure::Bound;
use self::sentences::sentences_in;
use super::page::{Ink, Page};
use super::paragraph::{width, wrapped_to};
use super::{claim, failures, origin, traces, verdict};
use crate::amount::{at_least, chosen_step};
use crate::words;

/// The maximum number of lines of an answer.
pub const MAX_LINES: usize = 20;
/// The maximum number of lines of the verdict; its first sentence is never cut.
const VERDICT_LINES: usize = 4;
/// The maximum number of lines of a remark; its first sentence is never cut.
const REMARK_LINES: usize = 2;
const MAX_REMARKS: usize = 2;
/// The explanation of `n/k` in the table.
pub(crate) const NOT_KNOWN: &str = "n/k: not known, too few requests ended (p99 needs 299 of them).";
/// The number of steps of a ladder that are always shown.
const MIN_STEPS: usize = 3;

/// Returns the short answer of a run.
pub fn short(run: &Run, findings: &Findings, page: &Page) -> String {
    let damage =
        origin::damage(run).map(|text| page.paint_lines(Ink::Bad, &wrapped_to(page.width, "", "", &text)));
    let damage = damage.unwrap_or_default();
    if let Some(overload) = &findings.overload {
        return damage + &with_remarks(overload::overload(findings, overload, page), run, findings, page);
    }
    let head = damage + &headline::headline(findings, page);
    let verdict = verdict_of(run, findings, page) + &next::next(run, findings, page);
    let tail = remarks(run, findings, page) + &more(run, findings, page);
    let body = match findings.plan.load {
        Load::Single { .. } => level::level(findings, page),
        Load::Ladder { .. } => {
            // The ladder's header and the empty lines around it take three.
            let taken = [&head, &verdict, &tail].iter().map(|part| part.lines().count()).sum::<usize>() + 3;
            let rows = match run.manifest.command {
                RunCommand::Sweep => findings.steps.len(),
                _ => MAX_LINES.saturating_sub(taken).max(MIN_STEPS),
            };
            let unknown = ladder::has_unknown(findings, rows);
            let rows = if unknown && rows > MIN_STEPS { rows - 1 } else { rows };
            ladder::ladder(findings, page, rows)
                + &if unknown { format!("  {NOT_KNOWN}\n") } else { String::new() }
        }
    };
    let parts = [head, verdict, body + &tail];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Adds remarks to the answer if there is room, and says where to read the rest.
fn with_remarks(answer: String, run: &Run, findings: &Findings, page: &Page) -> String {
    let (remarks, more) = (remarks(run, findings, page), more(run, findings, page));
    let lines = [&answer, &remarks, &more].iter().map(|part| part.lines().count()).sum::<usize>();
    if lines > MAX_LINES { answer + &more } else { answer + &remarks + &more }
}

/// Returns the throughput of the ladder or the search, in requests per second, bounded as in the first sentences.
pub(crate) fn served_in_short(findings: &Findings) -> String {
    let HeadlineFigure { per_sec, bound, .. } = HeadlineFigure::of_steps(findings);
    let Some(per_sec) = per_sec else { return none_served(findings).to_owned() };
    match bound {
        Bound::Exact => count_text(per_sec),
        Bound::Generator => at_least(per_sec, true),
        Bound::Unfinished => format!("at least {}", count_text(per_sec)),
    }
}

/// Returns "0" if requests ended but none with success; otherwise the throughput is not known.
fn none_served(findings: &Findings) -> &'static str {
    let any = |count: fn(&Counts) -> u64| findings.steps.iter().any(|step| count(&step.counts) > 0);
    if any(Counts::ended) && !any(|counts| counts.ok) { "0" } else { "not known" }
}

/// Returns what limits the target and where, as a phrase.
pub fn limit_in_short(findings: &Findings) -> String {
    let verdict = &findings.verdict;
    match (verdict.limit, &verdict.place) {
        (Limit::Unknown, _) => "not known".to_owned(),
        (Limit::None, _) => "none reached".to_owned(),
        (Limit::Generator, _) => "the load generator".to_owned(),
        (Limit::Cpu, place) => escape_control(&format!("CPU of {}", words::placed(place))),
        (Limit::Refused, place) => escape_control(&format!("refusals of {}", words::placed(place))),
        (limit, Place::Nowhere) => limit.name().to_owned(),
        (_, place) => escape_control(&format!("{} of {}", verdict.limit.name(), words::placed(place))),
    }
}

/// Returns the limit with its confidence: `limit (likely): pool of java on api`.
pub(crate) fn verdict_in_short(findings: &Findings) -> String {
    let confidence = confidence(findings).map(|confidence| format!(" ({confidence})"));
    format!("limit{}: {}", confidence.unwrap_or_default(), limit_in_short(findings))
}

/// Says what limits the target, with which confidence, and why it is not the load generator.
fn verdict_of(run: &Run, findings: &Findings, page: &Page) -> String {
    let (label, said) = verdict_parts(run, findings);
    let text = sentences_in(page, VERDICT_LINES, &format!("{label} {said}"), "  ");
    page.paint_part(Ink::Strong, &label, &text)
}

/// Returns the label of the verdict with its confidence, and its sentences.
pub(crate) fn verdict_parts(run: &Run, findings: &Findings) -> (String, String) {
    let verdict = &findings.verdict;
    let label = match confidence(findings) {
        Some(confidence) => format!("Verdict ({confidence}):"),
        None => "Verdict:".to_owned(),
    };
    let said = verdict::verdict_text(run, findings, &words::short_paragraph(verdict));
    let generator = verdict.excluded.iter().find(|excluded| matches!(excluded, Excluded::Generator(_)));
    let generator = generator.filter(|_| verdict.limit != Limit::Unknown).map(words::not_the_limit);
    let generator = generator.map(|text| format!(" Not {text}.")).unwrap_or_default();
    (label, said + &generator)
}

/// Returns the confidence of a verdict; `None` if it names nothing.
fn confidence(findings: &Findings) -> Option<&'static str> {
    let verdict = &findings.verdict;
    if matches!(verdict.limit, Limit::Unknown | Limit::None) {
        return None;
    }
    let is_withdrawn = verdict.proof().is_some_and(|proof| proof.outcome == ProofOutcome::Withdrawn);
    match verdict.confidence {
        _ if is_withdrawn => Some("withdrawn"),
        Confidence::Proven => Some("proven"),
        Confidence::Measured => Some("measured"),
        Confidence::Inferred => Some("likely"),
        Confidence::Unknown => None,
    }
}

/// Returns remarks that change how the figures are read, as far as there is room.
fn remarks(run: &Run, findings: &Findings, page: &Page) -> String {
    let shown = remark_texts(run, findings)
        .take(MAX_REMARKS)
        .map(|text| sentences_in(page, REMARK_LINES, &format!("! {text}"), "  "));
    shown.map(|text| page.paint_lines(Ink::Doubt, &text)).collect()
}

/// Returns remarks that change how the figures are read, the most important first.
pub(crate) fn remark_texts(run: &Run, findings: &Findings) -> impl Iterator<Item = String> {
    // If the interval is only wide, the first line says so.
    let is_unsettled = |step: &&StepSummary| step.counts.ok > 0 && step.steadiness != Steadiness::Wide;
    let settled = chosen_step(findings)
        .filter(is_unsettled)
        .map(|step| claim::settled(step, findings.lower_bound).trim().to_owned());
    let settled = settled.filter(|text| !text.is_empty());
    let unobserved = findings.verdict.excluded.iter();
    let unobserved = unobserved.filter(|excluded| matches!(excluded, Excluded::Unobserved { .. }));
    let unobserved = unobserved.map(|excluded| words::not_the_limit(excluded) + ".");
    origin::remark_texts(run, findings).chain(failures::chief(findings)).chain(settled).chain(unobserved)
}

/// Says where to read the rest.
fn more(run: &Run, findings: &Findings, page: &Page) -> String {
    let steps = match findings.steps.len() {
        0 | 1 => String::new(),
        count => format!("all {count} steps, "),
    };
    let rest = format!(" ({steps}evidence, self-check)");
    let is_profiled = run.profiles.iter().any(|profile| matches!(profile.outcome, ProfileOutcome::Taken(_)));
    let text = match &page.run_name {
        None => format!("More: --full{rest}"),
        Some(name) if is_profiled => {
            format!("More: plimsoll report {name} --full · CPU profile: plimsoll profile {name}")
        }
        Some(name) => format!("More: plimsoll report {name} --full{rest}"),
    };
    let text =
        if width(&text) > page.width { format!("More: this run again with --full{rest}") } else { text };
    let traces = traces::slowest(run, findings).map(|text| wrapped_to(page.width, "", "  ", &text));
    traces.unwrap_or_default() + &page.paint_lines(Ink::Faint, &wrapped_to(page.width, "", "  ", &text))
}

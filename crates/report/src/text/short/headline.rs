//! The first lines: what the target holds at which load, and each condition with its value.

use plimsoll_analyze::{Findings, Held, Limit, SloCheck, StepSummary};
use plimsoll_plan::Load;
use plimsoll_units::{escape_control, percent_text};

use crate::amount::{chosen_step, if_known, load_of, mean, throughput, unfinished};
use crate::text::page::{Ink, Page};
use crate::text::paragraph::{cut, width, wrapped_to};
use crate::text::slo::Condition;
use crate::text::{claim, search, slo};
use crate::words;

/// Returns what the target holds, the whole first sentence in bold, and the conditions.
pub(super) fn headline(findings: &Findings, page: &Page) -> String {
    let url = cut(&escape_control(&findings.plan.target.url), page.width);
    let text = sentences(findings, &url);
    // A URL is on a line of its own unless the text fits one line.
    let lines = match text.strip_prefix(&url).filter(|_| width(&text) > page.width) {
        Some(rest) => {
            format!("{url}\n{}", wrapped_to(page.width, "", "", rest.trim_start_matches([' ', ':'])))
        }
        None => wrapped_to(page.width, "", "", &text),
    };
    page.paint_lines(Ink::Strong, &lines) + &condition_lines(findings, page)
}

/// Says what the target of this URL holds.
pub(crate) fn sentences(findings: &Findings, url: &str) -> String {
    held(findings, url) + &claim::target_lost(findings) + &lower_bound(findings)
}

fn held(findings: &Findings, url: &str) -> String {
    if let Some(held) = search::held(findings) {
        let closed = chosen_step(findings).filter(|step| step.counts.ok > 0);
        let closed = closed.map(|step| {
            format!(" In a closed loop it served {} at {}.", claim::served(step, findings), load_of(step))
        });
        return format!("{url} {held}{}", closed.unwrap_or_default());
    }
    let Some(step) = chosen_step(findings).filter(|step| step.counts.ok > 0) else {
        return claim::nothing_held(findings, url, "");
    };
    let redirect = claim::only_status(findings).filter(|status| words::is_redirect(*status));
    let redirect = if_known(redirect, claim::redirected);
    match (&findings.slo, &findings.plan.load) {
        (_, Load::Single { .. }) => format!("{redirect}{url} served {}.", single(step, findings)),
        (Some(check), _) if check.best_step.is_none() => without_step(check, step, findings, url),
        _ => {
            let why = if_known(unfinished(findings), |why| format!("; {why}"));
            format!(
                "{redirect}{url} {} {} at {}{}{why}.",
                claim::verb(step, findings),
                claim::served(step, findings),
                load_of(step),
                claim::successes(step, findings),
            )
        }
    }
}

fn single(step: &StepSummary, findings: &Findings) -> String {
    if findings.answered_late() {
        return claim::only_late(findings).trim_end_matches('.').to_owned();
    }
    let success = step.success_ratio.map_or_else(|| "not known".to_owned(), percent_text);
    let throughput = throughput(step.throughput, findings.lower_bound);
    format!("{throughput} at {}, success {success}", load_of(step))
}

/// Returns the sentences of a run of which no step is known to be within the conditions.
fn without_step(check: &SloCheck, best: &StepSummary, findings: &Findings, url: &str) -> String {
    let (served, load) = (claim::served(best, findings), load_of(best));
    if check.is_too_slow() || check.success == Held::No {
        let lowest = findings.steps.iter().min_by_key(|step| step.connections);
        let slow = lowest.filter(|_| check.is_too_slow()).map(|step| {
            format!(" Already at {} a request takes {} on average.", load_of(step), mean(&step.latency))
        });
        return format!(
            "{url} holds no tested load within the conditions.{} Its best was {served} at {load}.",
            slow.unwrap_or_default()
        );
    }
    let why = if_known(unfinished(findings), |why| format!("; {why}"));
    let judged = match slo::is_broken(&check.slo, best) {
        true => "That is outside the conditions; whether it holds a lower load is not known.",
        false => "Too few requests ended to judge the conditions.",
    };
    format!("{url} served {served} at {load}{why}. {judged}")
}

fn lower_bound(findings: &Findings) -> String {
    // If the generator is the limit, the verdict says so.
    if !findings.lower_bound || findings.verdict.limit == Limit::Generator {
        return String::new();
    }
    format!(" That is a lower bound (≥), {}.", claim::held_back(findings))
}

/// Returns the conditions at the load that the sentences are about; empty if nothing succeeded at that load.
pub(crate) fn conditions(findings: &Findings) -> Vec<Condition> {
    let Some((judged, mut conditions)) = slo::conditions(findings) else { return Vec::new() };
    if findings.search.as_ref().is_some_and(|search| search.deciding().is_some()) {
        return conditions;
    }
    // If no step is within the conditions, those of the first line's step are shown; a target that serves nothing has
    // none.
    let chosen = chosen_step(findings).filter(|step| step.counts.ok > 0);
    let step = chosen.unwrap_or(judged);
    if let Some(check) = findings.slo.as_ref().filter(|_| step.index != judged.index) {
        let throughput = check.slo.throughput_per_sec.and_then(|_| conditions.pop());
        conditions = slo::conditions_at(&check.slo, step);
        conditions.extend(throughput);
    }
    if step.counts.ok == 0 { Vec::new() } else { conditions }
}

/// Returns the conditions in one line if they fit, otherwise a line each.
fn condition_lines(findings: &Findings, page: &Page) -> String {
    let parts: Vec<(Held, String)> = conditions(findings)
        .iter()
        .map(|condition| {
            (condition.held, format!("{} {}", slo::sign(condition.held), condition.short_text()))
        })
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    let line: String = parts.iter().map(|(_, part)| format!("  {part}")).collect();
    if width(&line) <= page.width {
        return parts.iter().fold(line, |line, (held, _)| painted(*held, &line, page)) + "\n";
    }
    let lines =
        parts.iter().map(|(held, part)| painted(*held, &wrapped_to(page.width, "  ", "    ", part), page));
    lines.collect::<String>()
}

/// Colours one sign of a condition. Equal signs of a line are painted in order, so the first unpainted one is the right
/// one.
fn painted(held: Held, line: &str, page: &Page) -> String {
    let ink = match held {
        Held::Yes => Ink::Good,
        Held::No => Ink::Bad,
        Held::Unknown => Ink::Doubt,
    };
    let sign = format!("  {} ", slo::sign(held));
    line.replacen(&sign, &format!("  {} ", page.paint(ink, slo::sign(held))), 1)
}

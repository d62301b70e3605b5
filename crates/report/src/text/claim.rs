//! The answer in sentences: what the target holds, and where its throughput stops growing.

use plimsoll_analyze::{Findings, Held, Knee, Limit, SloCheck, Steadiness, StepSummary};
use plimsoll_plan::{Load, Slo};
use plimsoll_units::{duration_text, escape_control, grouped, percent_text, share_text};

use super::paragraph::wrapped;
use super::search;
use crate::amount::{
    at_least, chosen_step, connections, if_known, load_of, percentile, seconds, throughput, unfinished,
};
use crate::words;

/// Returns the sentences, wrapped.
pub(super) fn sentences(findings: &Findings) -> String {
    let is_reported = chosen_step(findings).is_some() && unfinished(findings).is_none();
    let knee = findings.knee.filter(|_| is_reported);
    let url = escape_control(&findings.plan.target.url);
    let searched = if_known(search::held(findings), |held| wrapped("", "", &format!("{url} {held}")));
    searched
        + &wrapped("", "", &capacity(findings))
        + &if_known(knee, |knee| wrapped("", "", &growth(findings, &knee)))
}

fn capacity(findings: &Findings) -> String {
    let url = escape_control(&findings.plan.target.url);
    let Some(step) = chosen_step(findings).filter(|step| step.counts.ok > 0) else {
        return format!(
            "{}{}",
            nothing_held(findings, &url, " The failures are named below."),
            target_lost(findings)
        );
    };
    let held = match &findings.slo {
        Some(slo) if slo.best_step.is_none() => no_step_within(&url, slo, step, findings),
        slo => format!(
            "{}{url} {} {} at {}{}{}{}.",
            if_known(only_status(findings).filter(|status| words::is_redirect(*status)), redirected),
            verb(step, findings),
            served(step, findings),
            load_of(step),
            successes(step, findings),
            if_known(slo.as_ref(), |slo| words::within(&slo.slo)),
            if_known(unfinished(findings), |why| format!("; {why}"))
        ),
    };
    let settled = settled(step, findings.lower_bound);
    format!("{held}{}{}{settled}", target_lost(findings), generator_limit(findings))
}

/// Returns "holds" or "answers". A target only answers if many responses failed and no condition was given, or if no rate
/// is known to hold the conditions.
pub(super) fn verb(step: &StepSummary, findings: &Findings) -> &'static str {
    if is_mostly_success(step, findings) && !lacks_rate(findings) { "holds" } else { "answers" }
}

/// True if a condition is not known to hold, because the search found no rate that holds the conditions.
pub(crate) fn lacks_rate(findings: &Findings) -> bool {
    let has_held = findings.search.as_ref().is_some_and(|search| search.held_per_sec.is_some());
    let is_unknown =
        |check: &SloCheck| check.latency.iter().chain([&check.success]).any(|held| *held == Held::Unknown);
    findings.plan.search.is_some() && !has_held && findings.slo.as_ref().is_some_and(is_unknown)
}

/// Says how many of the answers were successes, unless nearly all were.
pub(crate) fn successes(step: &StepSummary, findings: &Findings) -> String {
    match step.success_ratio.filter(|_| !is_mostly_success(step, findings)) {
        Some(ratio) => format!(", {} successful", percent_text(ratio)),
        None => String::new(),
    }
}

fn is_mostly_success(step: &StepSummary, findings: &Findings) -> bool {
    let least = Slo::REFERENCE_SUCCESS;
    findings.slo.is_some() || step.success_ratio.is_none_or(|ratio| ratio >= least)
}

/// Formats the throughput of a step, with "at least" if the ladder ended too early to show more.
pub(super) fn served(step: &StepSummary, findings: &Findings) -> String {
    let bound = if findings.lower_bound || unfinished(findings).is_none() { "" } else { "at least " };
    format!("{bound}{}", throughput(step.throughput, findings.lower_bound))
}

/// Says when and at which load the target was lost; empty if it was not.
pub(super) fn target_lost(findings: &Findings) -> String {
    let lost = findings.lost_step().and_then(|step| Some((step, step.lost_at_sec?)));
    if_known(lost, |(step, at_sec)| {
        format!(" The target was lost at {}, under {}.", seconds(at_sec), load_of(step))
    })
}

fn no_step_within(url: &str, check: &SloCheck, best: &StepSummary, findings: &Findings) -> String {
    let success = best.success_ratio.map_or_else(|| "not known".to_owned(), percent_text);
    if check.is_too_slow() || check.success == Held::No {
        return format!(
            "{url} held no tested load{}. Its best throughput was {} at {}, with p99 {} and success {success}.",
            words::within(&check.slo),
            throughput(best.throughput, findings.lower_bound),
            load_of(best),
            percentile(best.latency.p99),
        );
    }
    format!(
        "{url} served {} at {}{}. Too few requests ended to know whether that is{}: p99 {}, success {success}.",
        served(best, findings),
        load_of(best),
        if_known(unfinished(findings), |why| format!("; {why}")),
        words::within(&check.slo).trim_start_matches(','),
        percentile(best.latency.p99),
    )
}

/// Says why the target holds nothing; `named` says where the failures are named, if anywhere.
pub(crate) fn nothing_held(findings: &Findings, url: &str, named: &str) -> String {
    let ended: u64 = findings.steps.iter().map(|step| step.counts.ended()).sum();
    if ended == 0 {
        return format!("{url}: nothing was measured, no request ended.");
    }
    if findings.answered_late() {
        return format!("{url}: {}", only_late(findings));
    }
    if let Some(status) = only_status(findings).filter(|status| *status >= 400) {
        let why = match status {
            429 | 503 => "it refuses the load",
            _ => "check its path, method and headers",
        };
        return format!("{url} answers every request with status {status}: {why}.");
    }
    let completed: u64 = findings.steps.iter().map(|step| step.counts.completed).sum();
    let answered = if completed == 0 { "none was answered" } else { "none was answered with success" };
    format!("{url} holds no load: of {} requests {answered}.{named}", grouped(ended))
}

/// Returns the status of every answer, if all have the same.
pub(super) fn only_status(findings: &Findings) -> Option<u16> {
    let mut statuses =
        findings.steps.iter().flat_map(|step| step.counts.status.iter().map(|(status, _)| status));
    let first = statuses.next()?;
    statuses.all(|status| status == first).then_some(first)
}

pub(super) fn redirected(status: u16) -> String {
    format!(
        "Every answer is a redirect (status {status}), which is not followed: load the URL that it leads to. "
    )
}

/// Says that every answer came in the drain: the steps were too short, which does not mean that the target holds nothing.
pub(super) fn only_late(findings: &Findings) -> String {
    let steps = &findings.steps;
    let completed: u64 = steps.iter().map(|step| step.counts.completed).sum();
    let timed: u64 = steps.iter().map(|step| step.latency.count).sum();
    let total_ns: f64 = steps.iter().map(|step| step.latency.mean_ns * step.latency.count as f64).sum();
    let mean = duration_text(total_ns / timed.max(1) as f64);
    let load = seconds(steps.iter().map(|step| step.measured_sec).fold(0.0, f64::max));
    let answers = match completed {
        1 => "the only answer came".to_owned(),
        _ => format!("all {} answers came", grouped(completed)),
    };
    match &findings.plan.load {
        Load::Single { .. } => format!(
            "{answers} only after the load had ended: requests take longer (mean {mean}) than the load lasted \
             ({load}), so throughput is not known; use a longer -d."
        ),
        Load::Ladder { budget, .. } => format!(
            "{answers} only after the load of each step had ended: requests take longer (mean {mean}) than a step \
             ({load}), so throughput is not known; use a longer {}.",
            if budget.is_some() { "--budget" } else { "--step" }
        ),
    }
}

/// Says that the figures are a lower bound, and what held the generator back; empty if they are not.
pub(crate) fn generator_limit(findings: &Findings) -> String {
    if !findings.lower_bound {
        return String::new();
    }
    match findings.verdict.limit {
        Limit::Generator => format!(
            " This is a lower bound (≥), the load generator was the limit{}.",
            why_held_back(findings)
        ),
        _ => format!(" This is a lower bound (≥), {}.", held_back(findings)),
    }
}

/// Says how the load generator made the figures lower bounds without being the limit.
pub(crate) fn held_back(findings: &Findings) -> String {
    if findings.generator.healthy() && findings.verdict.is_shared_with_generator() {
        return "the load generator takes part of the CPU that is full".to_owned();
    }
    format!("the load generator was held back{}", why_held_back(findings))
}

fn why_held_back(findings: &Findings) -> String {
    if_known(findings.generator.reasons.first(), |first| format!(": {}", words::reason(first)))
}

/// Says how to read a figure whose step did not settle.
pub(crate) fn settled(step: &StepSummary, lower_bound: bool) -> String {
    let drift = step.drift.filter(|_| step.steadiness == Steadiness::Moving);
    match drift {
        Some(rose) if rose < 0.0 => format!(
            " Throughput fell by {} within that step, as it does where something fills up, or where a burst is over: the \
             figure is the mean of all of it.",
            share_text(-rose)
        ),
        Some(rose) => format!(
            " Throughput rose by {} within that step, as it does where a target is still warming up: the figure is the mean \
             of all of it.",
            share_text(rose)
        ),
        None => known(step, lower_bound).to_owned(),
    }
}

fn known(step: &StepSummary, lower_bound: bool) -> &'static str {
    match step.steadiness {
        Steadiness::Steady => "",
        // A lower bound is printed without an interval.
        Steadiness::Wide if lower_bound => " Throughput did not settle to within ±2 % in that step.",
        Steadiness::Wide => {
            " Throughput did not settle to within ±2 % in that step: take the figure with its interval."
        }
        Steadiness::Moving if step.rate_per_sec.is_some() && lower_bound => {
            " More and more requests were waiting or under way: this generator does not keep up with this rate."
        }
        Steadiness::Moving if step.rate_per_sec.is_some() => {
            " More and more requests were waiting or under way: the target does not keep up with this rate."
        }
        Steadiness::Moving => {
            " Throughput changed within that step: the figure is the mean of all of it, and a rough one."
        }
        Steadiness::Ramp => " The offered rate changed as planned; what came of it over time stands below.",
        Steadiness::TooShort => " That step was too short to find its warm-up: the figure is rough.",
    }
}

fn growth(findings: &Findings, knee: &Knee) -> String {
    let plateau = format!(
        "{} requests/s at {}",
        at_least(knee.plateau.value, findings.lower_bound),
        connections(knee.plateau_connections)
    );
    if !knee.reached {
        return format!(
            "Throughput was still growing at the last step ({plateau}): how much more it holds is not known."
        );
    }
    if findings.lower_bound {
        return format!(
            "With this generator throughput is within 5 % of its best, {plateau}, from {} on; where the target's own \
             stops growing is not known.",
            connections(knee.connections),
        );
    }
    format!(
        "Throughput stops growing at {} (the knee): there it is within 5 % of the best, {plateau}.{}{}",
        connections(knee.connections),
        without_waiting(findings, knee),
        waiting_beyond(findings, knee),
    )
}

/// Says what the operational laws predict for the knee: the plateau times the response time of the lowest step.
fn without_waiting(findings: &Findings, knee: &Knee) -> String {
    let depth = findings.steps.first().map_or(1.0, |step| f64::from(step.depth));
    let lowest_ns = knee.connections_predicted * depth / knee.plateau.value * 1e9;
    let needed = connections(knee.connections_predicted.round().max(1.0) as u32);
    format!(
        " Even if requests took no longer than at the lowest step, {} on average, that would need about {needed}.",
        duration_text(lowest_ns)
    )
}

/// Says that more connections than the knee's only add waiting. Empty unless both latencies are known.
fn waiting_beyond(findings: &Findings, knee: &Knee) -> String {
    let at_knee = findings.steps.iter().find(|step| step.connections == knee.connections);
    let highest = findings.steps.iter().max_by_key(|step| step.connections);
    let pair = at_knee.zip(highest).filter(|(low, high)| high.connections > low.connections);
    let grown = pair.and_then(|(low, high)| Some((low, low.latency.p99.ns?, high, high.latency.p99.ns?)));
    if_known(grown.filter(|(_, low_ns, _, high_ns)| high_ns > low_ns), |(low, low_ns, high, high_ns)| {
        format!(
            " Beyond the knee only waiting grows: p99 {} at {}, {} at {}.",
            duration_text(low_ns),
            low.connections,
            duration_text(high_ns),
            connections(high.connections)
        )
    })
}

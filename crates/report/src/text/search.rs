//! The search for the highest rate within the conditions: its result as a sentence, and its trials as a table.

use std::time::Duration;

use plimsoll_analyze::{Breach, Drift, Findings, RateSearch, SearchEnd, TrialOutcome, TrialSummary};
use plimsoll_plan::{Load, RateSearchOrder};
use plimsoll_units::{count_text, exact_duration_text, exact_percent_text, share_text};

use super::paragraph::{WIDTH, headed};
use super::table::{cells, laid_out};
use crate::amount::{if_known, list, percentile, ratio, seconds};
use crate::words;

/// The heading of the trials.
pub(crate) const TRIALS: &str = "Search, in the order of the trials";
/// A longer search would narrow an interval that is wider than this.
const WIDE: f64 = 0.03;
/// The minimum budget of that longer search.
const LONGER: Duration = Duration::from_secs(600);

/// Returns what the target holds, as the rest of a sentence that begins with its URL; `None` without a search.
pub(super) fn held(findings: &Findings) -> Option<String> {
    let search = findings.search.as_ref()?;
    let within = words::within(&findings.plan.slo);
    let text = match (search.held_per_sec, &search.broken_per_sec) {
        (Some(held), Some(broken)) => format!(
            "holds {} requests/s that arrive at random{within}. {}{}",
            count_text(held),
            beyond(search, *broken),
            precision(findings, search, (held, *broken)),
        ),
        (Some(held), None) => {
            let (no_less, why_no_more) = bound(search.end);
            format!(
                "holds {no_less} {} requests/s that arrive at random{within}{why_no_more}.",
                count_text(held)
            )
        }
        (None, Some(broken)) => {
            let begins = match search.end {
                SearchEnd::NeverHeld => "holds no tested rate of arrivals",
                _ => "is not known to hold any rate of arrivals",
            };
            format!("{begins}{within}. {}", beyond(search, *broken))
        }
        (None, None) => format!(
            "was not pushed to a limit by arrivals at random{within}: no rate that was tried could be judged."
        ),
    };
    Some(text + &drift(search) + &hysteresis(search) + &outage(search))
}

/// Reports a maximum that moved with both of its values.
fn drift(search: &RateSearch) -> String {
    let Some(Drift { held_per_sec, broken_per_sec, falls }) = search.drift else { return String::new() };
    let (held, broken) = (count_text(held_per_sec), count_text(broken_per_sec));
    let what = match falls {
        true => format!("fell: {held} requests/s held at first, {broken} broke later"),
        false => format!("rose: {broken} requests/s broke at first, {held} held later"),
    };
    format!(" The maximum {what}. It drifts: the figures are the last ones seen.")
}

fn hysteresis(search: &RateSearch) -> String {
    let Some(rate) = search.hysteresis_per_sec else { return String::new() };
    format!(" Right after an overload {} requests/s broke; after a rest they held.", count_text(rate))
}

fn outage(search: &RateSearch) -> String {
    if_known(search.outage, |outage| format!(" The ladder brought it down. {}", words::outage_text(&outage)))
}

/// Says what happens at the lowest rate that is too high.
fn beyond(search: &RateSearch, broken: f64) -> String {
    let what = search.breach.map_or_else(|| "the conditions do not hold".to_owned(), breach);
    format!("At {} requests/s {what}.", count_text(broken))
}

fn breach(breach: Breach) -> String {
    match breach {
        Breach::Latency(limit) if limit.late_ratio() == 0.0 => {
            format!("a response takes longer than {}", exact_duration_text(limit.limit_ns()))
        }
        Breach::Latency(limit) => format!(
            "more than {} of the responses take longer than {}",
            exact_percent_text(limit.late_ratio()),
            exact_duration_text(limit.limit_ns())
        ),
        Breach::Success => "too many requests fail".to_owned(),
        Breach::Queue => "requests queue up faster than they are answered".to_owned(),
    }
}

/// Says how precise the result is, and which flags make it more precise.
fn precision(findings: &Findings, search: &RateSearch, (held, broken): (f64, f64)) -> String {
    let gap = broken / held - 1.0;
    let is_unfinished = search.end == SearchEnd::Unfinished;
    let Load::Ladder { budget: Some(budget), .. } = &findings.plan.load else { return String::new() };
    if search.end == SearchEnd::GeneratorLimited || (gap < WIDE && !is_unfinished) {
        return String::new();
    }
    let steps = findings.steps.iter().chain(search.trials.iter().map(|trial| &trial.step));
    let loaded = seconds(steps.map(|step| step.measured_sec).sum());
    let when = if is_unfinished { ", with the search unfinished," } else { "" };
    let advice = narrower(findings, *budget, is_unfinished).filter(|_| findings.lost_step().is_none());
    let advice = if_known(advice, |how| format!("; {how} narrows that"));
    format!(" After {loaded} of load{when} the two differ by {}{advice}.", share_text(gap))
}

/// Returns the flags of a search with a narrower interval than with this budget; `None` if no budget makes it narrower.
fn narrower(findings: &Findings, budget: Duration, is_unfinished: bool) -> Option<String> {
    let min = (2 * budget).max(LONGER).as_secs().div_ceil(60);
    let longer = RateSearchOrder::within(Duration::from_secs(60 * min));
    let order = findings.plan.search?;
    let is_narrower = longer.tolerance < order.tolerance;
    let was_given = order != RateSearchOrder::within(budget);
    match () {
        () if is_unfinished || is_narrower && !was_given => Some(format!("--budget {min}m")),
        // The parameters of an overload's own search cannot be given.
        () if is_narrower && findings.plan.overload.is_none() => {
            Some(format!("--within {}% --budget {min}m", 100.0 * longer.tolerance))
        }
        () => None,
    }
}

/// Returns the prefix of the highest rate that held if none broke, and why there is no higher one. The prefix is "≥" if
/// the generator was the limit, as in every table.
fn bound(end: SearchEnd) -> (&'static str, &'static str) {
    match end {
        SearchEnd::GeneratorLimited => ("≥", "; higher rates are beyond the load generator"),
        SearchEnd::Unfinished | SearchEnd::Found | SearchEnd::NeverHeld => {
            ("at least", "; the search ended before a rate broke them")
        }
    }
}

/// Returns every trial in a line; empty without a search.
pub(super) fn block(findings: &Findings) -> String {
    headed(TRIALS, laid_out(WIDTH, &trials(findings)))
}

/// Returns the cells of the trials below their names; empty without a search.
pub(crate) fn trials(findings: &Findings) -> Vec<Vec<String>> {
    let Some(search) = &findings.search else { return Vec::new() };
    let rate = |trial: &&TrialSummary| trial.step.rate_per_sec.map_or_else(String::new, count_text);
    let trials: Vec<&TrialSummary> = search.trials.iter().collect();
    cells(
        &trials,
        &[
            ("rate", &rate),
            ("time", &|trial| seconds(trial.step.measured_sec)),
            ("QPS", &|trial| count_text(trial.step.throughput.value)),
            ("p50", &|trial| percentile(trial.step.latency.p50)),
            ("p99", &|trial| percentile(trial.step.latency.p99)),
            ("success", &|trial| ratio(trial.step.success_ratio)),
            ("outcome", &|trial| outcome(trial)),
        ],
    )
}

fn outcome(trial: &TrialSummary) -> String {
    match trial.outcome {
        TrialOutcome::Held => "held".to_owned(),
        TrialOutcome::Broken(breach) => format!("broken: {}", self::breach(breach)),
        TrialOutcome::Close => "too close to be decided in this time".to_owned(),
        TrialOutcome::GeneratorLimited => {
            let reasons = trial.step.generator.reasons.iter().map(|reason| reason.name().replace('_', " "));
            format!("not judged, the generator: {}", list(reasons, ", "))
        }
    }
}

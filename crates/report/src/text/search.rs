//! The search for the highest rate within the conditions: its result as a sentence, and its trials as a table.

use plimsoll_analyze::{Breach, Findings, RateSearch, SearchEnd, TrialOutcome, TrialSummary};
use plimsoll_units::count_text;

use super::claim::within;
use super::paragraph::headed;
use super::table::table;
use crate::amount::{list, percentile, ratio, seconds};

/// What the target holds, as the rest of a sentence that begins with its URL; `None` without a search.
pub(super) fn held(findings: &Findings) -> Option<String> {
    let search = findings.search.as_ref()?;
    let within = within(&findings.plan.slo);
    let moved = match search.moved {
        true => " The maximum moved while it was searched for: a rate held at one time and not at another.",
        false => "",
    };
    let text = match (search.held_per_sec, &search.broken_per_sec) {
        (Some(held), Some(broken)) => format!(
            "holds {} requests/s that arrive at random{within}. {}{}",
            count_text(held),
            beyond(search, *broken),
            unconfirmed(search.end),
        ),
        (Some(held), None) => {
            format!(
                "holds at least {} requests/s that arrive at random{within}{}.",
                count_text(held),
                why_no_more(search.end)
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
    Some(text + moved)
}

/// What happens at the lowest rate that is too high.
fn beyond(search: &RateSearch, broken: f64) -> String {
    let what = search.breach.map_or("the conditions do not hold", breach);
    format!("At {} requests/s {what}.", count_text(broken))
}

fn breach(breach: Breach) -> &'static str {
    match breach {
        Breach::Latency => "more than 1 % of the responses are late",
        Breach::Success => "too many requests fail",
        Breach::Queue => "requests queue up faster than they are answered",
    }
}

fn unconfirmed(end: SearchEnd) -> &'static str {
    match end {
        SearchEnd::Found | SearchEnd::NeverHeld => "",
        SearchEnd::Unfinished | SearchEnd::GeneratorLimited => {
            " The search ended before both rates were confirmed."
        }
    }
}

fn why_no_more(end: SearchEnd) -> &'static str {
    match end {
        SearchEnd::GeneratorLimited => "; higher rates are beyond the load generator",
        SearchEnd::Unfinished | SearchEnd::Found | SearchEnd::NeverHeld => {
            "; the search ended before a rate broke them"
        }
    }
}

/// Every trial in a line; empty without a search.
pub(super) fn block(findings: &Findings) -> String {
    let Some(search) = &findings.search else { return String::new() };
    let rate = |trial: &&TrialSummary| trial.step.rate_per_sec.map_or_else(String::new, count_text);
    let trials: Vec<&TrialSummary> = search.trials.iter().collect();
    let lines = table(
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
    );
    headed("Search, in the order of the trials", lines)
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

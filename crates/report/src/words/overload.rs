//! Sentences about overload: how the target behaves, whether it comes back, and which limits protect it.

use plimsoll_analyze::{
    Findings, Onset, Outage, Overload, OverloadClass, OverloadDoubt, OverloadOutcome, OverloadStep,
    Protection, RampEffect, Recovery, SearchEnd,
};
use plimsoll_plan::{OverloadOrder, hold_for_requests};
use plimsoll_units::{count_text, duration_text, grouped, part_text, share_text};

use crate::amount::{if_known, seconds, span};

/// Returns how the target behaves, as the rest of a sentence that begins with its URL.
pub(crate) fn overload_verdict(findings: &Findings, overload: &Overload) -> String {
    let shown = overload.at_factor.and_then(|factor| step_at(overload, factor, overload.class));
    let at = if_known(shown, |step| at_text(step, overload));
    if let Some(outage) = &overload.by_ladder {
        let stays = if outage.stuck { " and stays down, a metastable failure" } else { "" };
        return format!(
            "collapses under overload{stays}: the ladder was the overload. {}",
            outage_text(outage)
        );
    }
    match overload.class {
        OverloadClass::Graceful => format!("degrades gracefully under overload: {at}."),
        OverloadClass::Degrades => format!("degrades under overload: {at}."),
        OverloadClass::Collapses => format!("collapses under overload: {at}.{}", if_known(shown, came_back)),
        OverloadClass::Metastable => {
            // Goodput may fall only as the overload ends.
            let collapses = shown.is_none_or(|step| step.outcome == OverloadOutcome::Lost);
            format!(
                "{}, a metastable failure: {at}.{}",
                if collapses {
                    "collapses under overload and stays down"
                } else {
                    "stays down after an overload"
                },
                if_known(shown, came_back)
            )
        }
        OverloadClass::NotOverloaded => kept_up(findings, overload),
        OverloadClass::Unknown => {
            let why = if_known(overload.doubt, |doubt| doubt_text(doubt, findings, overload));
            let was = if overload.steps.is_empty() { "was not overloaded" } else { "was overloaded" };
            format!("{was}, and what becomes of it is not known: {why}.")
        }
    }
}

/// The rate that was overloaded.
fn rate_text(overload: &Overload) -> String {
    if_known(overload.rate_per_sec, |rate| format!("the {} requests/s that it holds", count_text(rate)))
}

/// Returns what an overload showed.
fn at_text(step: &OverloadStep, overload: &Overload) -> String {
    let at = format!("at {} times {}", times(step.factor), rate_text(overload));
    match step.lost_sec {
        Some(sec) => {
            format!("{at}, it went away {} after the overload began: connections were refused", seconds(sec))
        }
        None => format!("{at}, {} of its goodput is left", left(step)),
    }
}

/// Says that the target was not overloaded, why, and what to do.
fn kept_up(findings: &Findings, overload: &Overload) -> String {
    let factor = overload.steps.last().map_or(1.0, |step| step.factor);
    let order = findings.plan.overload.as_ref();
    let longer = order.and_then(|order| Some((order.hold, order.longer_hold(factor, &findings.plan.slo)?)));
    let why = match longer {
        Some((hold, needed)) => {
            format!("in {} no queue shows; give --hold {}s", span(hold), needed.as_secs())
        }
        None if is_searched(findings) => beyond_search(findings).to_owned(),
        None => "that is not its maximum. plimsoll search finds it".to_owned(),
    };
    format!("kept up with all that was offered, {} times {}: {why}.", times(factor), rate_text(overload))
}

/// True if the rate that was overloaded was found by the search of the run.
fn is_searched(findings: &Findings) -> bool {
    findings.plan.overload.as_ref().is_some_and(OverloadOrder::is_searched)
}

/// Returns why a search found less than the maximum, and what to do.
fn beyond_search(findings: &Findings) -> &'static str {
    match findings.search.as_ref().map(|search| search.end) {
        Some(SearchEnd::GeneratorLimited) => {
            "its maximum is higher, and the load generator could not make more in the search"
        }
        Some(SearchEnd::Found | SearchEnd::NeverHeld) => "it is faster now than in the search; repeat it",
        Some(SearchEnd::Unfinished) | None => {
            "its maximum is higher, and the search ended before; give it more time with --budget"
        }
    }
}

/// Says what is known about a target that the ladder brought down, and what to do.
pub(crate) fn outage_text(outage: &Outage) -> String {
    let Outage { served_per_sec, tried_per_sec, watched_sec, queue_sec, stuck } = *outage;
    let why = match stuck {
        true => format!(
            " A queue of all that was not answered would have been gone after {}: something else keeps it down.",
            seconds(queue_sec)
        ),
        false => String::new(),
    };
    format!(
        "It served {} requests/s within the conditions before, and {} after the ladder most of {} requests/s still failed.{why} \
         Restart it, and allow fewer connections (--max-connections).",
        count_text(served_per_sec),
        seconds(watched_sec),
        count_text(tried_per_sec)
    )
}

/// Returns the overload of this factor that shows the class.
fn step_at(overload: &Overload, factor: f64, class: OverloadClass) -> Option<&OverloadStep> {
    let mut at = overload.steps.iter().filter(|step| step.factor == factor);
    let shows = |step: &&OverloadStep| match class {
        OverloadClass::Metastable => matches!(step.recovery, Recovery::Not { stuck: true, .. }),
        OverloadClass::Collapses => step.outcome == OverloadOutcome::Lost,
        OverloadClass::Degrades => step.outcome == OverloadOutcome::Reduced,
        OverloadClass::Graceful => step.outcome == OverloadOutcome::Kept,
        OverloadClass::NotOverloaded | OverloadClass::Unknown => true,
    };
    at.clone().find(shows).or(at.next())
}

/// Returns the part of goodput that is left.
fn left(step: &OverloadStep) -> String {
    step.kept.map_or_else(|| "an unknown part".to_owned(), |kept| share_text(kept.value.min(1.0)))
}

fn came_back(step: &OverloadStep) -> String {
    match step.recovery {
        Recovery::After { sec: 0.0 } => " It was back as soon as the load had fallen.".to_owned(),
        Recovery::After { sec } => format!(" It was back {} after the load had fallen.", back_after(sec)),
        Recovery::Not { watched_sec, queue_sec, stuck: true } => format!(
            " {} after the load had fallen to where it held before, goodput was still down; a queue of all that was offered \
             in excess would have been gone after {}.",
            seconds(watched_sec),
            seconds(queue_sec)
        ),
        Recovery::Not { watched_sec, .. } => {
            format!(" {} after the load had fallen it was not back.", seconds(watched_sec))
        }
        Recovery::Unknown => String::new(),
    }
}

/// Formats a multiple of the rate: `1.2`, `2`.
pub(crate) fn times(factor: f64) -> String {
    format!("{}", (factor * 100.0).round() / 100.0)
}

/// Formats the time until goodput was back: in whole seconds, because the first window with goodput is at least a second
/// long.
fn back_after(sec: f64) -> String {
    if sec == 0.0 { "at once".to_owned() } else { format!("{sec:.0} s") }
}

/// The recovery in a cell of a table.
pub(crate) fn recovery_cell(recovery: Recovery) -> String {
    match recovery {
        Recovery::After { sec } => back_after(sec),
        Recovery::Not { watched_sec, .. } => format!("not in {watched_sec:.0} s"),
        Recovery::Unknown => "n/k".to_owned(),
    }
}

/// Returns the outcome in a cell of a table.
pub(crate) fn outcome_text(step: &OverloadStep, findings: &Findings, overload: &Overload) -> String {
    match step.outcome {
        OverloadOutcome::Kept => "goodput kept".to_owned(),
        OverloadOutcome::Reduced => "goodput reduced".to_owned(),
        OverloadOutcome::Lost if step.lost_sec.is_some() => "target lost".to_owned(),
        OverloadOutcome::Lost => "goodput lost".to_owned(),
        OverloadOutcome::Unknown(doubt) => format!("not judged: {}", doubt_text(doubt, findings, overload)),
    }
}

fn doubt_text(doubt: OverloadDoubt, findings: &Findings, overload: &Overload) -> String {
    match doubt {
        OverloadDoubt::Base => "the target was not well at the base before the overload".to_owned(),
        OverloadDoubt::Generator => "this machine could not make the load".to_owned(),
        OverloadDoubt::TooFew => {
            let hold =
                if_known(overload.rate_per_sec, |rate| format!(" {}s", hold_for_requests(rate).as_secs()));
            format!("too few requests fell due; hold it for longer with --hold{hold}")
        }
        OverloadDoubt::Interrupted => "the run ended before".to_owned(),
        OverloadDoubt::RateNotHeld => {
            let rate = if_known(overload.rate_per_sec, count_text);
            let goodput = if_known(overload.reference.as_ref(), |phase| count_text(phase.goodput.value));
            match is_searched(findings) {
                true => format!(
                    "of the {rate} requests/s that held in the search, only {goodput} were answered well: the target is slower \
                     now. Repeat it, or give a lower rate with --rate"
                ),
                false => format!(
                    "of the {rate} requests/s that should hold, only {goodput} were answered well; give a lower rate, or \
                     leave --rate out to search for it"
                ),
            }
        }
        OverloadDoubt::NoRate => "no rate of arrivals is known to hold".to_owned(),
    }
}

/// Compares a ramp with a jump; `None` if they cannot be compared.
pub(crate) fn ramp_text(overload: &Overload) -> Option<String> {
    let (effect, jump, ramp) = (overload.ramp?, overload.jump_to_the_same()?, overload.ramped()?);
    let failed = |step: &OverloadStep| if_known(step.whole.failed_ratio(), part_text);
    let good = |step: &OverloadStep| if_known(step.settled.good_ratio, part_text);
    let failures =
        format!("{} of the requests failed in the jump, {} in the ramp", failed(jump), failed(ramp));
    Some(match effect {
        RampEffect::None => format!("A ramp to the same load makes no difference: {failures}."),
        RampEffect::KeepsUp => format!(
            "In a ramp after the jumps it answers {} of the same load in time, in the jump {}. What it lacked has grown since, such \
             as a pool of workers or connections: keep as many ready as the highest load needs, or raise load slowly. {failures}.",
            good(ramp),
            good(jump)
        ),
        RampEffect::Helps => format!(
            "A ramp to the same load leaves {} of the goodput, a jump {}: raise load slowly. {failures}.",
            left(ramp),
            left(jump)
        ),
        RampEffect::Hurts => format!(
            "A ramp to the same load leaves only {} of the goodput, a jump {}: the longer the overload, the worse. {failures}.",
            left(ramp),
            left(jump)
        ),
    })
}

/// The limits in one sentence.
pub(crate) fn limits_text(limits: &Protection) -> String {
    let why = limits.limit_ms.map(|ms| {
        if !limits.is_by_limit() {
            return " (room for what is in progress anyway)".to_owned();
        }
        let wait = limits.concurrency as f64 / limits.rate_per_sec * 1e9;
        format!(
            " ({} in progress take {} of the limit of {})",
            grouped(limits.concurrency),
            duration_text(wait),
            duration_text(ms * 1e6)
        )
    });
    // Shown digits of a limit must not be rounded up: below 100 there are three of them.
    let scale = 10_f64.powi(2 - limits.rate_per_sec.log10().floor() as i32).max(1.0);
    let rate = rounded_down(limits.rate_per_sec, scale);
    format!(
        "let in at most {} requests/s and {} at a time{}, and refuse the rest at once",
        count_text(rate),
        grouped(limits.concurrency),
        why.unwrap_or_default()
    )
}

/// Rounds down to a multiple of `1 / scale`, after allowing for errors of floating-point arithmetic.
pub(crate) fn rounded_down(value: f64, scale: f64) -> f64 {
    (value * scale * (1.0 + 1e-12)).floor() / scale
}

/// How an overload begins.
pub(crate) fn onset_name(onset: Onset) -> &'static str {
    match onset {
        Onset::Jump => "jump",
        Onset::Ramp => "ramp",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Protection = Protection {
        rate_per_sec: 800.0,
        burst: 40,
        concurrency: 80,
        in_progress: 9.6,
        limit_ms: Some(200.0),
        wait_ms: 50.0,
    };

    #[test]
    fn a_concurrency_is_explained_by_the_limit_only_where_it_follows_from_it() {
        let text = limits_text(&LIMITS);
        assert!(text.contains("80 at a time (80 in progress take 100 ms of the limit of 200 ms),"), "{text}");
        let slow = Protection { rate_per_sec: 2.0, burst: 20, concurrency: 3, in_progress: 0.1, ..LIMITS };
        let text = limits_text(&slow);
        assert!(text.contains("3 at a time (room for what is in progress anyway),"), "{text}");
        let open = limits_text(&Protection { limit_ms: None, ..LIMITS });
        assert!(open.contains("80 at a time, and"), "{open}");
    }
}

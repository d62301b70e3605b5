//! What to try next.

use plimsoll_units::{duration_text, grouped};

use crate::GeneratorReason;

pub(super) const NOTHING_RAN: &str = "the run ended before its first step: run it again";
pub(super) const NOTHING_ENDED: &str =
    "no request ended, well or badly: give the run more time than one answer takes";
pub(super) const SWEEP: &str = "one level of load cannot tell a limit: run plimsoll sweep with the same URL to see where throughput stops growing";
pub(super) const HIGHER_RATE: &str = "this rate is kept up with: raise -R to find the one that is not";

pub(super) const TOO_SHORT: &str = "what was measured is too short to tell a limit: give the load more time (-d, --step), or more requests (-n)";

pub(super) const LONGER_RUN: &str =
    "an answer takes longer than the load was on: give it more time, with a longer -d";
pub(super) const LONGER_STEPS: &str =
    "an answer takes longer than a step: give each step more time, with a longer --step";
pub(super) const LONGER_BUDGET: &str =
    "an answer takes longer than a step: give the ladder more time, with a longer --budget";

/// Advice where the target went away.
pub(super) fn lost(at_sec: f64) -> String {
    format!(
        "look at the target's log and at its process: it answered until {} after the run began, then it was gone",
        duration_text(at_sec * 1e9)
    )
}

/// Advice for a status that is not a success.
pub(super) fn status(status: u16) -> String {
    match status {
        401 | 403 => {
            format!("status {status}: does the target want credentials? add them with -H 'Authorization: …'")
        }
        404 | 405 => format!("status {status}: check the path and the method"),
        429 | 503 => format!(
            "status {status}: the target refuses load; look for a rate limit or a full queue in front of it"
        ),
        500..=599 => format!("status {status}: look at the target's log"),
        _ => format!("status {status}: try the request alone and compare"),
    }
}

/// Advice for each reason of the generator, without repeating itself.
pub(super) fn generator(reasons: &[GeneratorReason]) -> Vec<String> {
    let mut advice: Vec<String> = Vec::new();
    for text in reasons.iter().map(GeneratorReason::remedy) {
        if !advice.iter().any(|known| known == text) {
            advice.push(text.to_owned());
        }
    }
    advice
}

pub(super) fn check(name: &str) -> String {
    format!("look at one answer yourself: does it meet {name}, or is the check wrong?")
}

pub(super) fn watch_target_at(connections: u32) -> String {
    format!(
        "watch the target's CPU, per core, and its network during plimsoll run with -c {connections}: \
         what is full there is the limit; if nothing is, look for a pool or lock, or at what the target calls"
    )
}

pub(super) fn watch_target_at_rate(rate_per_sec: f64) -> String {
    format!(
        "the target does not keep up: watch its CPU, per core, and its network during plimsoll run with -R {rate_per_sec}"
    )
}

/// At the plateau the target works on as many requests at once as Little's law gives for the time that one
/// takes without a queue. That time is known to a few per cent at best, so whole requests are all that can be said.
pub(super) fn many_at_once(predicted: f64) -> String {
    format!(
        "the target works on about {} at once and the rest wait (its best throughput × the latency of the lowest \
         step): compare that with its cores and the sizes of its pools",
        requests_text(predicted)
    )
}

fn requests_text(count: f64) -> String {
    let whole = count.round().max(1.0) as u64;
    let plural = if whole == 1 { "" } else { "s" };
    format!("{} request{plural}", grouped(whole))
}

pub(super) fn climb(connections: &str) -> String {
    format!("throughput was still growing at {connections}: give the ladder more time or higher rungs")
}

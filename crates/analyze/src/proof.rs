//! Whether an experiment bears a verdict out: what was foretold, against what was seen.

use plimsoll_plan::Cap;
use plimsoll_stats::ratio;
use plimsoll_units::{count_text, significant};

use crate::intervention::{cap_of, repeated};
use crate::knee::{TOLERANCE, counts_for_capacity, whole};
use crate::verdict::{FREE, connections_text, may_be_the_targets};
use crate::{
    Confidence, Estimate, EvidenceRow, Findings, Limit, Proof, ProofOutcome, Raise, Resource, StepSummary,
    Verdict,
};

/// An experiment that foretells less than this ratio is not worth making: twice the tolerance that a plateau is told by.
pub(crate) const LEAST_TOLD: f64 = 1.0 + 2.0 * TOLERANCE;

/// How throughput should move, and what else bounds it, in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Foretold {
    pub(crate) ratio: f64,
    pub(crate) bound: Option<String>,
}

/// Throughput over that of this step, once a cap is raised: as many times as there is more of it (of memory, a tenth more), up to the lowest of what
/// else bounds it. That is the next limit, the other way of the same link, the rate that is offered, and the load itself:
/// by N ≤ X·S₀ so many connections give N/S₀ at most, where S₀ was not made by what is raised.
pub(crate) fn foretold(
    findings: &Findings,
    step: usize,
    raise: &Raise,
    resource: Option<&Resource>,
) -> Foretold {
    let now = &findings.steps[step];
    let over_now = |per_sec: f64| per_sec / now.throughput.value.max(f64::MIN_POSITIVE);
    let next = findings.verdict.next_limit.as_ref();
    let next = next
        .map(|next| (over_now(next.at_per_sec.value), format!("{} of {}", next.limit.name(), next.place)));
    let other_way = resource.and_then(|raised| other_way(findings, raise.cap, raised)).map(|other| {
        (over_now(other.0), format!("{} of {}", other.1.kind.name().replace('_', " "), other.1.place()))
    });
    let offered = now.rate_per_sec.map(|rate| (over_now(rate), "the rate that is offered".to_owned()));
    let was_free =
        resource.and_then(|raised| raised.utilisation(lowest(findings)?)).is_some_and(|share| share < FREE);
    let load = findings.knee.filter(|_| was_free).map(|knee| {
        let most = f64::from(now.connections) / knee.connections_predicted.max(f64::MIN_POSITIVE);
        (most, format!("what {} can ask for", connections_text(now.connections)))
    });
    let bounds = [next, other_way, offered, load].into_iter().flatten();
    // Half as much memory again does not fetch half as much again: how many pages stay depends on which are asked for. That
    // something is gained is all that can be told.
    let alone = if raise.cap == Cap::Memory { LEAST_TOLD } else { raise.ratio() };
    match bounds.min_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((ratio, bound)) if ratio < alone => Foretold { ratio, bound: Some(bound) },
        _ => Foretold { ratio: alone, bound: None },
    }
}

/// The step with the fewest connections that counts.
fn lowest(findings: &Findings) -> Option<usize> {
    let counts = |(_, step): &(usize, &StepSummary)| whole(step) && counts_for_capacity(step);
    let usable = findings.steps.iter().enumerate().filter(counts);
    usable.min_by_key(|(_, step)| step.connections).map(|(index, _)| index)
}

/// The way of a link that is not raised with the other, and the throughput at which it is full. It is of the limit that is
/// named, so that it is not told as the next one.
fn other_way<'a>(findings: &'a Findings, cap: Cap, raised: &Resource) -> Option<(f64, &'a Resource)> {
    let same_link = |other: &&Resource| {
        (&other.host, &other.detail) == (&raised.host, &raised.detail)
            && other.kind != raised.kind
            && other.kind.limit() == raised.kind.limit()
    };
    let other =
        findings.resources.iter().find(same_link).filter(|_| !matches!(cap, Cap::Packets | Cap::Disk))?;
    Some((other.demand?.at_per_sec?.value, other))
}

/// What a ratio says that should have been this one. Throughput that moves farther than foretold bears the verdict out too:
/// it is foretold as if all that is used grew with the load.
fn judged(foretold: f64, seen: Estimate) -> ProofOutcome {
    let Some((low, high)) = seen.interval else { return ProofOutcome::Undecided };
    let reached = high >= foretold * (1.0 - TOLERANCE);
    match (reached, low > 1.0) {
        (true, true) => ProofOutcome::Proven,
        (true, false) => ProofOutcome::Undecided,
        (false, _) => ProofOutcome::Withdrawn,
    }
}

/// Adds to the verdict what became of the experiment on it. `again` is what was found in the second load alone.
pub(crate) fn weigh(findings: &mut Findings, tried: &Result<Raise, String>, again: &Findings) {
    let raise = match tried {
        Ok(raise) => raise,
        Err(why) => return add_sentence(&mut findings.verdict, &format!("It was to be tried: {why}.")),
    };
    let Some(step) = repeated(findings) else { return };
    let named =
        cap_of(findings, step).filter(|(cap, _)| *cap == raise.cap && findings.verdict.host() == raise.host);
    let resource = named.and_then(|(_, resource)| resource);
    let foretold = foretold(findings, step, raise, resource);
    let first = &findings.steps[step];
    let second = again.steps.first();
    let ratio = second.and_then(|second| ratio(second.throughput, first.throughput));
    let judged = ratio.map_or(ProofOutcome::Undecided, |ratio| judged(foretold.ratio, ratio));
    // Rules change, and a file may be judged anew long after the experiment.
    let elsewhere = || Some("that is not what this verdict names".to_owned());
    let flaw = if named.is_some() { flaw(again, judged) } else { elsewhere() };
    let proof = Proof {
        raise: raise.clone(),
        connections: first.connections,
        before_per_sec: first.throughput,
        after_per_sec: second.map(|second| second.throughput),
        ratio,
        foretold_ratio: foretold.ratio,
        outcome: if flaw.is_some() { ProofOutcome::Undecided } else { judged },
    };
    settle(&mut findings.verdict, proof, &foretold, flaw);
}

/// Why the second load tells nothing, if it does not.
fn flaw(again: &Findings, judged: ProofOutcome) -> Option<String> {
    let Some(step) = again.steps.first() else {
        return Some("the load was not made again".to_owned());
    };
    let own = |reason| !may_be_the_targets(reason);
    let by_generator = again.generator.reasons.iter().any(own)
        || (again.generator.healthy() && again.verdict.limit == Limit::Generator);
    match judged {
        _ if !whole(step) => Some("that load was cut short".to_owned()),
        _ if !counts_for_capacity(step) => Some("more than 5 % of its requests failed".to_owned()),
        // What the generator held back was more still.
        ProofOutcome::Proven => None,
        _ if by_generator => Some("the load generator was the limit then".to_owned()),
        ProofOutcome::Undecided => {
            Some("throughput is not known well enough: give steps more time".to_owned())
        }
        ProofOutcome::Withdrawn => None,
    }
}

fn settle(verdict: &mut Verdict, proof: Proof, foretold: &Foretold, flaw: Option<String>) {
    let tried = tried_text(&proof, foretold);
    let moved = proof.ratio.and_then(|ratio| ratio.interval).is_some_and(|(low, _)| low > 1.0);
    let outcome = match proof.outcome {
        ProofOutcome::Proven => prove(verdict, &proof),
        ProofOutcome::Withdrawn => withdraw(verdict, moved),
        ProofOutcome::Undecided => {
            format!("That decides nothing: {}.", flaw.unwrap_or_default())
        }
    };
    if let (Some(ratio), Some(row)) = (proof.ratio, proof.after_per_sec) {
        let foretold_per_sec = proof.before_per_sec.value * proof.foretold_ratio;
        let what = format!("requests/s with {}, against those foretold", proof.raise);
        let at = format!("{}, ×{}", connections_text(proof.connections), significant(ratio.value));
        verdict.evidence.push(EvidenceRow { what, value: row.value, of: Some(foretold_per_sec), at });
    }
    add_sentence(verdict, &format!("{tried} {outcome}"));
    verdict.proof = Some(proof);
}

/// What could not be told from it is told from it now: nothing of that was raised.
fn prove(verdict: &mut Verdict, proof: &Proof) -> String {
    verdict.confidence = Confidence::Proven;
    let per_sec = proof.after_per_sec.map_or(0.0, |after| after.value);
    for other in std::mem::take(&mut verdict.also) {
        let (name, place) = (other.limit.name(), other.place);
        verdict.excluded.push(format!(
            "{name} of {place}: it was not raised, and let {} requests/s through",
            count_text(per_sec)
        ));
    }
    "That proves the verdict.".to_owned()
}

fn withdraw(verdict: &mut Verdict, moved: bool) -> String {
    let known = moved || !verdict.also.is_empty();
    verdict.confidence = if known { Confidence::Inferred } else { Confidence::Unknown };
    verdict.advice = vec![
        "look for what else holds requests back: what is named under «also» or as the next limit, and hosts and \
         components that were not looked at"
            .to_owned(),
    ];
    match moved {
        true => "Throughput moved, and less than foretold: something else holds it back too.".to_owned(),
        false => {
            "Throughput did not move: the verdict is withdrawn, something else holds it back.".to_owned()
        }
    }
}

fn add_sentence(verdict: &mut Verdict, sentence: &str) {
    if verdict.text.is_empty() {
        verdict.text = format!("{} of {}.", verdict.limit.name(), verdict.place);
    }
    verdict.text.push(' ');
    verdict.text.push_str(sentence);
}

/// `Tried: with 0.75 cores instead of 0.5 for web, 16 connections made 1,480 requests/s instead of 1,000, …`
fn tried_text(proof: &Proof, foretold: &Foretold) -> String {
    let with = &proof.raise;
    let load = connections_text(proof.connections);
    let bound = foretold.bound.as_ref().map_or_else(String::new, |bound| format!(", where {bound} stops it"));
    let foretold = format!("×{} was foretold{bound}", significant(foretold.ratio));
    let Some((after, ratio)) = proof.after_per_sec.zip(proof.ratio) else {
        return format!("Tried: with {with} {load} were to be loaded again, and {foretold}.");
    };
    let interval = ratio
        .interval
        .map_or_else(String::new, |(low, high)| format!(" ({} to {})", significant(low), significant(high)));
    format!(
        "Tried: with {with} {load} made {} requests/s instead of {}, ×{}{interval}; {foretold}.",
        count_text(after.value),
        count_text(proof.before_per_sec.value),
        significant(ratio.value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(value: f64, half: f64) -> Estimate {
        Estimate { value, interval: Some((value - half, value + half)) }
    }

    #[test]
    fn a_ratio_proves_if_it_reaches_what_was_foretold_and_withdraws_if_it_does_not() {
        assert_eq!(judged(1.5, seen(1.5, 0.01)), ProofOutcome::Proven);
        assert_eq!(judged(1.5, seen(1.35, 0.08)), ProofOutcome::Proven, "not quite, and within the interval");
        assert_eq!(judged(1.5, seen(1.35, 0.02)), ProofOutcome::Withdrawn);
        assert_eq!(judged(1.5, seen(1.0, 0.02)), ProofOutcome::Withdrawn);
        assert_eq!(judged(1.2, seen(1.19, 0.02)), ProofOutcome::Proven, "the next limit is lower");
        assert_eq!(judged(1.2, seen(1.5, 0.02)), ProofOutcome::Proven, "the next limit was told too low");
    }

    #[test]
    fn a_ratio_that_is_hardly_known_decides_nothing() {
        assert_eq!(judged(1.5, seen(1.3, 0.5)), ProofOutcome::Undecided);
        assert_eq!(judged(1.5, Estimate { value: 1.5, interval: None }), ProofOutcome::Undecided);
    }
}

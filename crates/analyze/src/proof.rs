//! Whether an intervention confirms a verdict: the prediction against the measurement.

use plimsoll_stats::ratio;

use crate::findings::{
    Advice, At, Confidence, Estimate, Evidence, Excluded, Findings, Flaw, Limit, Observation, Proof,
    ProofAttempt, ProofOutcome, Raise, Verdict,
};
use crate::load::knee::{TOLERANCE, counts_for_capacity, whole};
use crate::prediction::{cap_of, predict, repeated};
use crate::verdict::may_be_the_targets;

/// Compares a measured ratio with the predicted one. Throughput that moves further than predicted confirms the verdict too:
/// the prediction assumes that every use grows with the load.
fn judged(predicted: f64, seen: Estimate) -> ProofOutcome {
    let Some((low, high)) = seen.interval else { return ProofOutcome::Undecided };
    let reached = high >= predicted * (1.0 - TOLERANCE);
    match (reached, low > 1.0) {
        (true, true) => ProofOutcome::Proven,
        (true, false) => ProofOutcome::Undecided,
        (false, _) => ProofOutcome::Withdrawn,
    }
}

/// Adds the outcome of its proof to the verdict. `again` holds the findings of the second load alone.
pub(crate) fn apply_proof(findings: &mut Findings, tried: &Result<Raise, String>, again: &Findings) {
    let raise = match tried {
        Ok(raise) => raise,
        Err(why) => {
            findings.verdict.proof_attempt = Some(ProofAttempt::NotMade(why.clone()));
            return;
        }
    };
    if let Some(proof) = proof(findings, raise, again) {
        settle(&mut findings.verdict, proof);
    }
}

fn proof(findings: &Findings, raise: &Raise, again: &Findings) -> Option<Proof> {
    let step = repeated(findings)?;
    let named =
        cap_of(findings, step).filter(|(cap, _)| *cap == raise.cap && findings.verdict.host() == raise.host);
    let prediction = predict(findings, step, raise, named.and_then(|(_, resource)| resource));
    let first = &findings.steps[step];
    let second = again.steps.first();
    let ratio = second.and_then(|second| ratio(second.throughput, first.throughput));
    let judged = ratio.map_or(ProofOutcome::Undecided, |ratio| judged(prediction.ratio, ratio));
    // Rules change, and a file may be judged anew long after the intervention.
    let flaw = if named.is_some() { flaw(again, judged) } else { Some(Flaw::OtherVerdict) };
    Some(Proof {
        raise: raise.clone(),
        connections: first.connections,
        before_per_sec: first.throughput,
        after_per_sec: second.map(|second| second.throughput),
        ratio,
        predicted_ratio: prediction.ratio,
        bound: prediction.bound,
        outcome: if flaw.is_some() { ProofOutcome::Undecided } else { judged },
        flaw,
    })
}

/// Why the second load shows nothing; `None` if it shows something.
fn flaw(again: &Findings, judged: ProofOutcome) -> Option<Flaw> {
    let Some(step) = again.steps.first() else { return Some(Flaw::NotMade) };
    let is_own = |reason| !may_be_the_targets(reason);
    let by_generator = again.generator.reasons.iter().any(is_own)
        || (again.generator.healthy() && again.verdict.limit == Limit::Generator);
    match judged {
        _ if !whole(step) => Some(Flaw::CutShort),
        _ if !counts_for_capacity(step) => Some(Flaw::Failed),
        // A generator that was the limit held back a still higher throughput.
        ProofOutcome::Proven => None,
        _ if by_generator => Some(Flaw::Generator),
        ProofOutcome::Undecided => Some(Flaw::Vague),
        ProofOutcome::Withdrawn => None,
    }
}

fn settle(verdict: &mut Verdict, proof: Proof) {
    match proof.outcome {
        ProofOutcome::Proven => prove(verdict, &proof),
        ProofOutcome::Withdrawn => withdraw(verdict, &proof),
        ProofOutcome::Undecided => {}
    }
    verdict.evidence.extend(evidence(&proof));
    verdict.proof_attempt = Some(ProofAttempt::Made(Box::new(proof)));
}

fn evidence(proof: &Proof) -> Option<Evidence> {
    let (ratio, after) = (proof.ratio?, proof.after_per_sec?);
    Some(Evidence {
        observed: Observation::Raised(proof.raise.clone()),
        value: after.value,
        of: Some(proof.before_per_sec.value * proof.predicted_ratio),
        at: At::Again { connections: proof.connections, ratio: ratio.value },
    })
}

/// The alternatives are ruled out now: nothing of theirs was raised.
fn prove(verdict: &mut Verdict, proof: &Proof) {
    verdict.confidence = Confidence::Proven;
    let per_sec = proof.after_per_sec.map_or(0.0, |after| after.value);
    let settled = std::mem::take(&mut verdict.also).into_iter();
    verdict.excluded.extend(settled.map(|suspect| Excluded::NotRaised { suspect, per_sec }));
}

fn withdraw(verdict: &mut Verdict, proof: &Proof) {
    let is_known = proof.moved() || !verdict.also.is_empty();
    verdict.confidence = if is_known { Confidence::Inferred } else { Confidence::Unknown };
    verdict.advice = vec![Advice::SomethingElse];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(value: f64, half: f64) -> Estimate {
        Estimate { value, interval: Some((value - half, value + half)) }
    }

    #[test]
    fn a_ratio_proves_if_it_reaches_what_was_predicted_and_withdraws_if_it_does_not() {
        assert_eq!(judged(1.5, seen(1.5, 0.01)), ProofOutcome::Proven);
        assert_eq!(judged(1.5, seen(1.35, 0.08)), ProofOutcome::Proven, "not quite, and within the interval");
        assert_eq!(judged(1.5, seen(1.35, 0.02)), ProofOutcome::Withdrawn);
        assert_eq!(judged(1.5, seen(1.0, 0.02)), ProofOutcome::Withdrawn);
        assert_eq!(judged(1.2, seen(1.19, 0.02)), ProofOutcome::Proven, "the next limit is lower");
        assert_eq!(
            judged(1.2, seen(1.5, 0.02)),
            ProofOutcome::Proven,
            "the next limit was predicted too low"
        );
    }

    #[test]
    fn a_ratio_that_is_hardly_known_decides_nothing() {
        assert_eq!(judged(1.5, seen(1.3, 0.5)), ProofOutcome::Undecided);
        assert_eq!(judged(1.5, Estimate::exact(1.5)), ProofOutcome::Undecided);
    }
}

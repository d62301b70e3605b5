//! What became of an experiment on a verdict.

use plimsoll_analyze::{Experiment, Flaw, Proof, ProofOutcome, Raise};
use plimsoll_plan::Cap;
use plimsoll_units::{bytes_text, count_text, significant};

use crate::amount::{bits, connections, if_known, range};

/// The sentences about it.
pub(super) fn sentences(experiment: &Experiment) -> String {
    match experiment {
        Experiment::NotMade(why) => format!("The experiment was not made: {why}."),
        Experiment::Made(proof) => format!("{} {}", tried(proof), outcome(proof)),
    }
}

/// `0.75 cores instead of 0.5 for web`.
pub fn raise(raise: &Raise) -> String {
    let host = &raise.host;
    let (before, after) = (raise.before as f64, raise.after as f64);
    match raise.cap {
        Cap::Cores => format!("{} cores instead of {} for {host}", after / 1000.0, before / 1000.0),
        Cap::LinkOut => format!("{} out of {host} instead of {}", bits(after), bits(before)),
        Cap::LinkIn => format!("{} into {host} instead of {}", bits(after), bits(before)),
        Cap::Packets => {
            format!("{} packets/s for {host} instead of {}", count_text(after), count_text(before))
        }
        Cap::Memory => {
            format!("{} of memory for {host} instead of {}", bytes_text(after), bytes_text(before))
        }
        Cap::Disk => {
            format!("{}/s of the disk of {host} instead of {}/s", bytes_text(after), bytes_text(before))
        }
    }
}

/// `Tried: with 0.75 cores instead of 0.5 for web, 16 connections made 1,480 requests/s instead of 1,000, …`
fn tried(proof: &Proof) -> String {
    let with = raise(&proof.raise);
    let load = connections(proof.connections);
    let bound = if_known(proof.bound.as_ref(), |bound| format!(", where {bound} stops it"));
    let predicted = format!("×{} was predicted{bound}", significant(proof.predicted_ratio));
    let Some((after, ratio)) = proof.after_per_sec.zip(proof.ratio) else {
        return format!("Tried: with {with} {load} were to be loaded again, and {predicted}.");
    };
    let interval = range(ratio.interval, significant);
    format!(
        "Tried: with {with} {load} made {} requests/s instead of {}, ×{}{interval}; {predicted}.",
        count_text(after.value),
        count_text(proof.before_per_sec.value),
        significant(ratio.value)
    )
}

fn outcome(proof: &Proof) -> String {
    match proof.outcome {
        ProofOutcome::Proven => "That proves the verdict.".to_owned(),
        ProofOutcome::Withdrawn if proof.moved() => {
            "Throughput moved, but less than predicted: something else limits it too.".to_owned()
        }
        ProofOutcome::Withdrawn => {
            "Throughput did not rise: the verdict is withdrawn, something else is the limit.".to_owned()
        }
        ProofOutcome::Undecided => {
            format!("That decides nothing: {}.", proof.flaw.map_or("", flaw))
        }
    }
}

fn flaw(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::NotMade => "the load was not made again",
        Flaw::CutShort => "that load was cut short",
        Flaw::Failed => "more than 5 % of its requests failed",
        Flaw::Generator => "the load generator was the limit then",
        Flaw::Vague => "throughput is not known well enough: give steps more time",
        Flaw::OtherVerdict => "that is not what this verdict names",
    }
}

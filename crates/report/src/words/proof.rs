//! The outcome of a verdict's proof, in words.

use plimsoll_analyze::{Bound, Flaw, Proof, ProofAttempt, ProofOutcome, Raise, ResourceKind, UntriedVerdict};
use plimsoll_plan::Cap;
use plimsoll_units::{bytes_text, count_text, share_text, significant};

use crate::amount::{bits, connections, if_known, range};

/// Returns the sentences about a proof.
pub(super) fn sentences(attempt: &ProofAttempt) -> String {
    match attempt {
        ProofAttempt::NotMade(why) => format!("The proof was not made: {why}."),
        ProofAttempt::Made(proof) => format!("{} {}", tried(proof), outcome(proof)),
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
    let bound = if_known(proof.bound.as_ref(), |bound| format!(", where {} stops it", bound_name(bound)));
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

/// Returns why a verdict was not tried, to follow a colon.
pub fn untried(why: &UntriedVerdict) -> String {
    match why {
        UntriedVerdict::NoLevel => {
            "there is no level that could be loaded again: growth was not seen to stop at one".to_owned()
        }
        UntriedVerdict::Generator => "the load generator was the limit".to_owned(),
        UntriedVerdict::NoLimit => "no limit was named that could be raised".to_owned(),
        UntriedVerdict::NoCap { limit, place } => {
            format!("{} of {place} is nothing that a lab can raise", limit.name())
        }
        UntriedVerdict::NotCapped { host, cap } => format!("{host} has no cap of {} in this lab", cap.name()),
        UntriedVerdict::Bounded { host, cap, bound, ratio } => format!(
            "more {} for {host} would show nothing: {} allows only {} more",
            cap.name(),
            bound_name(bound),
            share_text((ratio - 1.0).max(0.0))
        ),
    }
}

/// `cpu of web`, `the rate that is offered`.
fn bound_name(bound: &Bound) -> String {
    match bound {
        Bound::Next { limit, place } => format!("{} of {place}", limit.name()),
        Bound::OtherWay { resource, place } => format!("{} of {place}", kind_name(*resource)),
        Bound::OfferedRate => "the rate that is offered".to_owned(),
        Bound::Connections(count) => format!("what {} can ask for", connections(*count)),
    }
}

fn kind_name(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Cpu | ResourceKind::Machine => "cpu",
        ResourceKind::Core => "core",
        ResourceKind::AllowedCores => "allowed cores",
        ResourceKind::Thread => "thread",
        ResourceKind::Quota => "quota",
        ResourceKind::BandwidthOut => "bandwidth out",
        ResourceKind::BandwidthIn => "bandwidth in",
        ResourceKind::BandwidthBoth => "bandwidth both",
        ResourceKind::PacketsOut => "packets out",
        ResourceKind::PacketsIn => "packets in",
        ResourceKind::Disk => "disk",
        ResourceKind::DiskRead => "disk read",
        ResourceKind::DiskWrite => "disk write",
        ResourceKind::Memory => "memory",
        ResourceKind::Descriptors => "descriptors",
        ResourceKind::AcceptQueue => "accept queue",
        ResourceKind::Connections => "connections",
        ResourceKind::Pool => "pool",
    }
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

#[cfg(test)]
mod tests {
    use plimsoll_analyze::{Limit, Place};

    use super::*;

    #[test]
    fn what_bounds_a_proof_is_named() {
        let untried = |bound: Bound| {
            let (host, cap) = ("web".to_owned(), Cap::Cores);
            untried(&UntriedVerdict::Bounded { host, cap, bound, ratio: 1.02 })
        };
        let place = Place::host("api");
        assert_eq!(
            untried(Bound::Next { limit: Limit::Cpu, place: place.clone() }),
            "more cores for web would show nothing: cpu of api allows only 2.0 % more"
        );
        let other_way = untried(Bound::OtherWay { resource: ResourceKind::BandwidthIn, place });
        assert!(other_way.contains(": bandwidth in of api allows"), "{other_way}");
        let one = untried(Bound::Connections(1));
        assert!(one.contains(": what 1 connection can ask for allows"), "{one}");
    }
}

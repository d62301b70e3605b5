//! The finding about what limits the target.

use super::{Advice, Claim, Confidence, Estimate, Evidence, Limit, Place, ProofAttempt};
use crate::hosts::resource::{ResourceId, ResourceUse};

/// Another limit that the evidence does not exclude.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    pub limit: Limit,
    pub place: Place,
    /// The throughput at which it stops growth, in requests per second; `None` if unknown.
    pub at_per_sec: Option<f64>,
}

/// The limit that comes next once the present one is removed.
#[derive(Debug, Clone, PartialEq)]
pub struct NextLimit {
    pub limit: Limit,
    pub place: Place,
    pub resource: ResourceId,
    /// The throughput at which it is reached, in requests per second.
    pub at_per_sec: Estimate,
}

/// Something that is not the limit, or that could not be ruled out for lack of samples.
#[derive(Debug, Clone, PartialEq)]
pub enum Excluded {
    /// The most used resource of a host among those that the verdict does not name.
    MostUsed(ResourceUse),
    /// A host's CPU that others use most of and that the target does not wait for; `by_others` is the share that they use.
    UsedByOthers { used: ResourceUse, by_others: f64 },
    /// A host whose CPU was not observed, so that it is not ruled out; `why` is the reason if it could not be read.
    Unobserved { host: String, why: Option<String> },
    /// The generator, with the share of a core that its busiest worker used.
    Generator(f64),
    /// A suspect that an intervention did not raise, while throughput rose to `per_sec` requests per second.
    NotRaised { suspect: Suspect, per_sec: f64 },
}

/// What limits the target, with evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub limit: Limit,
    pub place: Place,
    pub confidence: Confidence,
    /// How many there are of a limiting resource that can be counted, such as the workers of a pool.
    pub size: Option<Estimate>,
    /// What a rule found; `None` where the verdict rests on the load alone.
    pub claim: Option<Claim>,
    /// The most used resource among those that the verdict does not name.
    pub busiest_other: Option<ResourceUse>,
    pub evidence: Vec<Evidence>,
    /// Limits that the evidence does not distinguish from this one.
    pub also: Vec<Suspect>,
    /// The limit that comes next, if it is known.
    pub next_limit: Option<NextLimit>,
    pub excluded: Vec<Excluded>,
    pub advice: Vec<Advice>,
    /// The outcome of its proof, if one was to be tried.
    pub proof_attempt: Option<ProofAttempt>,
}

impl Verdict {
    /// Creates a verdict without a claim, evidence or advice.
    pub fn new(limit: Limit, place: Place, confidence: Confidence) -> Self {
        Self {
            limit,
            place,
            confidence,
            size: None,
            claim: None,
            busiest_other: None,
            evidence: Vec::new(),
            also: Vec::new(),
            next_limit: None,
            excluded: Vec::new(),
            advice: Vec::new(),
            proof_attempt: None,
        }
    }

    /// True if the load generator uses a part of the limiting CPU, so that the target would serve more without it.
    pub fn is_shared_with_generator(&self) -> bool {
        let part = match &self.claim {
            Some(Claim::Cpu { generator, .. } | Claim::CpuTaken { generator, .. }) => *generator,
            _ => None,
        };
        part.is_some()
    }

    /// The name of the host, `generator`, or the address of the place; empty where no place is known.
    pub fn host(&self) -> &str {
        self.place.host_name()
    }

    /// Its proof; `None` if none was made.
    pub fn proof(&self) -> Option<&super::Proof> {
        match &self.proof_attempt {
            Some(ProofAttempt::Made(proof)) => Some(proof),
            Some(ProofAttempt::NotMade(_)) | None => None,
        }
    }
}

impl Suspect {
    /// The name of the host, `generator`, or the address of the place; empty where no place is known.
    pub fn host(&self) -> &str {
        self.place.host_name()
    }
}

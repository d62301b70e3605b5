//! The finding about what limits the target.

use super::{Advice, Claim, Confidence, Estimate, Evidence, Limit, Place, ProofAttempt};
use crate::hosts::resource::{ResourceId, ResourceUse};

/// Something that may be the limit as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    pub limit: Limit,
    pub place: Place,
    /// At which throughput it stops growth, in requests per second, if that is known.
    pub at_per_sec: Option<f64>,
}

/// The limit that comes when this one is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct NextLimit {
    pub limit: Limit,
    pub place: Place,
    pub resource: ResourceId,
    /// At which throughput, in requests per second.
    pub at_per_sec: Estimate,
}

/// What is not the limit.
#[derive(Debug, Clone, PartialEq)]
pub enum Excluded {
    /// Of a host, the resource that was used most among those that are not named.
    MostUsed(ResourceUse),
    /// A host's CPU that others than the target use most of, by the share that these use, and that it does not wait for.
    UsedByOthers { used: ResourceUse, by_others: f64 },
    /// A host whose CPU was not observed, which rules nothing out, and why, if it could not be read.
    Unobserved { host: String, why: Option<String> },
    /// The generator, by the share of a core that its busiest worker used.
    Generator(f64),
    /// What an intervention did not raise, and which let so many requests per second through.
    NotRaised { suspect: Suspect, per_sec: f64 },
}

/// What limits the target, with evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub limit: Limit,
    pub place: Place,
    pub confidence: Confidence,
    /// How many there are of what is used up, where it is something that can be counted: the workers of a pool.
    pub size: Option<Estimate>,
    /// What was found; `None` where the verdict is made from the load alone.
    pub claim: Option<Claim>,
    /// The resource that was used most among those that are not named.
    pub busiest_other: Option<ResourceUse>,
    pub evidence: Vec<Evidence>,
    /// What the evidence does not distinguish from it.
    pub also: Vec<Suspect>,
    /// The limit that comes next, if it is known.
    pub next_limit: Option<NextLimit>,
    pub excluded: Vec<Excluded>,
    pub advice: Vec<Advice>,
    /// What became of its proof, if one was to be tried.
    pub proof_attempt: Option<ProofAttempt>,
}

impl Verdict {
    /// A verdict with nothing but its claim.
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

    /// True if the load generator has a part of what limits the target, so that the target would serve more without it.
    pub fn is_shared_with_generator(&self) -> bool {
        let part = match &self.claim {
            Some(Claim::Cpu { generator, .. } | Claim::CpuTaken { generator, .. }) => *generator,
            _ => None,
        };
        part.is_some()
    }

    /// The host's name, the generator, or an address that is not watched; empty where no place is known.
    pub fn host(&self) -> &str {
        self.place.host_name()
    }

    /// Its proof, if one was tried.
    pub fn proof(&self) -> Option<&super::Proof> {
        match &self.proof_attempt {
            Some(ProofAttempt::Made(proof)) => Some(proof),
            Some(ProofAttempt::NotMade(_)) | None => None,
        }
    }
}

impl Suspect {
    /// The host's name, the generator, or an address that is not watched; empty where no place is known.
    pub fn host(&self) -> &str {
        self.place.host_name()
    }
}

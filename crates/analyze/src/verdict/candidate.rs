//! Candidates: possible limits, each found by one rule.

use super::context::RuleContext;
use crate::findings::{Advice, Claim, Estimate, Evidence, Limit, Place, Suspect};
use crate::groups::firsts;

/// How well a candidate is founded, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Basis {
    /// Used at any load, as by threads that poll without pause: that it is full shows nothing.
    Polled,
    /// Found by elimination, or not known to be used by requests.
    Inferred,
    /// Observed at its limit, and used by requests.
    Observed,
}

impl Basis {
    /// `Observed` if requests are known to have caused the observation, otherwise `Inferred`.
    pub(super) fn observed(is_certain: bool) -> Self {
        if is_certain { Self::Observed } else { Self::Inferred }
    }
}

/// The use of a host's CPU that a candidate explains: a limit found from that use is not one of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Explains {
    Nothing,
    /// The use of the process at the candidate's place: this many cores, `None` where the number is unknown.
    Process {
        cores: Option<f64>,
    },
    /// All use of the host.
    Host,
}

/// A possible limit, found by one rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) limit: Limit,
    pub(crate) place: Place,
    pub(crate) basis: Basis,
    /// The share of it that was used; `None` for a limit without a share.
    pub(crate) share: Option<f64>,
    /// The throughput at which it is used up, where a law gives that.
    pub(crate) at_per_sec: Option<Estimate>,
    pub(crate) size: Option<Estimate>,
    /// What was found; `None` for a candidate that is only named as an alternative.
    pub(crate) claim: Option<Claim>,
    pub(crate) evidence: Vec<Evidence>,
    /// Other limits that the same observations may come from.
    pub(crate) alternatives: Vec<Candidate>,
    pub(crate) explains: Explains,
    pub(crate) advice: Vec<Advice>,
}

impl Candidate {
    /// An alternative to another candidate: a limit and a place alone.
    pub(super) fn named(limit: Limit, place: Place) -> Self {
        Self {
            limit,
            place,
            basis: Basis::Inferred,
            share: None,
            at_per_sec: None,
            size: None,
            claim: None,
            evidence: Vec::new(),
            alternatives: Vec::new(),
            explains: Explains::Nothing,
            advice: Vec::new(),
        }
    }

    /// A candidate found by elimination.
    pub(super) fn new(limit: Limit, place: Place, claim: impl Into<Claim>) -> Self {
        Self { claim: Some(claim.into()), ..Self::named(limit, place) }
    }

    /// The name of the host, `generator`, or the address of the place; empty where no place is known.
    pub(super) fn host(&self) -> &str {
        self.place.host_name()
    }

    /// True if it was observed at its limit and is used by requests.
    pub(super) fn is_observed(&self) -> bool {
        self.basis == Basis::Observed
    }

    /// The share that was used; 1 for a limit without a share.
    pub(super) fn share(&self) -> f64 {
        self.share.unwrap_or(1.0)
    }

    /// The cores used, for processors or a quota.
    pub(super) fn cores(&self) -> Option<f64> {
        match &self.claim {
            Some(
                Claim::Cpu { used, .. }
                | Claim::NetworkCore { used, .. }
                | Claim::AllowedCores { used }
                | Claim::CpuTaken { used, .. }
                | Claim::Quota { used, .. },
            ) => Some(used.share * used.capacity),
            _ => None,
        }
    }

    /// The throughput at which it limits: by a law, or else where its share would reach 1.
    pub(super) fn met_at_per_sec(&self, ctx: &RuleContext<'_>) -> f64 {
        let reached = ctx.throughput() / self.share().max(f64::MIN_POSITIVE);
        self.at_per_sec.map_or(reached, |at| at.value)
    }

    /// The candidate without its claim and evidence.
    pub(super) fn suspect(&self, ctx: &RuleContext<'_>) -> Suspect {
        let known = self.at_per_sec.is_some() || self.share() > 0.0;
        let at_per_sec = known.then(|| self.met_at_per_sec(ctx));
        Suspect { limit: self.limit, place: self.place.clone(), at_per_sec }
    }

    /// Puts this candidate in place of `other`, which rests on the same observations; `other` and its alternatives remain alternatives.
    pub(super) fn in_place_of(mut self, mut other: Self) -> Self {
        let mut alternatives = std::mem::take(&mut other.alternatives);
        alternatives.retain(|alternative| alternative.limit != self.limit);
        if other.basis == Basis::Polled {
            self.basis = Basis::Polled;
        }
        alternatives.insert(0, other);
        self.alternatives = alternatives;
        self
    }
}

/// Orders the best founded first, and among those the fullest.
fn by_rank(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.basis.cmp(&a.basis).then_with(|| b.share().total_cmp(&a.share()))
}

/// The best candidate for each limit of a host, by rank.
pub(super) fn once_each(mut all: Vec<Candidate>) -> Vec<Candidate> {
    all.sort_by(by_rank);
    firsts(all, |a, b| a.limit == b.limit && a.host() == b.host())
}

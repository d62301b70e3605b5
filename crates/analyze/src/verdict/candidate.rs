//! What one rule found.

use super::context::RuleContext;
use crate::findings::{Advice, Claim, Estimate, Evidence, Limit, Place, Suspect};
use crate::groups::firsts;

/// How well a candidate is founded, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Basis {
    /// It is used whatever the load, as by threads that poll without pause: that it is full shows nothing.
    Polled,
    /// By elimination, or its use is not known to be of requests.
    Inferred,
    /// It was observed at its end, and used by requests.
    Observed,
}

impl Basis {
    /// What an observation is worth that requests caused, or may not have.
    pub(super) fn observed(is_certain: bool) -> Self {
        if is_certain { Self::Observed } else { Self::Inferred }
    }
}

/// What of a host's CPU a candidate explains: what is found of that use is no limit of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Explains {
    Nothing,
    /// What the process at the candidate's place does, and so many cores; `None` where it is not known how many.
    Process {
        cores: Option<f64>,
    },
    /// All that is used of the host.
    Host,
}

/// Something that may be the limit, by one rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) limit: Limit,
    pub(crate) place: Place,
    pub(crate) basis: Basis,
    /// The share of it that was used; `None` for what has no share and limits as it is.
    pub(crate) share: Option<f64>,
    /// At which throughput it is used up, where a law says that.
    pub(crate) at_per_sec: Option<Estimate>,
    pub(crate) size: Option<Estimate>,
    /// What was found; `None` for what is only named as an alternative.
    pub(crate) claim: Option<Claim>,
    pub(crate) evidence: Vec<Evidence>,
    /// What the same observations may be of.
    pub(crate) alternatives: Vec<Candidate>,
    pub(crate) explains: Explains,
    pub(crate) advice: Vec<Advice>,
}

impl Candidate {
    /// An alternative to another candidate: nothing but a limit and a place.
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

    /// A candidate by elimination.
    pub(super) fn new(limit: Limit, place: Place, claim: impl Into<Claim>) -> Self {
        Self { claim: Some(claim.into()), ..Self::named(limit, place) }
    }

    /// The host's name, the generator, or an address that is not watched; empty where no place is known.
    pub(super) fn host(&self) -> &str {
        self.place.host_name()
    }

    /// True if it was observed at its end.
    pub(super) fn is_observed(&self) -> bool {
        self.basis == Basis::Observed
    }

    /// The share that was used; all of it for what has none.
    pub(super) fn share(&self) -> f64 {
        self.share.unwrap_or(1.0)
    }

    /// Cores that were used of what it names, where that is processors or a quota.
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

    /// The throughput at which it limits: where it is used up, as far as its use or a law says that.
    pub(super) fn met_at_per_sec(&self, ctx: &RuleContext<'_>) -> f64 {
        let reached = ctx.throughput() / self.share().max(f64::MIN_POSITIVE);
        self.at_per_sec.map_or(reached, |at| at.value)
    }

    /// The same without what it rests on.
    pub(super) fn suspect(&self, ctx: &RuleContext<'_>) -> Suspect {
        let known = self.at_per_sec.is_some() || self.share() > 0.0;
        let at_per_sec = known.then(|| self.met_at_per_sec(ctx));
        Suspect { limit: self.limit, place: self.place.clone(), at_per_sec }
    }

    /// This in place of another one that the same observations are of; the other stays as an alternative, with its own.
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

/// The best founded first, and the fullest of these.
fn by_rank(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.basis.cmp(&a.basis).then_with(|| b.share().total_cmp(&a.share()))
}

/// The best candidate for each limit of a host, by rank.
pub(super) fn once_each(mut all: Vec<Candidate>) -> Vec<Candidate> {
    all.sort_by(by_rank);
    firsts(all, |a, b| a.limit == b.limit && a.host() == b.host())
}

//! The proof of a verdict by intervention: a cap is raised, and the same load is made again.

use super::{Estimate, Limit, Place, Raise};

/// Whether throughput moved as predicted after the limiting cap was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofOutcome {
    Proven,
    Withdrawn,
    Undecided,
}

impl ProofOutcome {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Withdrawn => "withdrawn",
            Self::Undecided => "undecided",
        }
    }
}

/// The outcome of a proof that was to be tried.
#[derive(Debug, Clone, PartialEq)]
pub enum ProofAttempt {
    Made(Box<Proof>),
    /// The reason why it was not made, as recorded in the run file.
    NotMade(String),
}

/// The proof of a verdict: the cap that was raised, and the throughput of the same load before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    pub raise: Raise,
    pub connections: u32,
    /// Throughput before the raise, in requests per second.
    pub before_per_sec: Estimate,
    /// Throughput after the raise, in requests per second; `None` if the load was not repeated.
    pub after_per_sec: Option<Estimate>,
    /// `after_per_sec` over `before_per_sec`, with Fieller's interval.
    pub ratio: Option<Estimate>,
    /// The ratio to expect if the verdict is right.
    pub predicted_ratio: f64,
    /// What else bounds the predicted ratio; `None` if nothing does.
    pub bound: Option<Bound>,
    pub outcome: ProofOutcome,
    /// Why the proof decides nothing; `None` if it decides.
    pub flaw: Option<Flaw>,
}

impl Proof {
    /// True if throughput grew: the interval of the ratio lies above 1.
    pub fn moved(&self) -> bool {
        self.ratio.and_then(|ratio| ratio.interval).is_some_and(|(low, _)| low > 1.0)
    }
}

/// What bounds throughput once a cap is raised.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    Next {
        limit: Limit,
        place: Place,
    },
    /// The other direction of the same link.
    OtherWay {
        resource: crate::hosts::resource::ResourceKind,
        place: Place,
    },
    OfferedRate,
    /// The throughput that this number of connections can request.
    Connections(u32),
}

/// Why the repeated load shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    NotMade,
    CutShort,
    Failed,
    Generator,
    /// Its throughput is not known precisely enough.
    Vague,
    /// The verdict now names another limit than the one that was raised: the rules have changed since the run was recorded.
    OtherVerdict,
}

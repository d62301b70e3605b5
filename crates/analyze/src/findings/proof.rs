//! The proof of a verdict by intervention: a cap is raised, and the same load is made again.

use super::{Estimate, Limit, Place, Raise};

/// Whether throughput moved as predicted when what limits was raised.
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

/// A proof that was to be tried.
#[derive(Debug, Clone, PartialEq)]
pub enum ProofAttempt {
    Made(Box<Proof>),
    /// It was not, and why: as the run file has it.
    NotMade(String),
}

/// The proof of a verdict: what was raised, and what the same load came to then.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    pub raise: Raise,
    pub connections: u32,
    /// Its throughput before, in requests per second.
    pub before_per_sec: Estimate,
    /// Its throughput afterwards, in requests per second; `None` if it was not loaded again.
    pub after_per_sec: Option<Estimate>,
    /// The second over the first, with Fieller's interval.
    pub ratio: Option<Estimate>,
    /// What that ratio should be if the verdict is right.
    pub predicted_ratio: f64,
    /// What else bounds the predicted ratio, if something does.
    pub bound: Option<Bound>,
    pub outcome: ProofOutcome,
    /// Why it decides nothing, if it does not.
    pub flaw: Option<Flaw>,
}

impl Proof {
    /// True if throughput grew for certain.
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
    /// The other way of the same link.
    OtherWay {
        resource: crate::hosts::resource::ResourceKind,
        place: Place,
    },
    OfferedRate,
    /// What so many connections can ask for.
    Connections(u32),
}

/// Why the load that was made again says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    NotMade,
    CutShort,
    Failed,
    Generator,
    /// Its throughput is not known well enough.
    Vague,
    /// What was raised is not what the verdict names now: rules change, and files stay.
    OtherVerdict,
}

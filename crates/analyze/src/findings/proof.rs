//! What came of an experiment on the verdict.

use super::{Estimate, Limit, Place, Raise};

/// Whether throughput moved as predicted when what limits was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofOutcome {
    /// It did.
    Proven,
    /// It did not.
    Withdrawn,
    /// That is not known.
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

/// An experiment that was to be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Experiment {
    /// It was made.
    Made(Box<Proof>),
    /// It was not, and why: as the run file has it.
    NotMade(String),
}

/// An experiment on the verdict: what was raised, and what the same load came to then.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// What was raised.
    pub raise: Raise,
    /// Connections of the level that was loaded again.
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
    /// What that says of the verdict.
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
    /// The next limit.
    Next {
        /// What it is.
        limit: Limit,
        /// Where.
        place: Place,
    },
    /// The other way of the same link.
    OtherWay {
        /// The name of the resource.
        resource: crate::hosts::resource::ResourceKind,
        /// Where.
        place: Place,
    },
    /// The rate that is offered.
    OfferedRate,
    /// What so many connections can ask for.
    Connections(u32),
}

/// Why the load that was made again says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It was not made.
    NotMade,
    /// It was cut short.
    CutShort,
    /// Too many of its requests failed.
    Failed,
    /// The generator was the limit.
    Generator,
    /// Its throughput is not known well enough.
    Vague,
    /// What was raised is not what the verdict names now: rules change, and files stay.
    OtherVerdict,
}

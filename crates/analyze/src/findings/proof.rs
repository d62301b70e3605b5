//! What came of an experiment on the verdict.

use super::Estimate;
use crate::Raise;

/// Whether throughput moved as foretold when what limits was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofOutcome {
    /// It did.
    Proven,
    /// It did not.
    Withdrawn,
    /// That cannot be told.
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
    pub foretold_ratio: f64,
    /// What that says of the verdict.
    pub outcome: ProofOutcome,
}

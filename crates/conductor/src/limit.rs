//! Limits of this machine and of the target's that a plan meets.

use std::fmt;

/// What there is too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarce {
    /// Descriptors of this process, counted in connections.
    Descriptors,
    /// Local ports to the target, counted in connections.
    Ports,
    /// Connections that the target lets wait to be accepted.
    Backlog,
    /// Cores this process may run on, counted in worker threads.
    Cores,
}

/// What a limit does to the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It cannot be run.
    Refused,
    /// Its open end is brought within the limit.
    Lowered,
    /// It is run, and the limit may show in the result.
    Risked,
}

/// A limit that a plan meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What there is too little of.
    pub scarce: Scarce,
    /// How much the plan may need.
    pub needed: u64,
    /// How much there is.
    pub available: u64,
    /// What that does to the plan.
    pub effect: Effect,
    /// The command that lifts it.
    pub remedy: String,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { needed, available, remedy, .. } = self;
        let bound = match self.scarce {
            Scarce::Descriptors => "descriptors of this process",
            Scarce::Ports => "local ports to the target",
            Scarce::Backlog => {
                return write!(
                    f,
                    "the plan may open {needed} connections at once, and the target lets {available} wait to be \
                     accepted: what is beyond loses a second or is refused; {remedy}"
                );
            }
            Scarce::Cores => {
                return write!(
                    f,
                    "{needed} busy threads share {available} of this machine's cores: latency includes their \
                     waiting for each other; {remedy}"
                );
            }
        };
        match self.effect {
            Effect::Lowered => {
                write!(
                    f,
                    "at most {available} connections instead of {needed}: {bound} allow no more; {remedy}"
                )
            }
            Effect::Refused | Effect::Risked => write!(
                f,
                "the plan asks for {needed} connections, and this machine allows {available} ({bound}); {remedy}"
            ),
        }
    }
}

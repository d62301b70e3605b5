//! The finding about what limits the target.

use super::{Estimate, Proof};

/// What limits. `docs/verdict.md` tells what each value rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The processors of a host are busy, by the target or by a neighbour.
    Cpu,
    /// One thread, or a process that has one, is busy on a host with idle processors.
    Thread,
    /// The processor quota of a process's own control group, below what its host has.
    Quota,
    /// Bits per second of a link, one way.
    Bandwidth,
    /// Packets per second of a link.
    Packets,
    /// Requests wait for a disk.
    Disk,
    /// Too little memory: swapping, reclaim at a limit, or garbage collection.
    Memory,
    /// Connections: a full accept queue, descriptors, or a server's own most.
    Connections,
    /// A fixed number of workers or connections, each held for the whole of a request.
    Pool,
    /// Requests take turns at one thing.
    Lock,
    /// Time is spent waiting for something that is not probed.
    Dependency,
    /// The target refuses by policy what is more than it allows.
    Refused,
    /// The load generator itself.
    Generator,
    /// The target was not pushed to its limit.
    None,
    /// The target was pushed to its limit, and what it is cannot be told.
    Unknown,
}

impl Limit {
    /// Every value.
    pub const ALL: [Self; 15] = [
        Self::Cpu,
        Self::Thread,
        Self::Quota,
        Self::Bandwidth,
        Self::Packets,
        Self::Disk,
        Self::Memory,
        Self::Connections,
        Self::Pool,
        Self::Lock,
        Self::Dependency,
        Self::Refused,
        Self::Generator,
        Self::None,
        Self::Unknown,
    ];

    /// True for a limit that holds however late requests are sent: a resource of which nothing was left, or a rate that
    /// the target itself keeps to.
    pub(crate) fn is_whatever_the_pace(self) -> bool {
        matches!(
            self,
            Self::Cpu | Self::Thread | Self::Quota | Self::Bandwidth | Self::Packets | Self::Refused
        )
    }

    /// The word for it in JSON and in plan files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Thread => "thread",
            Self::Quota => "quota",
            Self::Bandwidth => "bandwidth",
            Self::Packets => "packets",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Connections => "connections",
            Self::Pool => "pool",
            Self::Lock => "lock",
            Self::Dependency => "dependency",
            Self::Refused => "refused",
            Self::Generator => "generator",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }
}

/// How well a verdict is founded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// An intervention moved it as predicted.
    Proven,
    /// Seen directly.
    Measured,
    /// By elimination, or from a law.
    Inferred,
    /// Not founded.
    Unknown,
}

impl Confidence {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Measured => "measured",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }
}

/// One line of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceRow {
    /// What was looked at.
    pub what: String,
    /// What was seen.
    pub value: f64,
    /// Of what capacity, or against what, if there is such.
    pub of: Option<f64>,
    /// Where: `600 connections`.
    pub at: String,
}

/// Something that may be the limit as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// What it would be.
    pub limit: Limit,
    /// Where.
    pub place: String,
    /// At which throughput it stops growth, in requests per second, if that is known.
    pub at_per_sec: Option<f64>,
}

/// The limit that comes when this one is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct NextLimit {
    /// What it is.
    pub limit: Limit,
    /// Where.
    pub place: String,
    /// At which throughput, in requests per second.
    pub at_per_sec: Estimate,
}

/// What limits the target, with evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// What limits.
    pub limit: Limit,
    /// Where: a host's name, or `host: process, thread or interface`; `generator`; where no host is known, the target's
    /// authority.
    pub place: String,
    /// How well that is founded.
    pub confidence: Confidence,
    /// How many there are of what is used up, where it is something that can be counted: the workers of a pool.
    pub size: Option<Estimate>,
    /// The evidence.
    pub evidence: Vec<EvidenceRow>,
    /// What the evidence does not tell apart from it.
    pub also: Vec<Suspect>,
    /// The limit that comes next, if it can be told.
    pub next_limit: Option<NextLimit>,
    /// What is not the limit, and why: a sentence each.
    pub excluded: Vec<String>,
    /// What to try next.
    pub advice: Vec<String>,
    /// The verdict in one paragraph; empty where the load alone was looked at.
    pub text: String,
    /// What became of the experiment on it, if there was one.
    pub proof: Option<Proof>,
}

impl Verdict {
    /// A verdict with nothing but its claim.
    pub fn new(limit: Limit, place: impl Into<String>, confidence: Confidence) -> Self {
        Self {
            limit,
            place: place.into(),
            confidence,
            size: None,
            evidence: Vec::new(),
            also: Vec::new(),
            next_limit: None,
            excluded: Vec::new(),
            advice: Vec::new(),
            text: String::new(),
            proof: None,
        }
    }

    /// The host's name alone, without what of it.
    pub fn host(&self) -> &str {
        host_of(&self.place)
    }
}

impl Suspect {
    /// The host's name alone, without what of it.
    pub fn host(&self) -> &str {
        host_of(&self.place)
    }
}

/// A name and what of it are parted by a colon and a blank; in an address no blank follows a colon.
fn host_of(place: &str) -> &str {
    place.split_once(": ").map_or(place, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_place_is_what_stands_before_its_detail() {
        let host = |place: &str| Verdict::new(Limit::Cpu, place, Confidence::Measured).host().to_owned();
        assert_eq!(host("web: 12 nginx"), "web");
        assert_eq!(host("web"), "web");
        assert_eq!(host("10.0.0.1:8080"), "10.0.0.1:8080");
        assert_eq!(host("[::1]:80"), "[::1]:80");
    }

    #[test]
    fn every_limit_has_a_word_of_its_own() {
        let mut names: Vec<&str> = Limit::ALL.iter().map(|limit| limit.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Limit::ALL.len());
    }
}

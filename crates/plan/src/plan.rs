//! The checked plan, frozen before anything runs.

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::requests::{CsvFile, MixedRequest, RequestGroup, hex};
use crate::{
    ArrivalProcess, Capacity, Network, OverloadOrder, PlanHost, ProfileOrder, RateProfile, Slo, Target,
    TlsSpec,
};

/// One load level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A fixed number of connections, each with up to `depth` requests under way (pipelined in HTTP/1.1, streams in HTTP/2).
    /// A connection sends the next request when one is answered. The concurrency of the level is connections × depth.
    Closed { connections: u32, depth: u16 },
    /// Requests fall due by a schedule, whether or not earlier ones are answered. `connections` are open at the start; more
    /// are opened as needed.
    Open { profile: RateProfile, arrivals: ArrivalProcess, connections: u32, depth: u16 },
}

impl Level {
    /// The connections of a closed loop, or the connections that an open loop begins with.
    pub fn connections(&self) -> u32 {
        let (Self::Closed { connections, .. } | Self::Open { connections, .. }) = self;
        *connections
    }

    /// The most requests under way on one connection.
    pub fn depth(&self) -> u16 {
        let (Self::Closed { depth, .. } | Self::Open { depth, .. }) = self;
        *depth
    }

    /// Mutable access to [`Self::depth`], to lower it to what a server allows.
    pub fn depth_mut(&mut self) -> &mut u16 {
        let (Self::Closed { depth, .. } | Self::Open { depth, .. }) = self;
        depth
    }

    /// The offered rate over time; `None` for a closed loop.
    pub fn profile(&self) -> Option<&RateProfile> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { profile, .. } => Some(profile),
        }
    }
}

/// The levels of a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LadderSteps {
    /// 1, 2, 4 … until throughput no longer grows.
    Doubling { connections_max: u32 },
    /// Exactly these numbers of connections.
    Fixed(Vec<u32>),
}

/// What load to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// One level for a fixed time.
    Single {
        level: Level,
        /// The longest time for which the level is held.
        duration: Duration,
        /// The level ends earlier once this many requests have fallen due over all workers.
        requests_max: Option<u64>,
    },
    /// One closed-loop level after another, each until it is known well enough.
    Ladder {
        #[serde(rename = "rungs")]
        steps: LadderSteps,
        depth: u16,
        step_limit: Duration,
        budget: Option<Duration>,
    },
}

/// A search warms up at this many connections: enough to keep every core of a usual target busy, and no flood.
const WARM_CONNECTIONS: u32 = 32;

impl Load {
    /// The number of steps; an upper bound for a ladder that ends by itself.
    pub fn steps_max(&self) -> u32 {
        match self {
            Self::Single { .. } => 1,
            Self::Ladder { steps: LadderSteps::Fixed(steps), .. } => steps.len() as u32,
            // 1, 2, 4 … and the highest.
            Self::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } => {
                1 + connections_max.next_power_of_two().trailing_zeros()
            }
        }
    }

    /// The level at which a target is warmed up before the first step. A single closed loop: that level; an open loop: its
    /// mean rate. A ladder: its most connections, but at most 32 if the ladder finds its own end.
    pub fn warming(&self) -> Level {
        match self {
            Self::Single { level, .. } => {
                let mut level = level.clone();
                if let Level::Open { profile, .. } = &mut level {
                    *profile = RateProfile::Constant(profile.mean_per_sec());
                }
                level
            }
            Self::Ladder { steps, depth, .. } => {
                let connections = match steps {
                    LadderSteps::Doubling { connections_max } => WARM_CONNECTIONS.min(*connections_max),
                    LadderSteps::Fixed(steps) => steps.iter().copied().max().unwrap_or(1),
                };
                Level::Closed { connections, depth: *depth }
            }
        }
    }
}

/// A way to move bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriverKind {
    /// Readiness, by epoll: on every Linux.
    Epoll,
    /// Completions, by io_uring: from Linux 6.1 on, unless the system forbids it.
    IoUring,
}

impl DriverKind {
    /// All drivers, in the order of their declaration.
    pub const ALL: [Self; 2] = [Self::Epoll, Self::IoUring];

    /// The name in flags and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epoll => "epoll",
            Self::IoUring => "io_uring",
        }
    }
}

/// A name that no driver has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no driver; write epoll or io_uring")]
pub struct UnknownDriver(String);

impl FromStr for DriverKind {
    type Err = UnknownDriver;

    fn from_str(text: &str) -> Result<Self, UnknownDriver> {
        let driver = Self::ALL.into_iter().find(|driver| driver.name() == text);
        driver.ok_or_else(|| UnknownDriver(text.to_owned()))
    }
}

/// How the load is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// Worker threads; `None` chooses by the machine and by where the target runs.
    pub workers: Option<u32>,
    /// The longest time to connect, and the longest from sending a request to its last byte.
    pub timeout: Duration,
    /// The most connections an open loop may hold.
    pub connections_max: u32,
    pub seed: u64,
    /// The driver that the user forces; `None` takes the better one that works.
    pub driver: Option<DriverKind>,
    /// The capacity of the lab host that the generator runs on; `None` without a lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lab_capacity: Option<Capacity>,
}

/// The search for the highest rate of arrivals at which the conditions hold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateSearchOrder {
    /// The search ends once the ratio between the highest rate that holds and the lowest that does not is within this tolerance.
    pub tolerance: f64,
}

impl RateSearchOrder {
    /// The tolerance that the time for ladder and search together allows.
    pub fn within(budget: Duration) -> Self {
        let tolerance = match budget.as_secs() / 60 {
            ..3 => 0.05,
            3..10 => 0.03,
            10..30 => 0.02,
            30.. => 0.01,
        };
        Self { tolerance }
    }
}

/// Everything a run needs to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The run's name, which its files carry.
    pub name: String,
    /// The request and the server it goes to; of several requests the first.
    pub target: Target,
    /// The requests that are counted separately, at least one; frames name them by their index here.
    pub requests: Vec<RequestGroup>,
    /// All requests that are sent; empty if the target's request is the only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixedRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<CsvFile>,
    /// The checks that every response must pass, as typed; frames name them by their index here.
    pub checks: Vec<String>,
    #[serde(default, skip_serializing_if = "Network::is_usual")]
    pub network: Network,
    /// How connections are encrypted; `None` for an `http` target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsSpec>,
    /// True for HTTP/2; the depth of a level then counts streams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub http2: bool,
    pub load: Load,
    /// The search for the highest rate within the conditions, after the ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<RateSearchOrder>,
    /// Overloads of the highest rate within the conditions, after everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overload: Option<OverloadOrder>,
    /// The share of requests that carry a trace id, above 0 and at most 1; `None` if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<f64>,
    /// The longest time for which a load is held before the first step, until throughput is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<Duration>,
    pub generator: Generator,
    pub slo: Slo,
    /// True if the user gave no condition, so that a search takes the conditions of [`Slo::reference`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slo_assumed: bool,
    /// The hosts that the run crosses, as far as they are named. A target on this machine is sampled without being named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<PlanHost>,
    /// The CPU profile to take at the plateau after the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileOrder>,
    /// Headers whose values no document shows, in addition to those that [`is_credential`](crate::is_credential) finds by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// The plan file's name for its requests. Runs with the same group count as runs of the same requests, whatever else differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A stored plan that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the plan stored with the run cannot be read: {0}")]
pub struct UnreadablePlan(#[from] serde_json::Error);

impl Plan {
    /// The plan as JSON, the form in which it is stored with a run.
    pub fn to_json(&self) -> String {
        match serde_json::to_string(self) {
            Ok(json) => json,
            // Only maps with keys that are not strings cannot be JSON, and a plan has none.
            Err(_) => unreachable!("a plan is plain data"),
        }
    }

    /// Reads a plan stored by [`Plan::to_json`].
    ///
    /// # Errors
    /// When the text is not such a plan.
    pub fn from_json(json: &str) -> Result<Self, UnreadablePlan> {
        Ok(serde_json::from_str(json)?)
    }

    /// SHA-256 over the plan's JSON in hex, with a seed of 0: each run draws its own seed, and two runs that differ only in the
    /// seed have the same load.
    pub fn hash(&self) -> String {
        let generator = Generator { seed: 0, ..self.generator.clone() };
        let load = Self { generator, redact: Vec::new(), group: None, slo_assumed: false, ..self.clone() };
        hex(&Sha256::digest(load.to_json()))
    }

    /// The requests that are sent: the requests of a file, or the target's only one.
    pub fn mixed(&self) -> Cow<'_, [MixedRequest]> {
        match self.mix.as_slice() {
            [] => Cow::Owned(vec![MixedRequest::only(&self.target)]),
            mix => Cow::Borrowed(mix),
        }
    }

    /// True if a run of this plan and one of `other` send the same requests: they are of one group or, if neither names a group,
    /// send equal requests over the same kind of connection. The target's host does not count.
    pub fn is_of_same_requests(&self, other: &Self) -> bool {
        if self.group.is_some() || other.group.is_some() {
            return self.group == other.group;
        }
        let rows = |plan: &Self| plan.csv.as_ref().map(|csv| csv.sha256.clone());
        let connection = |plan: &Self| (plan.http2, plan.tls.is_some(), plan.network.keep_alive);
        let (own, others) = (self.mixed(), other.mixed());
        own.len() == others.len()
            && own.iter().zip(others.iter()).all(|(one, other)| one.is_same_request(other))
            && rows(self) == rows(other)
            && connection(self) == connection(other)
    }

    /// The name of these requests in reports: their group, or the first request without its query.
    pub fn requests_name(&self) -> String {
        let first = || {
            let path = self.target.path.split('?').next().unwrap_or_default();
            let others = match self.mix.len() {
                0 | 1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("{} {path}{others}", self.target.method)
        };
        self.group.clone().unwrap_or_else(first)
    }

    /// The level of a run with a single level; `None` for a ladder.
    pub fn level(&self) -> Option<&Level> {
        match &self.load {
            Load::Single { level, .. } => Some(level),
            Load::Ladder { .. } => None,
        }
    }

    /// The longest interval of one frame. Short steps need fine intervals, because the warm-up is found by their throughput;
    /// long steps hand a frame over each second. The time that a number of requests takes is not known beforehand, so
    /// `requests_max` takes 100 ms.
    pub fn interval(&self) -> Duration {
        let span = match &self.load {
            Load::Single { requests_max: Some(_), .. } => return Duration::from_millis(100),
            Load::Single { duration, .. } => *duration,
            Load::Ladder { step_limit, .. } => *step_limit,
        };
        (span / 200).clamp(Duration::from_millis(50), Duration::from_secs(1))
    }
}

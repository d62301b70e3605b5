//! What the generators of one run, and the lab that started them, say to each other.
//!
//! Instants are of the coordinator's monotonic clock, which all processes of a machine share. A carrier between machines
//! translates them on the peer's side.

use std::path::PathBuf;

use plimsoll_analyze::Raise;
use plimsoll_plan::Shares;
use plimsoll_record::{Frame, WallClocks};
use plimsoll_units::Instant;
use serde::{Deserialize, Serialize};

use crate::context::StepPlan;

/// What the coordinator asks of a peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Make a share of a step.
    Begin(StepShare),
    /// End the load; requests under way are still waited for.
    EndLoad,
    /// End the load and wait for nothing.
    Abandon,
    /// Another coordinator goes on with the run: report with the same number once no step is on.
    StandBy { asked: u64 },
}

/// One process's share of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepShare {
    pub step: StepPlan,
    /// Workers of the processes before this one.
    pub workers_before: u32,
    /// Workers of this process that take part.
    pub own_workers: u32,
    /// How the workers of all processes that take part share the load.
    pub shares: Shares,
    /// The instant at which the load begins in all of them.
    pub begins: Instant,
    /// The instant from which all times of the run count.
    pub origin: Instant,
}

/// What a generator reports to the process that coordinates it or started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It has connected to the target and can begin.
    Ready {
        /// The version of the tool, which must be the coordinator's.
        version: String,
        workers: u32,
        /// The most requests per second that one of them can make, by the calibration of its machine; `None` if there is none.
        ceiling_per_sec: Option<u64>,
    },
    /// Its workers have begun a step.
    Began {
        /// Nanoseconds from the step's begin until they were ready; 0 if they were in time.
        late_ns: u64,
        /// How far its clock may be from what `begins` and `origin` were translated with, in nanoseconds; `None` where both sides
        /// share a clock.
        clock_error_ns: Option<u64>,
        /// What the wall clocks say of that; `None` unless both are synchronised.
        wall: Option<WallClocks>,
    },
    Frame(Box<Frame>),
    Ended {
        /// The index of the step; `None` if none was on. A coordinator that took over from one that is gone may get the end of an
        /// earlier step once more.
        step: Option<u32>,
        fault: Option<String>,
    },
    /// The answer to [`Command::StandBy`]. Everything before it is of an earlier coordinator, or of a step that is over.
    StandsBy {
        asked: u64,
        workers: u32,
        ceiling_per_sec: Option<u64>,
    },
    Failed {
        why: String,
    },
    Caps(CapChange),
    Recorded {
        file: PathBuf,
    },
}

/// A change of the caps that a lab has set on its hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapChange {
    /// Cap the hosts that started without caps.
    Apply,
    Raise(Raise),
}

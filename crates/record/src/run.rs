//! Everything recorded from one plan.

use serde::{Deserialize, Serialize};

use crate::{CpuProfile, Event, Frame, HostSample, Manifest};

/// Why a step's load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// Throughput was steady and its interval narrow enough.
    Steady,
    TimeLimit,
    RequestLimit,
    /// No worker makes requests any more: a script stopped them, or failed.
    Stopped,
    /// The user, or the run's budget, ended it.
    Cut,
    /// The target stopped answering.
    TargetLost,
}

/// One step: a load level, held until it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Index within the run, from 0.
    pub index: u32,
    /// Connections of a closed loop, or connections opened at the start of an open loop.
    pub connections: u32,
    /// Requests in flight on one connection, at most.
    pub depth: u16,
    /// The offered rate of an open loop, requests per second; where the rate changes, its mean over the plan's time.
    pub rate_per_sec: Option<f64>,
    /// When the load began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When the load ended, in nanoseconds since the run began.
    pub ended_ns: u64,
    /// When the last request in flight ended, in nanoseconds since the run began.
    pub drained_ns: u64,
    /// Why the load ended.
    pub end: StepEnd,
}

/// Everything recorded from one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What the run was.
    pub manifest: Manifest,
    /// The steps, in order; the last may have been cut.
    pub steps: Vec<Step>,
    /// The frames of all workers, in the order of arrival.
    pub frames: Vec<Frame>,
    /// The samples of hosts, in the order of arrival.
    pub hosts: Vec<HostSample>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The CPU profiles, each of a step that was held for it.
    pub profiles: Vec<CpuProfile>,
}

impl Run {
    /// The frames of one step.
    pub fn frames_of(&self, step: u32) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.head.step == step)
    }
}

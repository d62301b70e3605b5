//! Everything recorded from one plan.

use serde::{Deserialize, Serialize};

use crate::{CpuProfile, Event, Frame, HostSample, Manifest};

/// Why a step's load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// Throughput was steady and known well enough.
    Steady,
    /// Its time was over.
    TimeLimit,
    /// As many requests as were asked for had been made.
    RequestLimit,
    /// No worker made any more requests: a script stopped them, or failed.
    Stopped,
    /// The user, or the run's budget, ended it.
    Cut,
    /// The target was gone.
    TargetLost,
}

/// One load level held until it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Index within the run, from 0.
    pub index: u32,
    /// Connections of a closed loop, or connections opened at the start of an open loop.
    pub connections: u32,
    /// The most requests under way on one connection.
    pub depth: u16,
    /// The offered rate of an open loop, requests per second; where the rate changes, its mean over the plan's time.
    pub rate_per_sec: Option<f64>,
    /// When the load began, in nanoseconds since the run began.
    pub began_ns: u64,
    /// When the load ended, in nanoseconds since the run began.
    pub ended_ns: u64,
    /// When the last request under way had ended, in nanoseconds since the run began.
    pub drained_ns: u64,
    /// Why the load ended.
    pub end: StepEnd,
}

/// Everything recorded from one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What the run was.
    pub manifest: Manifest,
    /// The steps that were begun, in order.
    pub steps: Vec<Step>,
    /// The frames of all workers, in the order they came.
    pub frames: Vec<Frame>,
    /// The samples of hosts, in the order they came.
    pub hosts: Vec<HostSample>,
    /// What happened, in the order it did.
    pub events: Vec<Event>,
    /// The CPU profiles that were taken, each in a step that was held for it.
    pub profiles: Vec<CpuProfile>,
}

impl Run {
    /// The frames of one step.
    pub fn frames_of(&self, step: u32) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.head.step == step)
    }
}

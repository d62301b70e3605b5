//! The state that all steps of a run share, and the parameters of one step.

use std::time::Duration;

use plimsoll_engine::{PeerGroup, StepSpec, TlsConfig};
use plimsoll_plan::{DriverKind, Level, Plan, RateProfile, Stage};
use plimsoll_record::RateStage;
use plimsoll_sys::Destination;
use plimsoll_units::Instant;
use serde::{Deserialize, Serialize};

use crate::traffic::{Requests, traced};

/// One load level for a limited time; equal in every process that makes a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepPlan {
    pub index: u32,
    pub level: Level,
    pub limit: Duration,
    /// The longest interval of one frame.
    pub interval: Duration,
    /// The load ends after this many requests; `None` for no limit.
    pub requests_max: Option<u64>,
}

impl StepPlan {
    /// The connections of all processes; for an open loop, those at its start.
    pub fn connections(&self) -> u32 {
        self.level.connections()
    }

    /// The mean offered rate of an open loop, in requests per second; `None` for a closed loop.
    pub fn rate_per_sec(&self) -> Option<f64> {
        self.level.profile().map(RateProfile::mean_per_sec)
    }

    /// The offered rate of an open loop at this time since the load began, in requests per second; 0 after the last stage,
    /// `None` for a closed loop.
    pub fn rate_at(&self, since: Duration) -> Option<f64> {
        self.level.profile().map(|profile| profile.rate_at(since))
    }

    /// The stages of an open loop's rate; empty for a constant rate and for a closed loop.
    pub(crate) fn stages(&self) -> Vec<RateStage> {
        let stages = self.level.profile().map(RateProfile::stages).unwrap_or_default();
        stages.iter().map(recorded_stage).collect()
    }
}

/// What a process needs to make the load of every step of a run.
#[derive(Debug)]
pub(crate) struct RunContext {
    /// The plan, with the open end of a ladder lowered to the limits of this machine.
    pub(crate) plan: Plan,
    /// The addresses that load goes to: every address that accepts connections, at least one.
    pub(crate) destinations: Vec<Destination>,
    pub(crate) requests: Requests,
    pub(crate) tls: Option<TlsConfig>,
    /// The longest interval of one frame of a measured step.
    pub(crate) interval: Duration,
    pub(crate) workers: u32,
    pub(crate) driver: DriverKind,
    /// The origin of all times of the run.
    pub(crate) origin: Instant,
}

fn recorded_stage(stage: &Stage) -> RateStage {
    let span_ns = u64::try_from(stage.duration.as_nanos()).unwrap_or(u64::MAX);
    RateStage { from_per_sec: stage.from_per_sec, to_per_sec: stage.to_per_sec, span_ns }
}

impl RunContext {
    /// A step without a limit on the number of requests.
    pub(crate) fn step(&self, index: u32, level: Level, limit: Duration) -> StepPlan {
        StepPlan { index, level, limit, interval: self.interval, requests_max: None }
    }

    /// The engine's parameters for a step with this many workers of this process.
    pub(crate) fn order(&self, spec: &StepPlan, workers: u32, group: Option<PeerGroup>) -> StepSpec {
        StepSpec {
            step: spec.index,
            duration: spec.limit,
            destinations: self.destinations.clone(),
            sources: self.plan.network.source_ips.clone(),
            traffic: traced(&self.plan, spec.index, self.requests.of_step(spec.index)),
            depth: spec.level.depth(),
            level: spec.level.clone(),
            requests_max: spec.requests_max,
            streams: self.plan.http2,
            tls: self.tls.clone(),
            requests: u16::try_from(self.plan.requests.len()).unwrap_or(u16::MAX),
            workers,
            group,
            timeout: self.plan.generator.timeout,
            connections_max: self.plan.generator.connections_max,
            interval: spec.interval,
            // The seed differs per step, so that a load that is tried again does not get the same arrivals.
            seed: self.plan.generator.seed.wrapping_add(spec.index.into()),
            driver: Some(self.driver),
            origin: self.origin,
        }
    }
}

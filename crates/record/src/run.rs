//! Everything recorded from one plan.

use serde::{Deserialize, Serialize};

use crate::{FailureKind, Frame, HostSample, Manifest, Phase};

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

/// A span of a step in which its offered rate went in a straight line from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateStage {
    pub from_per_sec: f64,
    pub to_per_sec: f64,
    pub span_ns: u64,
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
    /// How the offered rate of an open loop was to go over time, one stage after another; empty for a rate that stays.
    pub stages: Vec<RateStage>,
    /// The load, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// When the last request in flight ended, in nanoseconds since the run began.
    pub drained_ns: u64,
    pub end: StepEnd,
    /// The generators that made it together, each with its workers; empty where one made it alone, or several on one machine.
    pub generators: Vec<GeneratorShare>,
}

impl Step {
    /// True if both load the target in the same way.
    pub fn is_of_level(&self, other: &Self) -> bool {
        let level = |step: &Self| (step.connections, step.depth, step.rate_per_sec);
        level(self) == level(other) && self.stages == other.stages
    }
}

/// The wall clocks of a generator and of the conductor, which their kernels call synchronised, as a second opinion on the
/// difference of their monotonic clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallClocks {
    /// By how much the difference that they show is another than the one that was measured, in nanoseconds.
    pub apart_ns: u64,
    /// Their errors, as their kernels give them, and that of the measurement explain so much, in nanoseconds.
    pub error_ns: u64,
}

impl WallClocks {
    /// True if the errors explain the difference.
    pub fn agree(self) -> bool {
        self.apart_ns <= self.error_ns
    }
}

/// What one of several generators made of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorShare {
    /// Its name, unique within the run.
    pub name: String,
    /// The number of its first worker; the others follow.
    pub first_worker: u32,
    /// 0 if it made nothing, as there were fewer connections than workers.
    pub workers: u32,
    /// The most requests per second that one of its workers can make, by the calibration of its machine; `None` if there is none.
    pub ceiling_per_sec: Option<u64>,
    /// Its clock and that of the run differ by no more than this from what the times of its frames assume, in nanoseconds.
    /// `None` if it did not say so.
    pub clock_error_ns: Option<u64>,
    /// Its part of the load, in millionths. `None` in files that do not have it: then it follows from the workers.
    #[serde(default)]
    pub part_ppm: Option<u32>,
    /// What the wall clocks say of that; `None` unless both are synchronised.
    #[serde(default)]
    pub wall: Option<WallClocks>,
    /// When it was last heard of, in nanoseconds since the run began, if it was lost during the step.
    pub lost_ns: Option<u64>,
}

impl GeneratorShare {
    /// True if the worker of this number is one of its own.
    pub fn has(&self, worker: u32) -> bool {
        worker.checked_sub(self.first_worker).is_some_and(|number| number < self.workers)
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The target stopped answering; the run ended early.
    TargetLost,
    /// Hosts were sampled up to here without load.
    Rested,
    /// The warm-up ended with steady throughput.
    WarmedUp,
    /// The warm-up ended at its time limit, before throughput was steady.
    NotWarm,
    /// The user ended the run.
    Interrupted,
    /// The time budget ended before the ladder did.
    BudgetEnded,
    /// An address of the target accepted no connection before the load, and got no load.
    AddressDropped,
    /// The plan meets a limit of this machine, of the target on it, or of a fleet.
    LimitMet,
    /// Requests failed in a way that is new in the run.
    FailureSeen,
    /// A step could not be run, or not by all of its workers; what it measured stands.
    StepFailed,
    /// A host, or a component on it, cannot be sampled, or not any longer.
    ProbeFailed,
    /// The conductor of the run died, and another one went on with it.
    Resumed,
    /// An event of a newer version, described by its text.
    #[serde(other)]
    Other,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    pub kind: EventKind,
    /// Of [`EventKind::FailureSeen`], how requests failed; `None` for a failure of another version.
    pub failure: Option<FailureKind>,
    /// A sentence that stands alone; empty where `failure` says what happened.
    pub text: String,
}

/// How a profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileForm {
    /// The protobuf of pprof, as the server sent it.
    Pprof,
    /// The text of `perf script`: for each sample its period in nanoseconds, and its frames with symbol and file.
    Perf,
}

/// The outcome of taking a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileOutcome {
    /// The run ended before it was complete.
    UnderWay,
    /// It was taken: its content, which may be compressed by gzip.
    Taken(Vec<u8>),
    /// It could not be taken; the text says why.
    Failed(String),
}

/// One CPU profile, and the step that was held for it. That step is not part of the measured load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProfile {
    pub step: u32,
    /// Where it came from: the URL, or `perf` with the processes.
    pub source: String,
    pub form: ProfileForm,
    /// When it was taken, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub outcome: ProfileOutcome,
}

/// Rows of a run file that do not match their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Their table.
    pub table: &'static str,
    /// The key of the first of them.
    pub first: i64,
    /// The key of the last; `None` where the rows that follow cannot be read either.
    pub last: Option<i64>,
    /// The steps that may have lost frames by it.
    pub steps: Vec<u32>,
}

/// Everything recorded from one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub manifest: Manifest,
    /// The steps, in order; the last may have been cut.
    pub steps: Vec<Step>,
    /// The frames of all workers, in the order of arrival.
    pub frames: Vec<Frame>,
    /// The samples of hosts, in the order of arrival.
    pub hosts: Vec<HostSample>,
    pub events: Vec<Event>,
    /// The CPU profiles, each of a step that was held for it.
    pub profiles: Vec<CpuProfile>,
    /// What its file holds besides and cannot be trusted: the rows, and the steps they may belong to, are left out.
    pub damage: Vec<Damage>,
}

impl Run {
    /// A run of which nothing is recorded yet.
    pub fn begun(manifest: Manifest) -> Self {
        Self {
            manifest,
            steps: Vec::new(),
            frames: Vec::new(),
            hosts: Vec::new(),
            events: Vec::new(),
            profiles: Vec::new(),
            damage: Vec::new(),
        }
    }

    /// Takes in a step, in place of what was recorded under its index before.
    pub fn record_step(&mut self, step: Step) {
        match self.steps.iter_mut().find(|known| known.index == step.index) {
            Some(known) => *known = step,
            None => self.steps.push(step),
        }
    }

    /// Takes in a profile, in place of what was recorded for its step before.
    pub fn record_profile(&mut self, profile: CpuProfile) {
        match self.profiles.iter_mut().find(|known| known.step == profile.step) {
            Some(known) => *known = profile,
            None => self.profiles.push(profile),
        }
    }

    /// Gives these steps, which are under way or were when the process died, the end that their frames show.
    pub fn end_open_steps(&mut self, open: &[u32]) {
        for step in self.steps.iter_mut().filter(|step| open.contains(&step.index)) {
            let frames =
                || self.frames.iter().map(|frame| &frame.head).filter(|head| head.step == step.index);
            let measured =
                frames().filter(|head| head.phase == Phase::Measure).map(|head| head.ended_ns).max();
            let ended_ns = measured.unwrap_or(step.began_ns);
            step.drained_ns = frames().map(|head| head.ended_ns).max().unwrap_or(ended_ns);
            step.ended_ns = ended_ns;
            step.end = StepEnd::Cut;
        }
    }

    /// When the last request of its steps had ended, in nanoseconds since it began; 0 without a step.
    pub fn drained_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.drained_ns).max().unwrap_or(0)
    }

    /// The frames of one step.
    pub fn frames_of(&self, step: u32) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.head.step == step)
    }
}

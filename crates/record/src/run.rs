//! A run: everything recorded from one plan.

use serde::{Deserialize, Serialize};

use crate::{FailureKind, Frame, HostSample, Manifest, Phase};

/// The reason why a step's load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// Throughput was steady and its confidence interval narrow enough.
    Steady,
    TimeLimit,
    RequestLimit,
    /// No worker makes requests any more: a script stopped them, or failed.
    Stopped,
    /// The user or the run's time budget ended it.
    Cut,
    /// The target stopped answering.
    TargetLost,
}

/// A span of a step in which its offered rate changes linearly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateStage {
    pub from_per_sec: f64,
    pub to_per_sec: f64,
    pub span_ns: u64,
}

/// One step: a load level, kept until it was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Index within the run, from 0.
    pub index: u32,
    /// The connections of a closed loop, or those opened at the start of an open loop.
    pub connections: u32,
    /// The maximum of requests in flight per connection.
    pub depth: u16,
    /// The offered rate of an open loop in requests per second; if the rate changes, its planned mean. `None` for a closed loop.
    pub rate_per_sec: Option<f64>,
    /// The planned offered rate of an open loop over time, in consecutive stages; empty for a constant rate.
    pub stages: Vec<RateStage>,
    /// The beginning and end of the load, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// When the last request in flight ended, in nanoseconds since the run began.
    pub drained_ns: u64,
    pub end: StepEnd,
    /// The generators that made the step together, each with its workers. Empty if one machine made it alone.
    pub generators: Vec<GeneratorShare>,
}

impl Step {
    /// Whether both steps put the same load on the target.
    pub fn is_of_level(&self, other: &Self) -> bool {
        let level = |step: &Self| (step.connections, step.depth, step.rate_per_sec);
        level(self) == level(other) && self.stages == other.stages
    }
}

/// A comparison of the wall clocks of a generator and of the conductor, which their kernels report as synchronised. It is a second
/// opinion on the measured difference between their monotonic clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WallClocks {
    /// The difference between the offset that the wall clocks show and the measured one, in nanoseconds.
    pub apart_ns: u64,
    /// The sum of the errors of both clocks, as their kernels report them, and of the measurement, in nanoseconds.
    pub error_ns: u64,
}

impl WallClocks {
    /// Whether the errors explain the difference.
    pub fn agree(self) -> bool {
        self.apart_ns <= self.error_ns
    }
}

/// The share of one of several generators in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorShare {
    /// The generator's name, unique within the run.
    pub name: String,
    /// The number of its first worker; its other workers have the following numbers.
    pub first_worker: u32,
    /// The number of its workers; 0 if it made no load because there were fewer connections than workers.
    pub workers: u32,
    /// The most requests per second that one of its workers can make, by its machine's calibration; `None` without a calibration.
    pub ceiling_per_sec: Option<u64>,
    /// The largest possible error of the difference between its clock and the run's that the times of its frames assume, in nanoseconds.
    /// `None` if the generator did not report it.
    pub clock_error_ns: Option<u64>,
    /// Its part of the load, in millionths. `None` in older files: then it follows from the number of workers.
    #[serde(default)]
    pub part_ppm: Option<u32>,
    /// The comparison of the wall clocks; `None` unless both are synchronised.
    #[serde(default)]
    pub wall: Option<WallClocks>,
    /// The time of the last message from it, in nanoseconds since the run began; `None` unless it was lost during the step.
    pub lost_ns: Option<u64>,
}

impl GeneratorShare {
    /// Whether the worker with this number belongs to this generator.
    pub fn has(&self, worker: u32) -> bool {
        worker.checked_sub(self.first_worker).is_some_and(|number| number < self.workers)
    }
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The target stopped answering; the run ended early.
    TargetLost,
    /// Hosts were sampled without load up to this instant.
    Rested,
    /// The warm-up ended with steady throughput.
    WarmedUp,
    /// The warm-up ended at its time limit, before throughput was steady.
    NotWarm,
    /// The user ended the run.
    Interrupted,
    /// The time budget ended before the ladder did.
    BudgetEnded,
    /// An address of the target accepted no connection before the load, so it gets no load.
    AddressDropped,
    /// The plan reaches a limit of this machine, of the target on it, or of a fleet.
    LimitMet,
    /// Requests failed in a way that had not occurred in the run before.
    FailureSeen,
    /// A step failed, or not all of its workers ran; its measurements are kept.
    StepFailed,
    /// A host, or a component on it, cannot be sampled (any more).
    ProbeFailed,
    /// The conductor of the run died, and another one resumed it.
    Resumed,
    /// An event of a newer version; its text describes it.
    #[serde(other)]
    Other,
}

/// One event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The instant, in nanoseconds since the run began.
    pub at_ns: u64,
    pub kind: EventKind,
    /// How requests failed, for [`EventKind::FailureSeen`]; `None` for a failure of another version.
    pub failure: Option<FailureKind>,
    /// A complete sentence; empty if `failure` says what happened.
    pub text: String,
}

/// The format of a profile.
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
    /// The run ended before the profile was complete.
    UnderWay,
    /// The content of the profile, which may be compressed by gzip.
    Taken(Vec<u8>),
    /// The profile could not be taken; the text says why.
    Failed(String),
}

/// One CPU profile, and the step that was made for it. That step is not part of the measured load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProfile {
    pub step: u32,
    /// Its origin: the URL, or `perf` with the processes.
    pub source: String,
    pub form: ProfileForm,
    /// Beginning and end of the profile, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub outcome: ProfileOutcome,
}

/// Rows of a run file that do not match their digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The table of the rows.
    pub table: &'static str,
    /// The key of the first damaged row.
    pub first: i64,
    /// The key of the last damaged row; `None` if the rows after it cannot be read either.
    pub last: Option<i64>,
    /// The steps that may have lost frames because of the damage.
    pub steps: Vec<u32>,
}

/// Everything recorded from one plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub manifest: Manifest,
    /// The steps, in order. The last one may have been cut short.
    pub steps: Vec<Step>,
    /// The frames of all workers, in the order of arrival.
    pub frames: Vec<Frame>,
    /// The samples of hosts, in the order of arrival.
    pub hosts: Vec<HostSample>,
    pub events: Vec<Event>,
    /// The CPU profiles, each with a step that was made for it.
    pub profiles: Vec<CpuProfile>,
    /// The parts of its file that are damaged. Damaged rows, and the steps that they may belong to, are left out.
    pub damage: Vec<Damage>,
}

impl Run {
    /// Creates a run without recorded data.
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

    /// Records a step, replacing one with the same index.
    pub fn record_step(&mut self, step: Step) {
        match self.steps.iter_mut().find(|known| known.index == step.index) {
            Some(known) => *known = step,
            None => self.steps.push(step),
        }
    }

    /// Records a profile, replacing one of the same step.
    pub fn record_profile(&mut self, profile: CpuProfile) {
        match self.profiles.iter_mut().find(|known| known.step == profile.step) {
            Some(known) => *known = profile,
            None => self.profiles.push(profile),
        }
    }

    /// Sets the end of steps that are still under way, or were when the process died, to that of their last frames.
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

    /// Returns when the last request of all steps ended, in nanoseconds since the run began; 0 without steps.
    pub fn drained_ns(&self) -> u64 {
        self.steps.iter().map(|step| step.drained_ns).max().unwrap_or(0)
    }

    /// Returns the frames of one step.
    pub fn frames_of(&self, step: u32) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(move |frame| frame.head.step == step)
    }
}

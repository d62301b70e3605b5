//! The CPU profile of a run, read and set against its requests.

use plimsoll_analyze::{Findings, StepSummary};
use plimsoll_profile::{PerRequest, Stacks};
use plimsoll_record::{CpuProfile, ProfileOutcome, Run};

/// Why there is nothing to tell of.
#[derive(Debug, thiserror::Error)]
pub enum NoProfile {
    /// None was asked for.
    #[error(
        "the run holds no CPU profile; take one with --profile http://HOST:PORT/debug/pprof/profile or --profile perf"
    )]
    None,
    /// The run ended before.
    #[error("the run ended before its CPU profile was taken")]
    Unfinished,
    /// It could not be taken.
    #[error("the run holds no CPU profile: {0}")]
    Failed(String),
    /// It cannot be read.
    #[error("the CPU profile of the run cannot be read: {0}")]
    Unreadable(#[from] plimsoll_profile::ProfileError),
    /// It is of a load that nobody answered.
    #[error("no request was answered while the CPU profile was taken")]
    Unanswered,
}

/// By what functions are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The time in which they, or what they called, ran.
    Cumulative,
    /// The time in which they ran themselves.
    Flat,
}

/// A CPU profile and the load it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfiledRun {
    /// Where it came from.
    pub source: String,
    /// What was seen.
    pub stacks: Stacks,
    /// How long was looked, in seconds.
    pub span_sec: f64,
    /// The step that was held meanwhile.
    pub step: StepSummary,
    /// Requests per second of the same load, with nobody looking; `None` if that was not measured.
    pub undisturbed_per_sec: Option<f64>,
    /// True if the generator was the limit: throughputs are lower bounds.
    pub lower_bound: bool,
}

impl ProfiledRun {
    /// The last profile of a run.
    ///
    /// # Errors
    /// When there is none, or it cannot be read or set against requests.
    pub fn of(run: &Run, findings: &Findings) -> Result<Self, NoProfile> {
        let profile = run.profiles.last().ok_or(NoProfile::None)?;
        let content = match &profile.outcome {
            ProfileOutcome::Taken(content) => content,
            ProfileOutcome::UnderWay => return Err(NoProfile::Unfinished),
            ProfileOutcome::Failed(why) => return Err(NoProfile::Failed(why.clone())),
        };
        let stacks = plimsoll_profile::parse(profile.form, content)?;
        let step = findings.profiled.iter().find(|step| step.index == profile.step);
        let step = step.filter(|step| step.throughput.value > 0.0).ok_or(NoProfile::Unanswered)?;
        let same_load =
            |known: &&StepSummary| (known.connections, known.depth) == (step.connections, step.depth);
        let undisturbed = findings.steps.iter().rev().find(same_load);
        Ok(Self {
            source: profile.source.clone(),
            span_sec: span_sec(profile, &stacks),
            stacks,
            undisturbed_per_sec: undisturbed.map(|step| step.throughput.value),
            step: step.clone(),
            lower_bound: findings.lower_bound,
        })
    }

    /// The profile with the requests that were served while it was taken: the throughput of the held step, for so long.
    pub fn per_request(&self) -> PerRequest<'_> {
        PerRequest { stacks: &self.stacks, requests: self.step.throughput.value * self.span_sec }
    }
}

/// The time that a profile says it is of, or else how long it took to get it.
fn span_sec(profile: &CpuProfile, stacks: &Stacks) -> f64 {
    let took_sec = profile.ended_ns.saturating_sub(profile.began_ns) as f64 / 1e9;
    stacks.span().map_or(took_sec, |span| span.as_secs_f64()).max(f64::MIN_POSITIVE)
}

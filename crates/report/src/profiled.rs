//! The CPU profile of a run, related to its requests.

use plimsoll_analyze::{Findings, StepSummary};
use plimsoll_profile::{PerRequest, Stacks};
use plimsoll_record::{CpuProfile, ProfileOutcome, Run};

use crate::privacy::shown_address;

/// Why a run has no CPU profile to show.
#[derive(Debug, thiserror::Error)]
pub enum NoProfile {
    #[error(
        "the run holds no CPU profile; take one with --profile http://HOST:PORT/debug/pprof/profile or --profile perf"
    )]
    None,
    #[error("the run ended before its CPU profile was taken")]
    Unfinished,
    #[error("the run holds no CPU profile: {0}")]
    Failed(String),
    #[error("the CPU profile of the run cannot be read: {0}")]
    Unreadable(#[from] plimsoll_profile::ProfileError),
    #[error("no request was answered while the CPU profile was taken")]
    Unanswered,
}

/// How functions are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By CPU time, including the functions they called.
    Cumulative,
    /// By CPU time in the functions themselves.
    Flat,
}

/// A CPU profile and the load during which it was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfiledRun {
    /// Where the profile came from.
    pub source: String,
    pub stacks: Stacks,
    /// How long the profile was taken, in seconds.
    pub span_sec: f64,
    /// The step during which it was taken.
    pub step: StepSummary,
    /// Requests per second of the same load without the profiler; `None` if that was not measured.
    pub undisturbed_per_sec: Option<f64>,
    /// True if the generator was the limit: throughputs are lower bounds.
    pub lower_bound: bool,
}

impl ProfiledRun {
    /// The last profile of a run.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or no request was answered.
    pub fn from_run(run: &Run, findings: &Findings) -> Result<Self, NoProfile> {
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
            // Files of older versions have the whole URL of a page.
            source: shown_address(&profile.source),
            span_sec: span_sec(profile, &stacks),
            stacks,
            undisturbed_per_sec: undisturbed.map(|step| step.throughput.value),
            step: step.clone(),
            lower_bound: findings.lower_bound,
        })
    }

    /// Relates the profile to the requests served while it was taken: the throughput of the step times that span.
    pub fn per_request(&self) -> PerRequest<'_> {
        PerRequest { stacks: &self.stacks, requests: self.step.throughput.value * self.span_sec }
    }
}

/// Returns the span that the profile itself states, else the time it took to fetch it.
fn span_sec(profile: &CpuProfile, stacks: &Stacks) -> f64 {
    let took_sec = profile.ended_ns.saturating_sub(profile.began_ns) as f64 / 1e9;
    stacks.span.map_or(took_sec, |span| span.as_secs_f64()).max(f64::MIN_POSITIVE)
}

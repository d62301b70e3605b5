//! How an experiment on the verdict stands in a run: what was raised, and which load came after it.

use plimsoll_record::{Reading, Run, Source, Step};

use crate::findings::Raise;

/// A change that was asked for during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intervention {
    /// What was raised, or why it was not, as it was recorded.
    pub(crate) outcome: Result<Raise, String>,
    began_ns: u64,
    ended_ns: u64,
}

impl Intervention {
    /// The first one of a run, if there is one.
    pub(crate) fn find(run: &Run) -> Option<Self> {
        let sample = run.hosts.iter().find(|sample| sample.source == Source::Intervention)?;
        let outcome = match &sample.reading {
            Reading::Ok(counters) => Ok(Raise::from_sample(sample, counters)?),
            Reading::Failed(why) => Err(why.clone()),
            Reading::Absent => return None,
        };
        Some(Self { outcome, began_ns: sample.began_ns, ended_ns: sample.ended_ns })
    }

    /// The run as it was up to then, as if it had ended there.
    pub(crate) fn before(&self, run: &Run) -> Run {
        let mut first = with_steps(run, |step| step.began_ns < self.began_ns);
        first.hosts.retain(|sample| sample.began_ns < self.began_ns);
        first
    }

    /// The load that was made after it, by itself.
    pub(crate) fn after(&self, run: &Run) -> Run {
        let mut second = with_steps(run, |step| step.began_ns >= self.ended_ns);
        second.hosts.retain(|sample| sample.source != Source::Intervention);
        second
    }
}

/// A run with only such steps, and their frames.
pub(crate) fn with_steps(run: &Run, keeps: impl Fn(&Step) -> bool) -> Run {
    let steps: Vec<_> = run.steps.iter().filter(|step| keeps(step)).cloned().collect();
    let of_steps = |frame: &&plimsoll_record::Frame| steps.iter().any(|step| step.index == frame.head.step);
    Run {
        manifest: run.manifest.clone(),
        frames: run.frames.iter().filter(of_steps).cloned().collect(),
        hosts: run.hosts.clone(),
        events: run.events.clone(),
        profiles: run.profiles.clone(),
        steps,
    }
}

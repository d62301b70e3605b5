//! What a verdict is made from.

use plimsoll_plan::Plan;

use crate::findings::{At, Confidence, Evidence, Knee, Limit, Observation, Place, StepSummary, Verdict};
use crate::generator::health::GeneratorHealth;
use crate::hosts::resource::Resource;
use crate::hosts::topology::flow::Flow;
use crate::hosts::tracks::StepSamples;

/// The load of a run.
pub(crate) struct Case<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// All steps.
    pub(crate) steps: &'a [StepSummary],
    /// The knee, if there is one.
    pub(crate) knee: Option<&'a Knee>,
    /// The generator's health at the step that decides.
    pub(crate) generator: &'a GeneratorHealth,
}

/// What was observed of the hosts.
#[derive(Clone, Copy)]
pub(crate) struct Watched<'a> {
    pub(crate) samples: &'a StepSamples<'a>,
    pub(crate) resources: &'a [Resource],
    pub(crate) flow: &'a Flow,
}

impl Case<'_> {
    /// The target by its URL's authority.
    pub(super) fn target(&self) -> Place {
        Place::Target(self.plan.target.authority())
    }

    /// A verdict on the target, or on the generator, with nothing but its claim.
    pub(super) fn verdict(&self, limit: Limit, confidence: Confidence) -> Verdict {
        let place = if limit == Limit::Generator { Place::Generator } else { self.target() };
        Verdict::new(limit, place, confidence)
    }

    /// The step that the answer is taken from: that of the plateau, or the last.
    pub(super) fn deciding(&self) -> usize {
        let plateau =
            |knee: &Knee| self.steps.iter().position(|step| step.connections == knee.plateau_connections);
        self.knee.and_then(plateau).unwrap_or_else(|| self.steps.len().saturating_sub(1))
    }

    /// The generator's own load in a step, the first thing to rule out.
    pub(super) fn generator_row(&self, step: &StepSummary) -> Evidence {
        row(Observation::BusiestWorker, self.generator.busiest_worker_ratio, Some(1.0), at(step))
    }
}

/// One line of evidence.
pub(super) fn row(observed: Observation, value: f64, of: Option<f64>, at: At) -> Evidence {
    Evidence { observed, value, of, at }
}

/// Where a step stands: by its connections, or by the rate of an open loop.
pub(super) fn at(step: &StepSummary) -> At {
    step.rate_per_sec.map_or(At::Connections(step.connections), At::Rate)
}

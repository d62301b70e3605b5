//! The observations of a target under load, recorded in a run or written down in a table: the only input of the rules.
//!
//! A load is a step of a run or a row of a table. What was not observed is `None` or empty: a table has no
//! samples, connections or failures, so that rules about these find nothing.

pub(crate) mod table;

use std::borrow::Cow;
use std::collections::BTreeSet;

use plimsoll_plan::{Load, Plan};
use plimsoll_record::{Source, Subject};

use crate::findings::{
    At, Confidence, Estimate, Evidence, Knee, Limit, LoadEffect, Observation, Place, StepSummary, Verdict,
};
use crate::generator::health::GeneratorHealth;
use crate::hosts::resource::Resource;
use crate::hosts::topology::flow::{Flow, NO_FLOW};
use crate::hosts::track::Span;
use crate::hosts::tracks::{GENERATOR, Hosts, NOT_SAMPLED, StepSamples};
use crate::hosts::usage::others::HostProcesses;
use crate::hosts::utilisation::BUSY;
use crate::load::knee;
use crate::table::{load_effect, stands};
use crate::{Findings, TableRow};

/// A tier that uses this share of its CPU or more is at its limit in a row whose throughput does not grow with the load. Uneven load
/// on its machines, and means over time, keep it below 100 %.
const MIN_FULL: f64 = 0.8;

/// The plan and the steps of a run.
pub(crate) struct Case<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) steps: &'a [StepSummary],
    /// The knee, if there is one.
    pub(crate) knee: Option<&'a Knee>,
    /// The generator's health at the step that decides.
    pub(crate) generator: &'a GeneratorHealth,
}

/// One load: a step of a run or a row of a table.
#[derive(Debug, Clone)]
pub(crate) struct ObservedLoad {
    pub(crate) at: At,
    pub(crate) throughput: Estimate,
}

/// What was observed of a target under a series of loads.
pub(crate) struct Observations<'a> {
    pub(crate) loads: Vec<ObservedLoad>,
    /// The resources of hosts and tiers, and how much of each was used by each load.
    pub(crate) resources: Cow<'a, [Resource]>,
    /// The samples of hosts.
    pub(crate) hosts: &'a Hosts<'a>,
    /// The measured time of each load, by the clock of the samples.
    pub(crate) spans: &'a [Span],
    pub(crate) flow: &'a Flow,
    /// The plan and the steps; `None` for a table.
    pub(crate) run: Option<&'a Case<'a>>,
    /// Watched processes that serve no requests, each by its host and id.
    pub(crate) not_serving: BTreeSet<(&'a str, u32)>,
    /// The rows of a table, one for each load; empty for a run.
    pub(crate) rows: &'a [&'a TableRow],
}

impl ObservedLoad {
    fn from_step(step: &StepSummary) -> Self {
        Self { at: step.at(), throughput: step.throughput }
    }
}

impl Case<'_> {
    /// The target, by the authority of its URL.
    pub(crate) fn target(&self) -> Place {
        Place::Target(self.plan.target.authority())
    }

    /// A verdict on the target, or on the generator, without a claim or evidence.
    pub(crate) fn verdict(&self, limit: Limit, confidence: Confidence) -> Verdict {
        let place = if limit == Limit::Generator { Place::Generator } else { self.target() };
        Verdict::new(limit, place, confidence)
    }

    fn is_ladder(&self) -> bool {
        matches!(self.plan.load, Load::Ladder { .. })
    }

    /// The index of the step that the answer is taken from: that of the plateau, or of the highest load.
    pub(crate) fn deciding(&self) -> usize {
        knee::deciding(self.steps, self.knee, self.is_ladder()).unwrap_or(0)
    }

    /// The index of the step with the highest load; `None` without a step.
    pub(crate) fn highest(&self) -> Option<usize> {
        knee::highest(self.steps, self.is_ladder())
    }

    /// The generator's own load in a step, as evidence: the first thing to rule out.
    pub(crate) fn generator_row(&self, step: &StepSummary) -> Evidence {
        let busiest = self.generator.busiest_worker_ratio;
        Evidence::new(Observation::BusiestWorker, busiest, Some(1.0), step.at())
    }
}

impl<'a> Observations<'a> {
    /// The findings of a run, without samples.
    pub(crate) fn from_findings(findings: &'a Findings) -> Self {
        Self {
            loads: findings.steps.iter().map(ObservedLoad::from_step).collect(),
            resources: Cow::Borrowed(&findings.resources),
            hosts: &NOT_SAMPLED,
            spans: &[],
            flow: &NO_FLOW,
            run: None,
            not_serving: BTreeSet::new(),
            rows: &[],
        }
    }

    /// The observations of a recorded run.
    pub(crate) fn from_run(
        run: &'a Case<'a>,
        samples: &StepSamples<'a>,
        resources: &'a [Resource],
        flow: &'a Flow,
    ) -> Self {
        let mut observed = Self {
            loads: run.steps.iter().map(ObservedLoad::from_step).collect(),
            resources: Cow::Borrowed(resources),
            hosts: samples.hosts,
            spans: samples.spans,
            flow,
            run: Some(run),
            not_serving: BTreeSet::new(),
            rows: &[],
        };
        let of_host = |host| {
            let others = observed.processes(host).not_serving();
            others.filter_map(move |(subject, _)| Some((host, subject.pid()?)))
        };
        observed.not_serving = observed.hosts.names().into_iter().flat_map(of_host).collect();
        observed
    }

    /// The processes of a host.
    pub(crate) fn processes(&self, host: &'a str) -> HostProcesses<'a> {
        HostProcesses { host, hosts: self.hosts, spans: self.spans, steps: self.steps(), flow: self.flow }
    }

    /// False for a process that is watched and serves no requests, and for a thread of it.
    pub(crate) fn serves(&self, host: &str, subject: Subject<'_>) -> bool {
        subject.pid().is_none_or(|pid| !self.not_serving.contains(&(host, pid)))
    }

    /// Everything counted in the steps of a run.
    pub(crate) fn steps(&self) -> &'a [StepSummary] {
        self.run.map_or(&[], |run| run.steps)
    }

    /// The target of a run, by its URL's authority.
    pub(crate) fn target(&self) -> Place {
        self.run.map_or(Place::Nowhere, Case::target)
    }

    /// The names of the hosts of a run, except the generator's, or of the tiers that take part in a row.
    pub(crate) fn hosts_of(&'a self, load: usize) -> Vec<&'a str> {
        let tiers = self.rows.get(load).into_iter().flat_map(|row| row.present());
        let names: BTreeSet<&str> = self.hosts.names();
        let tiers = tiers.map(|tier| tier.name.as_str()).filter(|name| *name != GENERATOR);
        tiers.chain(names).collect()
    }

    /// Why the CPU of a host could not be read, if it could not.
    pub(crate) fn failure(&self, host: &str) -> Option<String> {
        let failure = |source| self.hosts.failure(host, source);
        failure(Source::Cpu).or_else(|| failure(Source::Cgroup)).map(ToOwned::to_owned)
    }

    /// The usable amount of a resource; `None` if its capacity is unknown. In a table it is the highest use in any row at the limit: a
    /// link that carried more than its stated capacity, a busy processor, or a nearly busy processor or link while throughput grows
    /// neither with the load nor with machines.
    pub(crate) fn usable(&self, resource: &Resource) -> Option<f64> {
        let capacity = resource.capacity.filter(|capacity| *capacity > 0.0)?;
        if self.rows.is_empty() {
            return Some(capacity);
        }
        let runs_code = matches!(resource.kind.limit(), Limit::Cpu | Limit::Thread);
        let may_be_level = runs_code || resource.kind.is_of_link();
        let is_at_end = |(row, used): (&&TableRow, f64)| {
            let is_level = || match load_effect(self.rows, row) {
                LoadEffect::MoreGaveMore { .. } => false,
                LoadEffect::Untried => stands(self.rows, row),
                LoadEffect::Level | LoadEffect::LessGaveMore { .. } | LoadEffect::StillGrows { .. } => true,
            };
            let is_busy = runs_code && used >= BUSY * capacity;
            used >= capacity || is_busy || may_be_level && used >= MIN_FULL * capacity && is_level()
        };
        let used = self.rows.iter().zip(&resource.used).filter_map(|(row, used)| Some((row, (*used)?)));
        let at_end = used.filter(|one| is_at_end(*one)).map(|(_, used)| used);
        Some(at_end.reduce(f64::max).unwrap_or(capacity))
    }
}

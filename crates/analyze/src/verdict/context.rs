//! One run as the rules see it: what was measured and observed, at the step that decides.

use std::collections::BTreeSet;

use plimsoll_record::{Source, Subject};

use super::bounds;
use super::case::{Case, Watched, at};
use crate::findings::{At, Evidence, Observation, StepSummary, Used};
use crate::hosts::resource::{Resource, ResourceKind, ResourceUse};
use crate::hosts::topology::flow::Flow;
use crate::hosts::track::Span;
use crate::hosts::tracks::{GENERATOR, StepSamples};
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::utilisation::{BUSY, FREE};

/// One run, as the rules see it.
#[derive(Clone, Copy)]
pub(crate) struct RuleContext<'a> {
    pub(crate) case: &'a Case<'a>,
    pub(crate) samples: &'a StepSamples<'a>,
    pub(crate) resources: &'a [Resource],
    pub(crate) flow: &'a Flow,
    /// Index of the step that decides.
    pub(crate) step: usize,
}

impl<'a> RuleContext<'a> {
    /// The run at one of its steps.
    pub(crate) fn new(case: &'a Case<'a>, watched: &Watched<'a>, step: usize) -> Self {
        Self { case, samples: watched.samples, resources: watched.resources, flow: watched.flow, step }
    }

    /// The step that decides.
    pub(crate) fn decisive(&self) -> &'a StepSummary {
        &self.case.steps[self.step]
    }

    /// When it was measured.
    pub(crate) fn span(&self) -> Span {
        self.samples.spans[self.step]
    }

    /// Its throughput in requests per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.decisive().throughput.value
    }

    /// Where evidence of the deciding step stands.
    pub(crate) fn at(&self) -> At {
        at(self.decisive())
    }

    /// Evidence from the deciding step.
    pub(crate) fn row(&self, observed: Observation, value: f64, of: Option<f64>) -> Evidence {
        Evidence { observed, value, of, at: self.at() }
    }

    /// The share of something that was used in the deciding step, as evidence.
    pub(crate) fn share_row(&self, observed: Observation, share: f64) -> Evidence {
        self.row(observed, share, Some(1.0))
    }

    /// The use of a host's CPU, as evidence.
    pub(crate) fn cpu_row(&self, host: &str) -> Option<Evidence> {
        let used = self.cpu_share(host)?;
        Some(self.share_row(Observation::Cpu { host: host.to_owned() }, used))
    }

    /// A resource with the share of it that was used.
    pub(crate) fn use_of(&self, resource: &Resource, share: f64) -> ResourceUse {
        ResourceUse { resource: resource.id(), share }
    }

    /// How much of a resource was used, with what that is for each request.
    pub(crate) fn used(&self, resource: &Resource) -> Used {
        let per_sec = self.throughput();
        let spent = resource.used[self.step].filter(|_| per_sec > 0.0);
        Used { per_request: spent.map(|spent| spent / per_sec), ..self.used_by_law(resource) }
    }

    /// The same, with what a request uses by the utilisation law.
    pub(crate) fn used_by_law(&self, resource: &Resource) -> Used {
        Used {
            share: self.share(resource).unwrap_or_default(),
            capacity: resource.capacity.unwrap_or_default(),
            per_sec: self.throughput(),
            per_request: resource.demand.map(|demand| demand.per_request.value),
        }
    }

    /// The share of a resource that was used in the deciding step.
    pub(crate) fn share(&self, resource: &Resource) -> Option<f64> {
        resource.utilisation(self.step)
    }

    /// The resources of all hosts but the generator's.
    pub(crate) fn of_target(&self) -> impl Iterator<Item = &'a Resource> {
        let resources = self.resources;
        resources.iter().filter(|resource| resource.host != GENERATOR)
    }

    /// Those of one kind.
    pub(crate) fn of_kind(&self, kind: ResourceKind) -> impl Iterator<Item = &'a Resource> {
        self.of_target().filter(move |resource| resource.kind == kind)
    }

    /// The CPU of a host.
    pub(crate) fn cpu(&self, host: &str) -> Option<&'a Resource> {
        self.of_kind(ResourceKind::Cpu).find(|resource| resource.host == host)
    }

    /// The share of a host's CPU that was used.
    pub(crate) fn cpu_share(&self, host: &str) -> Option<f64> {
        self.cpu(host).and_then(|resource| self.share(resource))
    }

    /// Cores used by all watched processes of one name on a host, or of all names.
    pub(crate) fn cores_of_processes(&self, host: &str, name: Option<&str>, span: Span) -> Option<f64> {
        let ours = |subject: &Subject<'_>| name.is_none_or(|name| subject.name() == name);
        let tracks = self.samples.hosts.of(host, Source::Process).filter(|(subject, _)| ours(subject));
        tracks.filter_map(|(_, track)| cpu_of(track, span)).reduce(|a, b| a + b)
    }

    /// Watched processes of a host by name, with the cores that all of one name used, the busiest first.
    pub(crate) fn processes(&self, host: &str) -> Vec<(&'a str, f64)> {
        let names: BTreeSet<&str> =
            self.samples.hosts.of(host, Source::Process).map(|(subject, _)| subject.name()).collect();
        let cores = |name: &'a str| Some((name, self.cores_of_processes(host, Some(name), self.span())?));
        let mut all: Vec<(&str, f64)> = names.into_iter().filter_map(cores).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// The share of its periods in which the control group of a resource was out of quota.
    pub(crate) fn throttled(&self, resource: &Resource) -> Option<f64> {
        let runs_code = matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota);
        let group = self
            .samples
            .hosts
            .track(&resource.host, Source::Cgroup, resource.subject())
            .filter(|_| runs_code)?;
        group.throttled(self.span())
    }

    /// The names of the watched hosts.
    pub(crate) fn hosts(&self) -> Vec<&'a str> {
        self.samples.hosts.names().into_iter().collect()
    }

    /// What is between free and busy, or free on average and held up in most periods, and so cannot be ruled out.
    pub(crate) fn nearly_full(&self) -> Vec<&'a Resource> {
        let near = |resource: &&Resource| {
            let share = self.share(resource);
            let throttled = || self.throttled(resource).is_some_and(|ratio| ratio >= bounds::THROTTLED);
            share.is_some_and(|share| share < BUSY && (share >= FREE || throttled()))
        };
        self.of_target().filter(|resource| resource.kind.is_spent()).filter(near).collect()
    }
}

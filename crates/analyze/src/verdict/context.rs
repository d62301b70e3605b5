//! The observations as rules read them: at the load that is judged.

use std::collections::BTreeSet;

use plimsoll_record::{Metric, Source, Subject};

use super::bounds;
use crate::TableRow;
use crate::findings::{At, Estimate, Evidence, Observation, Place, StepSummary, Used};
use crate::hosts::resource::{Resource, ResourceKind, ResourceUse};
use crate::hosts::track::Span;
use crate::hosts::tracks::GENERATOR;
use crate::hosts::usage::compute::{cpu_of, cpu_of_children, is_compiler};
use crate::observations::Observations;

/// The observations, and the load that is judged.
#[derive(Clone, Copy)]
pub(crate) struct RuleContext<'a> {
    pub(crate) obs: &'a Observations<'a>,
    /// Index of the load that is judged.
    pub(crate) load: usize,
}

impl<'a> RuleContext<'a> {
    /// All steps of a run; none of a table.
    pub(crate) fn steps(&self) -> &'a [StepSummary] {
        self.obs.steps()
    }

    /// The step that is judged; `None` for a row of a table.
    pub(crate) fn step(&self) -> Option<&'a StepSummary> {
        self.steps().get(self.load)
    }

    /// The row that is judged; `None` for a step of a run.
    pub(crate) fn row_of_table(&self) -> Option<&'a TableRow> {
        self.obs.rows.get(self.load).copied()
    }

    /// Connections of the step, to repeat its load with.
    pub(crate) fn connections(&self) -> Option<u32> {
        self.step().map(|step| step.connections)
    }

    /// The target by its URL's authority.
    pub(crate) fn target(&self) -> Place {
        self.obs.target()
    }

    /// When the load was measured, by the clock of the samples.
    pub(crate) fn span(&self) -> Span {
        self.obs.spans.get(self.load).copied().unwrap_or_default()
    }

    /// Requests per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.throughput_estimate().value
    }

    /// Requests per second, with the interval.
    pub(crate) fn throughput_estimate(&self) -> Estimate {
        self.obs.loads[self.load].throughput
    }

    /// The position of the load, for evidence.
    pub(crate) fn at(&self) -> At {
        self.obs.loads[self.load].at.clone()
    }

    /// Evidence from the load.
    pub(crate) fn row(&self, observed: Observation, value: f64, of: Option<f64>) -> Evidence {
        Evidence { observed, value, of, at: self.at() }
    }

    /// The load of the generator itself, as evidence.
    pub(crate) fn generator_row(&self) -> Option<Evidence> {
        Some(self.obs.run?.generator_row(self.step()?))
    }

    /// The share of something that was used, as evidence.
    pub(crate) fn share_row(&self, observed: Observation, share: f64) -> Evidence {
        self.row(observed, share, Some(1.0))
    }

    /// The use of a host's CPU, as evidence.
    pub(crate) fn cpu_row(&self, host: &str) -> Option<Evidence> {
        let used = self.utilisation(self.cpu(host)?)?;
        Some(self.share_row(Observation::Cpu { host: host.to_owned() }, used))
    }

    /// A resource with the share of it that was used.
    pub(crate) fn use_of(&self, resource: &Resource) -> ResourceUse {
        ResourceUse { resource: resource.id(), share: self.utilisation(resource).unwrap_or_default() }
    }

    /// How much of a resource was used, in all and per request. In a table there is no value per request: one machine of a tier
    /// serves only a part of the requests.
    pub(crate) fn used(&self, resource: &Resource) -> Used {
        let per_sec = self.throughput();
        let spent = resource.used[self.load].filter(|_| per_sec > 0.0 && self.obs.rows.is_empty());
        Used { per_request: spent.map(|spent| spent / per_sec), ..self.used_by_law(resource) }
    }

    /// As [`used`](Self::used), with the use per request by the utilisation law.
    pub(crate) fn used_by_law(&self, resource: &Resource) -> Used {
        let demand = resource.demand.filter(|_| self.obs.rows.is_empty());
        Used {
            share: self.utilisation(resource).unwrap_or_default(),
            capacity: resource.capacity.unwrap_or_default(),
            per_sec: self.throughput(),
            per_request: demand.map(|demand| demand.per_request.value),
        }
    }

    /// The share of its capacity that was used, as reports show it.
    fn utilisation(&self, resource: &Resource) -> Option<f64> {
        resource.utilisation(self.load)
    }

    /// The share of the usable capacity that was used; rules judge a resource by it.
    pub(crate) fn share(&self, resource: &Resource) -> Option<f64> {
        Some(resource.used[self.load]? / self.obs.usable(resource)?)
    }

    /// The resources of all hosts but the generator's, without compiler threads and threads of processes that serve no requests.
    pub(crate) fn of_target(&self) -> impl Iterator<Item = &'a Resource> {
        let obs = self.obs;
        let is_thread = |resource: &Resource| resource.kind == ResourceKind::Thread;
        let resources = obs.resources.iter().filter(|resource| resource.host != GENERATOR);
        let serves = move |one: &Resource| one.subject().is_none_or(|subject| obs.serves(&one.host, subject));
        resources.filter(move |one| !is_thread(one) || serves(one) && !is_compiler(one.name()))
    }

    /// The resources of the target that are of one kind.
    pub(crate) fn of_kind(&self, kind: ResourceKind) -> impl Iterator<Item = &'a Resource> {
        self.of_target().filter(move |resource| resource.kind == kind)
    }

    /// The CPUs of all hosts.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = &'a Resource> {
        self.of_kind(ResourceKind::Cpu).chain(self.of_kind(ResourceKind::Machine))
    }

    /// The CPU of a host.
    pub(crate) fn cpu(&self, host: &str) -> Option<&'a Resource> {
        let home = self.obs.hosts.home(host);
        self.cpus().find(|resource| resource.host == home)
    }

    /// The share of a host's CPU that was used.
    pub(crate) fn cpu_share(&self, host: &str) -> Option<f64> {
        self.cpu(host).and_then(|resource| self.share(resource))
    }

    /// True if the CPU of a host was observed.
    pub(crate) fn is_cpu_known(&self) -> bool {
        self.hosts().iter().any(|host| self.cpu_share(host).is_some())
    }

    /// The growth of a counter of the host itself, per second.
    pub(crate) fn rate(&self, host: &str, metric: Metric) -> Option<f64> {
        self.obs.hosts.track(host, metric.source, Subject::Host)?.per_sec(metric, self.span())
    }

    /// Cores used by all watched processes of one name on a host, or of all names if `name` is `None`.
    pub(crate) fn cores_of_processes(&self, host: &str, name: Option<&str>, span: Span) -> Option<f64> {
        let ours = |subject: &Subject<'_>| name.is_none_or(|name| subject.name() == name);
        let tracks = self.obs.hosts.of(host, Source::Process).filter(|(subject, _)| ours(subject));
        tracks.filter_map(|(_, track)| cpu_of(track, span)).reduce(|a, b| a + b)
    }

    /// Cores used by the children of all processes of a name.
    pub(crate) fn cores_of_children(&self, host: &str, name: &str, span: Span) -> f64 {
        let ours = self.obs.hosts.of(host, Source::Process).filter(|(subject, _)| subject.name() == name);
        ours.filter_map(|(_, track)| cpu_of_children(track, span)).sum()
    }

    /// Watched processes of a host by name, with the cores that all of one name used, the busiest first.
    pub(crate) fn processes(&self, host: &str) -> Vec<(&'a str, f64)> {
        let names: BTreeSet<&str> =
            self.obs.hosts.of(host, Source::Process).map(|(subject, _)| subject.name()).collect();
        let cores = |name: &'a str| Some((name, self.cores_of_processes(host, Some(name), self.span())?));
        let mut all: Vec<(&str, f64)> = names.into_iter().filter_map(cores).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// The share of its periods in which the control group of a resource was out of quota.
    pub(crate) fn throttled(&self, resource: &Resource) -> Option<f64> {
        let runs_code = matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota);
        let group = resource.subject().filter(|_| runs_code)?;
        let group = self.obs.hosts.track(&resource.host, Source::Cgroup, group)?;
        group.throttled(self.span())
    }

    /// True if the control group of a resource was out of quota in most periods.
    pub(crate) fn is_throttled(&self, resource: &Resource) -> bool {
        self.throttled(resource).is_some_and(|part| part >= bounds::THROTTLED)
    }

    /// The names of the watched hosts, or of the tiers of a row.
    pub(crate) fn hosts(&self) -> Vec<&'a str> {
        self.obs.hosts_of(self.load)
    }
}

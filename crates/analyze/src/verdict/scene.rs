//! What the rules look at, and what they say.

use std::collections::BTreeSet;

use crate::hosts::{GENERATOR, Span};
use crate::topology::Flow;
use crate::usage::Seen;
use crate::{Estimate, EvidenceRow, Limit, Resource, ResourceKind, StepSummary};

use super::{Case, at, bounds, row};

/// One run, as the rules see it.
pub(crate) struct Scene<'a> {
    pub(crate) case: &'a Case<'a>,
    pub(crate) seen: &'a Seen<'a>,
    pub(crate) resources: &'a [Resource],
    pub(crate) flow: &'a Flow,
    /// Index of the step that decides.
    pub(crate) step: usize,
}

/// Something that may be the limit, by one rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Suspicion {
    pub(crate) limit: Limit,
    pub(crate) place: String,
    /// The part of it that was used; 1 for what was at its end.
    pub(crate) share: f64,
    /// At which throughput it is used up.
    pub(crate) at_per_sec: Option<Estimate>,
    pub(crate) size: Option<Estimate>,
    /// True if it was seen at its end, and to be used by the requests: not merely what is left over.
    pub(crate) direct: bool,
    /// True if somebody else uses it up, on a host of the target's.
    pub(crate) by_neighbour: bool,
    pub(crate) evidence: Vec<EvidenceRow>,
    pub(crate) advice: Vec<String>,
    /// True if it is used whatever the load, as by threads that poll without pause: being full then tells nothing.
    pub(crate) whatever_the_load: bool,
    /// What cannot be told from it by what it is.
    pub(crate) beside: Vec<Suspicion>,
    /// What was seen, fit to begin the verdict's text.
    pub(crate) sentence: String,
}

impl Suspicion {
    pub(crate) fn new(limit: Limit, place: impl Into<String>, sentence: String) -> Self {
        Self {
            limit,
            place: place.into(),
            share: 1.0,
            at_per_sec: None,
            size: None,
            direct: false,
            by_neighbour: false,
            whatever_the_load: false,
            beside: Vec::new(),
            evidence: Vec::new(),
            advice: Vec::new(),
            sentence,
        }
    }

    /// The host's name alone.
    pub(crate) fn host(&self) -> &str {
        self.place.split_once(": ").map_or(&self.place, |(host, _)| host)
    }
}

impl<'a> Scene<'a> {
    /// The step that decides.
    pub(crate) fn decisive(&self) -> &'a StepSummary {
        &self.case.steps[self.step]
    }

    /// When it was measured.
    pub(crate) fn span(&self) -> Span {
        self.seen.spans[self.step]
    }

    /// Its throughput in requests per second.
    pub(crate) fn throughput(&self) -> f64 {
        self.decisive().throughput.value
    }

    /// Where evidence of the deciding step stands.
    pub(crate) fn at(&self) -> String {
        at(self.decisive())
    }

    /// Evidence from the deciding step.
    pub(crate) fn row(&self, what: impl Into<String>, value: f64, of: Option<f64>) -> EvidenceRow {
        row(what, value, of, self.at())
    }

    /// The part of a resource that was used in the deciding step.
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

    /// The part of a host's CPU that was used.
    pub(crate) fn cpu_share(&self, host: &str) -> Option<f64> {
        self.cpu(host).and_then(|resource| self.share(resource))
    }

    /// Cores used by all watched processes of one name on a host, or of all names.
    pub(crate) fn cores_of_processes(&self, host: &str, name: Option<&str>, span: Span) -> Option<f64> {
        let ours = |subject: &str| name.is_none_or(|name| crate::hosts::name_of(subject) == name);
        let tracks = self.seen.hosts.of(host, "process").filter(|(subject, _)| ours(subject));
        tracks.filter_map(|(_, track)| crate::usage::cpu_of(track, span)).reduce(|a, b| a + b)
    }

    /// Watched processes of a host by name, with the cores that all of one name used, the busiest first.
    pub(crate) fn processes(&self, host: &str) -> Vec<(&'a str, f64)> {
        let names: BTreeSet<&str> =
            self.seen.hosts.of(host, "process").map(|(subject, _)| crate::hosts::name_of(subject)).collect();
        let cores = |name: &'a str| Some((name, self.cores_of_processes(host, Some(name), self.span())?));
        let mut all: Vec<(&str, f64)> = names.into_iter().filter_map(cores).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// The part of its periods in which the control group of a resource was out of quota.
    pub(crate) fn throttled(&self, resource: &Resource) -> Option<f64> {
        let runs_code = matches!(resource.kind, ResourceKind::Cpu | ResourceKind::Quota);
        let group =
            self.seen.hosts.track(&resource.host, "cgroup", &resource.detail).filter(|_| runs_code)?;
        group.throttled(self.span())
    }

    /// The names of the hosts that were looked at.
    pub(crate) fn hosts(&self) -> Vec<&'a str> {
        self.seen.hosts.names().into_iter().collect()
    }

    /// What is between free and busy, or free on average and held up in most periods, and so cannot be ruled out.
    pub(crate) fn nearly_full(&self) -> Vec<&'a Resource> {
        let near = |resource: &&Resource| {
            let share = self.share(resource);
            let throttled = || self.throttled(resource).is_some_and(|ratio| ratio >= bounds::THROTTLED);
            share.is_some_and(|share| share < bounds::BUSY && (share >= bounds::FREE || throttled()))
        };
        self.of_target().filter(|resource| resource.kind.is_spent()).filter(near).collect()
    }
}

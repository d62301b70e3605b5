//! The hosts that were sampled, and the tiers that requests pass through.

use plimsoll_analyze::{
    ComponentLoad, Endpoint, Findings, Limit, Resource, StepSummary, TierEdge, TierNode, Unread, Verdict,
    WatchedHost, cores_of_tiers, watched_hosts,
};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;

use super::document::{document, each};
use crate::amount::plateau_position;

document! {
    /// A host that was sampled.
    pub struct HostDocument(findings: &Findings, host: &WatchedHost) {
        /// Its name.
        name: String = &host.name,
        /// Its role in the plan; null if the plan gives none.
        tier: Option<String> = planned(findings, host).and_then(|planned| planned.tier.clone()),
        /// Its address; null if the plan does not give it.
        address: Option<String> =
            planned(findings, host).and_then(|planned| Some(planned.address?.to_string())),
        /// The use of each of its resources in each step.
        usage: Vec<UsageDocument> = usage(findings, &host.name),
        /// What components on it reported at the step of the plateau.
        components: Vec<ComponentLoad> = host.components.clone(),
        /// The sources that could not be read.
        unread: Vec<Unread> = host.unread.clone(),
        /// The cost of sampling it, in cores of the machine that did so, over the run; null where that was not measured.
        probe_cores: Option<f64> = host.probe_cores,
    }

    /// The use of one resource of a host in one step.
    pub struct UsageDocument(position: usize, step: &StepSummary, resource: &Resource, used: f64) {
        /// The position of the step among `steps`.
        step: u32 = position as u32,
        /// Its connections.
        connections: u32 = step.connections,
        /// The resource: `cpu`, `core`, `allowed_cores`, `thread`, `quota`, `bandwidth_out`, `bandwidth_in`,
        /// `packets_out`, `packets_in`, `disk`, `disk_read`, `disk_write`, `memory`, `descriptors`, `accept_queue`,
        /// `connections`.
        resource: &'static str = resource.kind.name(),
        /// The part of the host: a core, a thread, an interface, a device; empty for the host itself.
        of: String = resource.part.to_string(),
        /// The use: the mean over the measured time for what is consumed, such as CPU time; the maximum for what is
        /// occupied, such as memory.
        used: f64 = used,
        /// The capacity; null where it is not known.
        capacity: Option<f64> = resource.capacity,
        /// The unit of `used` and `capacity`.
        unit: &'static str = resource.kind.unit(),
    }

    /// A process that requests pass through.
    pub struct TierDocument(findings: &Findings, tier: &TierNode, cores: Option<f64>) {
        /// Its host, or its address where the host is not sampled.
        host: String = &tier.host,
        /// Its name; null where it is not known.
        process: Option<String> = tier.process.clone(),
        /// The process and its children, as far as they are known.
        pids: Vec<u32> = tier.pids.clone(),
        /// The port that it listens on; null where that is a unix socket.
        port: Option<u16> = match &tier.endpoint { Endpoint::Port(port) => Some(*port), Endpoint::Unix(_) => None },
        /// The path of the unix socket that it listens on; null where that is a port.
        unix_socket: Option<String> = match &tier.endpoint { Endpoint::Port(_) => None, Endpoint::Unix(path) => Some(path.clone()) },
        /// How many connections away from the generator it is, from 1.
        depth: u32 = tier.depth,
        /// Cores that its processes used at the step of the plateau; null where that was not sampled.
        cores: Option<f64> = cores,
        /// True if the limit of the verdict is in it, or is shared by all processes of its host, such as the CPU.
        is_limit: bool = is_limit(&findings.verdict, tier),
        /// The tiers that it is connected to.
        downstream: Vec<EdgeDocument> = each(&tier.downstream, EdgeDocument::new),
    }

    /// The connections from one tier to another.
    pub struct EdgeDocument(edge: &TierEdge) {
        /// The position of the other tier among `tiers`.
        to: usize = edge.to,
        /// The maximum number of connections at one time.
        connections: u64 = edge.connections,
    }
}

/// All hosts that were sampled.
pub(super) fn hosts(run: &Run, findings: &Findings) -> Vec<HostDocument> {
    let Some(position) = plateau_position(findings) else { return Vec::new() };
    each(&watched_hosts(run, &findings.steps, position), |host| HostDocument::new(findings, host))
}

/// Returns all tiers that were found; none where only the target's address is known.
pub(super) fn tiers(run: &Run, findings: &Findings) -> Vec<TierDocument> {
    let topology = &findings.topology;
    let cores = plateau_position(findings)
        .map_or_else(Vec::new, |position| cores_of_tiers(run, &findings.steps, position, topology));
    let known = topology.tiers.iter().enumerate().filter(|_| topology.is_known());
    let tier = |(index, tier)| TierDocument::new(findings, tier, cores.get(index).copied().flatten());
    known.map(tier).collect()
}

fn is_limit(verdict: &Verdict, tier: &TierNode) -> bool {
    !matches!(verdict.limit, Limit::Unknown | Limit::None) && tier.is_at(&verdict.place)
}

fn planned<'a>(findings: &'a Findings, host: &WatchedHost) -> Option<&'a PlanHost> {
    findings.plan.hosts.iter().find(|planned| planned.name == host.name)
}

/// The use of each resource of a host, step by step.
fn usage(findings: &Findings, host: &str) -> Vec<UsageDocument> {
    let resources = || findings.resources.iter().filter(|resource| resource.host == host);
    let steps = findings.steps.iter().enumerate();
    let rows = steps.flat_map(|(position, step)| {
        resources().filter_map(move |resource| {
            let used = (*resource.used.get(position)?)?;
            Some(UsageDocument::new(position, step, resource, used))
        })
    });
    rows.collect()
}

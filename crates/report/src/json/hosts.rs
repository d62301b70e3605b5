//! The hosts that were looked at, and the tiers that requests pass.

use plimsoll_analyze::{
    ComponentLoad, Door, FigureUnit, Findings, TierNode, Unread, WatchedHost, watched_hosts,
};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;
use schemars::JsonSchema;
use serde::Serialize;

use super::finite;
use crate::watched::told_step;

/// A host that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HostDocument {
    /// Its name.
    pub name: String,
    /// The role that the plan gives it, if it does.
    pub tier: Option<String>,
    /// Its address, if the plan tells.
    pub address: Option<String>,
    /// What was used of each of its resources in each step.
    pub usage: Vec<UsageDocument>,
    /// What components on it told, at the step of the plateau.
    pub components: Vec<ComponentDocument>,
    /// What could not be read.
    pub unread: Vec<UnreadDocument>,
    /// What looking at it cost the machine that did, in cores over the run; null where that was not measured.
    pub probe_cores: Option<f64>,
}

/// What was used of one resource of a host in one step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UsageDocument {
    /// The position of the step among `steps`.
    pub step: u32,
    /// Its connections.
    pub connections: u32,
    /// What was used: `cpu`, `core`, `thread`, `quota`, `bandwidth_out`, `bandwidth_in`, `packets_out`, `packets_in`, `disk`,
    /// `disk_read`, `disk_write`, `memory`, `descriptors`, `accept_queue`, `connections`.
    pub resource: &'static str,
    /// What of the host: a core, a thread, an interface, a device; empty for the host itself.
    pub of: String,
    /// How much was used: the mean over the measured time for what is spent, the most for what is held.
    pub used: Option<f64>,
    /// How much there is; null where that is not known.
    pub capacity: Option<f64>,
    /// The unit of both.
    pub unit: &'static str,
}

/// A component on a host.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComponentDocument {
    /// What it is: `nginx`, `redis`.
    pub component: String,
    /// Where it was asked.
    pub address: String,
    /// What it told.
    pub figures: Vec<FigureDocument>,
}

/// One figure of a component.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FigureDocument {
    /// What it counts.
    pub what: &'static str,
    /// Its mean over the step.
    pub value: Option<f64>,
    /// `per_sec`, `count`, `bytes`, or `ratio` for a part of the time.
    pub unit: &'static str,
}

/// A source that could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct UnreadDocument {
    /// The source.
    pub source: String,
    /// How often it could not be read.
    pub times: u64,
    /// How often it was read all the same.
    pub read: u64,
    /// Why, the first time.
    pub why: String,
}

/// A process that requests pass.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TierDocument {
    /// Its host, or its address where nothing is looked at.
    pub host: String,
    /// Its name; null where it is not known.
    pub process: Option<String>,
    /// The process and its children, as far as they are known.
    pub pids: Vec<u32>,
    /// The port on which it is reached; null where that is a unix socket.
    pub port: Option<u16>,
    /// The path of the unix socket on which it is reached; null where that is a port.
    pub unix_socket: Option<String>,
    /// How many connections away from the generator it is, from 1.
    pub depth: u32,
    /// What it is connected to.
    pub downstream: Vec<EdgeDocument>,
}

/// The connections from one tier to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EdgeDocument {
    /// The position of the other among `tiers`.
    pub to: usize,
    /// The most of them that were seen at a time.
    pub connections: u64,
}

/// All hosts that were looked at.
pub(super) fn hosts(run: &Run, findings: &Findings) -> Vec<HostDocument> {
    let Some(position) = told_step(findings) else { return Vec::new() };
    let hosts = watched_hosts(run, &findings.steps, position);
    hosts.into_iter().map(|host| HostDocument::of(findings, host)).collect()
}

/// All tiers that were found; none where no more than the target's address is known.
pub(super) fn tiers(findings: &Findings) -> Vec<TierDocument> {
    let known = Some(&findings.topology).filter(|topology| topology.is_known());
    known.into_iter().flat_map(|topology| &topology.tiers).map(TierDocument::of).collect()
}

impl HostDocument {
    fn of(findings: &Findings, host: WatchedHost) -> Self {
        let planned = findings.plan.hosts.iter().find(|planned| planned.name == host.name);
        Self {
            tier: planned.and_then(|planned| planned.tier.clone()),
            address: planned.and_then(|PlanHost { address, .. }| Some((*address)?.to_string())),
            usage: usage(findings, &host.name),
            components: host.components.into_iter().map(ComponentDocument::of).collect(),
            unread: host.unread.into_iter().map(UnreadDocument::of).collect(),
            probe_cores: host.probe_cores.and_then(finite),
            name: host.name,
        }
    }
}

/// Rows of what was seen, step by step.
fn usage(findings: &Findings, host: &str) -> Vec<UsageDocument> {
    let resources = || findings.resources.iter().filter(|resource| resource.host == host);
    let steps = findings.steps.iter().enumerate();
    let rows = steps.flat_map(|(position, step)| {
        resources().filter_map(move |resource| {
            Some(UsageDocument {
                step: position as u32,
                connections: step.connections,
                resource: resource.kind.name(),
                of: resource.detail.clone(),
                used: finite((*resource.used.get(position)?)?),
                capacity: resource.capacity.and_then(finite),
                unit: resource.kind.unit(),
            })
        })
    });
    rows.collect()
}

impl ComponentDocument {
    fn of(component: ComponentLoad) -> Self {
        let unit = |unit| match unit {
            FigureUnit::PerSec => "per_sec",
            FigureUnit::Count => "count",
            FigureUnit::Bytes => "bytes",
            FigureUnit::Ratio => "ratio",
        };
        let figures = component.figures.iter().map(|figure| FigureDocument {
            what: figure.name,
            value: finite(figure.value),
            unit: unit(figure.unit),
        });
        Self { figures: figures.collect(), component: component.source, address: component.address }
    }
}

impl UnreadDocument {
    fn of(Unread { source, times, read, why }: Unread) -> Self {
        Self { source, times, read, why }
    }
}

impl TierDocument {
    fn of(tier: &TierNode) -> Self {
        let TierNode { host, process, pids, door, depth, downstream } = tier.clone();
        let (port, unix_socket) = match door {
            Door::Port(port) => (Some(port), None),
            Door::Unix(path) => (None, Some(path)),
        };
        let edges = downstream.iter().map(|edge| EdgeDocument { to: edge.to, connections: edge.connections });
        Self { host, process, pids, port, unix_socket, depth, downstream: edges.collect() }
    }
}

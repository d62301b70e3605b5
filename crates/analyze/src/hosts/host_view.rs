//! What hosts reported apart from their resources: components, throttling, unreadable sources, and the cost of sampling.

use std::collections::BTreeMap;

use plimsoll_record::metric::{go, jvm, mariadb, memcached, nginx, probe, process, redis};
use plimsoll_record::{HostSample, Metric, MetricKind, Reading, Run, Source, Subject, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use super::topology::{TierNode, Topology};
use super::track::{Span, Track};
use super::tracks::{Hosts, spans};
use super::usage::compute::cpu_of;
use crate::StepSummary;
use Form::{Always, Growing, Waiters};

/// A sampled host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchedHost {
    pub name: String,
    pub components: Vec<ComponentLoad>,
    pub throttled: Vec<Throttled>,
    /// What could not be read, each source once.
    pub unread: Vec<Unread>,
    /// Cores that sampling it cost the machine that did it, over the whole run; `None` where that was not measured.
    pub probe_cores: Option<f64>,
}

/// A component on a host.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ComponentDocument")]
pub struct ComponentLoad {
    /// Its kind: `nginx`, `redis`.
    #[serde(rename = "component")]
    pub source: String,
    /// The address it was queried at.
    pub address: String,
    /// What it reported.
    pub figures: Vec<ComponentFigure>,
}

/// One figure of a component.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FigureDocument")]
pub struct ComponentFigure {
    /// What it counts.
    #[serde(rename = "what")]
    pub name: &'static str,
    /// Its mean over the step.
    pub value: f64,
    /// `per_sec`, `count`, `bytes`, or `ratio` for a part of the time.
    #[schemars(with = "String")]
    pub unit: FigureUnit,
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// A number per second.
    PerSec,
    /// A number at a time.
    Count,
    Bytes,
    /// A share of the time, from 0.
    Ratio,
}

/// A control group that was held back by its quota.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttled {
    /// The group's path; empty for the host itself.
    pub group: String,
    /// The share of its periods in which it was held back, from 0 to 1.
    pub ratio: f64,
}

/// A source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "UnreadDocument")]
pub struct Unread {
    /// As `docs/metrics.md` names it, such as `cgroup`.
    pub source: String,
    /// How often it could not be read.
    pub times: u64,
    /// How often it was read.
    pub read: u64,
    /// The reason of the first failure.
    pub why: String,
}

/// How a metric is shown, in addition to its kind and unit.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Always,
    /// Only if it grows.
    Growing,
    /// Time that many spend at once, shown as how many do on average (Little's law).
    Waiters,
}

/// The metrics of components that are shown, with the words that follow the value. A counter is shown by its growth per second, a
/// counter of time as a share of the time, a gauge by its mean.
const KNOWN: [(Metric, &str, Form); 28] = [
    (nginx::REQUESTS, "requests", Always),
    (nginx::ACCEPTS, "connections accepted", Growing),
    (nginx::ACTIVE, "connections", Always),
    (nginx::WRITING, "of them being answered", Always),
    (redis::COMMANDS, "commands", Always),
    (redis::MAIN_THREAD_CPU_US, "of a core in its main thread", Always),
    (redis::CONNECTED_CLIENTS, "clients", Always),
    (redis::BLOCKED_CLIENTS, "clients blocked", Always),
    (redis::USED_MEMORY_BYTES, "in use", Always),
    (redis::REJECTED_CONNECTIONS, "connections rejected", Growing),
    (redis::EVICTED_KEYS, "keys evicted", Growing),
    (memcached::COMMANDS_GET, "gets", Always),
    (memcached::COMMANDS_SET, "sets", Always),
    (memcached::CURR_CONNECTIONS, "connections", Always),
    (memcached::LISTEN_DISABLED, "times it stopped accepting", Growing),
    (mariadb::QUESTIONS, "questions", Always),
    (mariadb::THREADS_RUNNING, "threads running", Always),
    (mariadb::THREADS_CONNECTED, "connections", Always),
    (mariadb::INNODB_ROW_LOCK_TIME_MS, "threads waiting for row locks", Waiters),
    (mariadb::INNODB_OS_LOG_FSYNCS, "fsyncs of the log", Always),
    (mariadb::CONNECTION_ERRORS_MAX_CONNECTIONS, "connections refused", Growing),
    (go::GOROUTINES, "goroutines", Always),
    (go::GC_CYCLES, "collections", Always),
    (go::GC_PAUSE_US, "of the time paused to collect", Always),
    (go::HEAP_BYTES, "of heap", Always),
    (jvm::GC_TIME_MS, "of the time collecting", Always),
    (jvm::HEAP_USED_BYTES, "of heap", Always),
    (jvm::THREADS, "threads", Always),
];

fn figure(
    (metric, name, form): (Metric, &'static str, Form),
    track: &Track<'_>,
    span: Span,
) -> Option<ComponentFigure> {
    let of_time = if form == Waiters { FigureUnit::Count } else { FigureUnit::Ratio };
    let (unit, value) = match (metric.kind, metric.unit) {
        (MetricKind::Counter, Unit::Ms) => (of_time, track.per_sec(metric, span)? / 1e3),
        (MetricKind::Counter, Unit::Us) => (of_time, track.per_sec(metric, span)? / 1e6),
        (MetricKind::Counter, _) => (FigureUnit::PerSec, track.per_sec(metric, span)?),
        (MetricKind::Gauge, Unit::Bytes) => (FigureUnit::Bytes, track.mean(metric, span)?),
        (MetricKind::Gauge, _) => (FigureUnit::Count, track.mean(metric, span)?),
    };
    (form != Growing || value > 0.0).then_some(ComponentFigure { name, unit, value })
}

/// The hosts other than the generator that were sampled or should have been, by name. Figures are those of the step at this
/// position.
pub fn watched_hosts(run: &Run, steps: &[StepSummary], position: usize) -> Vec<WatchedHost> {
    let hosts = Hosts::new(run);
    let span = spans(run, steps).get(position).copied();
    let of = |name: &str| WatchedHost {
        name: name.to_owned(),
        components: span.map_or_else(Vec::new, |span| components(&hosts, name, span)),
        throttled: span.map_or_else(Vec::new, |span| throttled(&hosts, name, span)),
        unread: unread(&run.hosts, name),
        probe_cores: probe_cores(&run.hosts, name),
    };
    hosts.names().into_iter().map(of).collect()
}

fn components(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<ComponentLoad> {
    let mut components = Vec::new();
    for known in KNOWN.chunk_by(|a, b| a.0.source == b.0.source) {
        let source = known[0].0.source;
        for (address, track) in hosts.of(name, source) {
            let figures = known.iter().filter_map(|known| figure(*known, track, span)).collect();
            components.push(ComponentLoad {
                source: source.to_string(),
                address: address.to_string(),
                figures,
            });
        }
    }
    components.retain(|component| !component.figures.is_empty());
    components
}

fn throttled(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<Throttled> {
    let one = |(group, track): (Subject<'_>, &Track<'_>)| {
        let ratio = track.throttled(span)?;
        (ratio > 0.0).then(|| Throttled { group: group.to_string(), ratio })
    };
    hosts.of(name, Source::Cgroup).filter_map(one).collect()
}

fn unread(samples: &[HostSample], name: &str) -> Vec<Unread> {
    let mut sources: BTreeMap<&str, Unread> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name) {
        let new = || Unread { source: sample.source.to_string(), times: 0, read: 0, why: String::new() };
        let source = sources.entry(sample.source.as_str()).or_insert_with(new);
        match &sample.reading {
            Reading::Failed(why) => {
                if source.times == 0 {
                    source.why.clone_from(why);
                }
                source.times += 1;
            }
            Reading::Ok(_) => source.read += 1,
            Reading::Absent => {}
        }
    }
    sources.into_values().filter(|source| source.times > 0).collect()
}

/// Cores used by all threads that sampled a host, from their first sample to their last.
fn probe_cores(samples: &[HostSample], name: &str) -> Option<f64> {
    let mut threads: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name && sample.source == Source::Probe) {
        if let Reading::Ok(counters) = &sample.reading
            && let Some(cpu_us) = counters.get(probe::CPU_US)
        {
            threads.entry(&sample.subject).or_default().push((sample.ended_ns, cpu_us));
        }
    }
    let cores = threads.into_values().filter_map(|reads| {
        let (first, last) = (reads.first()?, reads.last()?);
        let span_ns = last.0.checked_sub(first.0).filter(|span_ns| *span_ns > 0)?;
        Some(last.1.checked_sub(first.1)? as f64 * 1e3 / span_ns as f64)
    });
    cores.reduce(|a, b| a + b)
}

/// Calls per second of all watched processes of each host other than the generator's, as the kernel counts reads and
/// writes of any kind of file for each process. Calls that only sockets have (send, recv) are not included. Hosts of
/// which nothing was read are left out.
pub fn io_calls_per_sec(run: &Run, steps: &[StepSummary], position: usize) -> Vec<(String, f64)> {
    let hosts = Hosts::new(run);
    let Some(span) = spans(run, steps).get(position).copied() else { return Vec::new() };
    let of = |name: &str| {
        let tracks = hosts.of(name, Source::Process).map(|(_, track)| track);
        let calls = tracks.filter_map(|track| {
            Some(track.per_sec(process::READ_CALLS, span)? + track.per_sec(process::WRITE_CALLS, span)?)
        });
        Some((name.to_owned(), calls.reduce(|a, b| a + b)?))
    };
    hosts.names().into_iter().filter_map(of).collect()
}

/// Cores used by the processes of each tier in the step at this position; `None` where they were not sampled.
pub fn cores_of_tiers(
    run: &Run,
    steps: &[StepSummary],
    position: usize,
    topology: &Topology,
) -> Vec<Option<f64>> {
    let hosts = Hosts::new(run);
    let span = spans(run, steps).get(position).copied();
    let of = |tier: &TierNode| {
        let ours = |subject: Subject<'_>| subject.pid().is_some_and(|pid| tier.pids.contains(&pid));
        let tracks = hosts.of(&tier.host, Source::Process).filter(|(subject, _)| ours(*subject));
        tracks.filter_map(|(_, track)| cpu_of(track, span?)).reduce(|a, b| a + b)
    };
    topology.tiers.iter().map(of).collect()
}

//! What hosts reported apart from their resources: components, throttling, unreadable sources, and the cost of sampling.

use std::collections::BTreeMap;

use plimsoll_record::{HostSample, Reading, Run};

use super::step_samples::spans;
use super::track::{Span, Track};
use super::tracks::{GENERATOR, Hosts};
use crate::StepSummary;

/// A sampled host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WatchedHost {
    /// Its name.
    pub name: String,
    /// What components reported over the step.
    pub components: Vec<ComponentLoad>,
    /// The control groups that were held back over the step.
    pub throttled: Vec<Throttled>,
    /// What could not be read, each source once.
    pub unread: Vec<Unread>,
    /// What sampling it cost the machine that did it: cores, over the whole run. `None` where that was not measured.
    pub probe_cores: Option<f64>,
}

/// A component over one step.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentLoad {
    /// What it is: `nginx`, `redis`.
    pub source: String,
    /// Where it was asked.
    pub address: String,
    /// What it reported, in the order in which it is worth reading.
    pub figures: Vec<ComponentFigure>,
}

/// One figure of a component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComponentFigure {
    /// What it counts, fit to follow its value: `requests`.
    pub name: &'static str,
    /// How it is to be read.
    pub unit: FigureUnit,
    /// Its value: the mean over the step.
    pub value: f64,
}

/// How a figure is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureUnit {
    /// So many each second.
    PerSec,
    /// So many at a time.
    Count,
    /// Bytes.
    Bytes,
    /// A part of the time, from 0.
    Ratio,
}

/// A control group that was held back by its quota.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttled {
    /// The group's path; empty for the host itself.
    pub group: String,
    /// The part of its periods in which it was held back, from 0 to 1.
    pub ratio: f64,
}

/// A source that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The source.
    pub source: String,
    /// How often it could not be read.
    pub times: u64,
    /// How often it was.
    pub read: u64,
    /// Why, the first time.
    pub why: String,
}

/// A counter of a component that is worth reading.
struct Known {
    source: &'static str,
    counter: &'static str,
    name: &'static str,
    kind: Kind,
}

/// What a counter is.
#[derive(Clone, Copy)]
enum Kind {
    /// A total: shown as its growth each second.
    Total,
    /// A total that is shown only once it grows.
    Growth,
    /// Time in milliseconds: shown as a part of the time.
    Milliseconds,
    /// Time in microseconds: shown as a part of the time.
    Microseconds,
    /// Time in milliseconds that many spend at once: shown as how many do on average (Little's law).
    Waiters,
    /// A level.
    Level,
    /// A level in bytes.
    Bytes,
}

const fn known(source: &'static str, counter: &'static str, name: &'static str, kind: Kind) -> Known {
    Known { source, counter, name, kind }
}

const KNOWN: [Known; 28] = [
    known("nginx", "requests", "requests", Kind::Total),
    known("nginx", "accepts", "connections accepted", Kind::Growth),
    known("nginx", "active", "connections", Kind::Level),
    known("nginx", "writing", "of them being answered", Kind::Level),
    known("redis", "commands", "commands", Kind::Total),
    known("redis", "main_thread_cpu_us", "of a core in its main thread", Kind::Microseconds),
    known("redis", "connected_clients", "clients", Kind::Level),
    known("redis", "blocked_clients", "clients blocked", Kind::Level),
    known("redis", "used_memory_bytes", "in use", Kind::Bytes),
    known("redis", "rejected_connections", "connections rejected", Kind::Growth),
    known("redis", "evicted_keys", "keys evicted", Kind::Growth),
    known("memcached", "commands_get", "gets", Kind::Total),
    known("memcached", "commands_set", "sets", Kind::Total),
    known("memcached", "curr_connections", "connections", Kind::Level),
    known("memcached", "listen_disabled", "times it stopped accepting", Kind::Growth),
    known("mariadb", "questions", "questions", Kind::Total),
    known("mariadb", "threads_running", "threads running", Kind::Level),
    known("mariadb", "threads_connected", "connections", Kind::Level),
    known("mariadb", "innodb_row_lock_time_ms", "threads waiting for row locks", Kind::Waiters),
    known("mariadb", "innodb_os_log_fsyncs", "fsyncs of the log", Kind::Total),
    known("mariadb", "connection_errors_max_connections", "connections refused", Kind::Growth),
    known("go", "goroutines", "goroutines", Kind::Level),
    known("go", "gc_cycles", "collections", Kind::Total),
    known("go", "gc_pause_us", "of the time paused to collect", Kind::Microseconds),
    known("go", "heap_bytes", "of heap", Kind::Bytes),
    known("jvm", "gc_time_ms", "of the time collecting", Kind::Milliseconds),
    known("jvm", "heap_used_bytes", "of heap", Kind::Bytes),
    known("jvm", "threads", "threads", Kind::Level),
];

impl Known {
    fn figure(&self, track: &Track<'_>, span: Span) -> Option<ComponentFigure> {
        let per_sec = |scale: f64| track.per_sec(self.counter, span).map(|value| value / scale);
        let (unit, value) = match self.kind {
            Kind::Total => (FigureUnit::PerSec, per_sec(1.0)?),
            Kind::Growth => (FigureUnit::PerSec, per_sec(1.0).filter(|value| *value > 0.0)?),
            Kind::Milliseconds => (FigureUnit::Ratio, per_sec(1e3)?),
            Kind::Microseconds => (FigureUnit::Ratio, per_sec(1e6)?),
            Kind::Waiters => (FigureUnit::Count, per_sec(1e3)?),
            Kind::Level => (FigureUnit::Count, track.mean(self.counter, span)?),
            Kind::Bytes => (FigureUnit::Bytes, track.mean(self.counter, span)?),
        };
        Some(ComponentFigure { name: self.name, unit, value })
    }
}

/// The hosts other than the generator that anything was heard or should have been heard of, by name. Figures are those of the
/// step at this position.
pub fn watched_hosts(run: &Run, steps: &[StepSummary], position: usize) -> Vec<WatchedHost> {
    let hosts = Hosts::new(&run.hosts);
    let span = spans(run, steps).get(position).copied();
    let of = |name: &str| WatchedHost {
        name: name.to_owned(),
        components: span.map_or_else(Vec::new, |span| components(&hosts, name, span)),
        throttled: span.map_or_else(Vec::new, |span| throttled(&hosts, name, span)),
        unread: unread(&run.hosts, name),
        probe_cores: probe_cores(&run.hosts, name),
    };
    hosts.names().into_iter().filter(|name| *name != GENERATOR).map(of).collect()
}

fn components(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<ComponentLoad> {
    let mut sources: Vec<&str> = KNOWN.iter().map(|known| known.source).collect();
    sources.dedup();
    let of_source = |source: &'static str| {
        let known = move || KNOWN.iter().filter(move |known| known.source == source);
        hosts.of(name, source).map(move |(address, track)| ComponentLoad {
            source: source.to_owned(),
            address: address.to_owned(),
            figures: known().filter_map(|known| known.figure(track, span)).collect(),
        })
    };
    let all = sources.into_iter().flat_map(of_source);
    all.filter(|component| !component.figures.is_empty()).collect()
}

fn throttled(hosts: &Hosts<'_>, name: &str, span: Span) -> Vec<Throttled> {
    let one = |(group, track): (&str, &Track<'_>)| {
        let ratio = track.throttled(span)?;
        (ratio > 0.0).then(|| Throttled { group: group.to_owned(), ratio })
    };
    hosts.of(name, "cgroup").filter_map(one).collect()
}

fn unread(samples: &[HostSample], name: &str) -> Vec<Unread> {
    let mut sources: BTreeMap<&str, Unread> = BTreeMap::new();
    let mut read: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name) {
        match &sample.reading {
            Reading::Failed(why) => {
                let first =
                    || Unread { source: sample.source.to_string(), times: 0, read: 0, why: why.clone() };
                sources.entry(sample.source.as_str()).or_insert_with(first).times += 1;
            }
            Reading::Ok(_) => *read.entry(sample.source.as_str()).or_default() += 1,
            Reading::Absent => {}
        }
    }
    sources.iter_mut().for_each(|(source, unread)| unread.read = read.get(source).copied().unwrap_or(0));
    sources.into_values().collect()
}

/// All threads that sampled a host, from their first sample to their last.
fn probe_cores(samples: &[HostSample], name: &str) -> Option<f64> {
    let mut threads: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.host == name && sample.source == "probe") {
        if let Reading::Ok(counters) = &sample.reading
            && let Some(cpu_us) = counters.named("cpu_us")
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

/// Calls per second of all watched processes of each host other than the generator's, as the kernel counts reads and writes of any
/// kind of file for each process; calls that only sockets have (send, recv) are not among them. Hosts of which nothing was
/// read are left out.
pub fn io_calls_per_sec(run: &Run, steps: &[StepSummary], position: usize) -> Vec<(String, f64)> {
    let hosts = Hosts::new(&run.hosts);
    let Some(span) = spans(run, steps).get(position).copied() else { return Vec::new() };
    let of = |name: &str| {
        let tracks = hosts.of(name, "process").map(|(_, track)| track);
        let calls = tracks.filter_map(|track| {
            Some(track.per_sec("read_calls", span)? + track.per_sec("write_calls", span)?)
        });
        Some((name.to_owned(), calls.reduce(|a, b| a + b)?))
    };
    hosts.names().into_iter().filter(|name| *name != GENERATOR).filter_map(of).collect()
}

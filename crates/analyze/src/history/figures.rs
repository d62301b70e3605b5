//! The key figures of a run: one row of a history.

use plimsoll_plan::{Load, Probe};
use plimsoll_record::StepEnd;
use plimsoll_stats::Estimate;
use serde::{Deserialize, Serialize};

use crate::{Findings, Law, Limit, Percentile, ResourceKind, StepSummary};

/// Below this success ratio, other figures do not describe the service.
pub const MIN_SUCCESS_RATIO: f64 = 0.95;

/// A value with its 95 % interval, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub value: f64,
    /// `None` where there are too few measurements for one.
    pub interval: Option<(f64, f64)>,
}

impl From<Estimate> for Measured {
    fn from(Estimate { value, interval }: Estimate) -> Self {
        Self { value, interval }
    }
}

impl From<Measured> for Estimate {
    fn from(Measured { value, interval }: Measured) -> Self {
        Self { value, interval }
    }
}

/// The key figures of a run; unknown ones are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Completed requests per second at the step that the short answer reports.
    pub throughput_per_sec: Option<Measured>,
    /// True if the target may serve more: the generator was the limit, or throughput still grew.
    pub is_least: bool,
    /// The highest rate that held in a search, requests per second. The interval ends at the lowest rate that broke; without an interval
    /// more may hold.
    pub held_per_sec: Option<Measured>,
    /// Latency in nanoseconds at the rate that a search found, `None` if it found none; without a search, at the step of the throughput.
    /// Neither replaces the other: closed loops and random arrivals cause different queues.
    pub p50_ns: Option<Measured>,
    pub p99_ns: Option<Measured>,
    /// Successes over all ended requests, at the step of the latency; if a search found no rate, at the step of the throughput.
    pub success_ratio: Option<f64>,
    /// CPU time of the target's hosts per request, in nanoseconds, where it was sampled.
    pub cpu_per_request_ns: Option<Measured>,
    /// The name of the limit, see [`Limit::name`].
    pub limit: String,
    pub generator_healthy: bool,
}

/// The step that the short answer reports: the best within the conditions, else the one with the highest throughput.
pub fn chosen_step(findings: &Findings) -> Option<&StepSummary> {
    let within = findings.slo.as_ref().and_then(|slo| slo.best_step);
    let named = within.and_then(|index| findings.steps.iter().find(|step| step.index == index));
    named.or_else(|| findings.best_answered_step().map(|(_, step)| step))
}

/// True for a ladder whose throughput is a lower bound: it still grew at the last step, or the ladder was cut before its plateau was
/// known.
pub fn is_unfinished(findings: &Findings) -> bool {
    let Some(last) = findings.steps.last().filter(|_| matches!(findings.plan.load, Load::Ladder { .. }))
    else {
        return false;
    };
    let is_level = findings.knee.is_some_and(|knee| knee.reached);
    match findings.verdict.limit {
        Limit::None => true,
        Limit::Unknown => last.end == StepEnd::Cut && !is_level,
        _ => false,
    }
}

impl RunFigures {
    /// True if so many requests failed that the other figures do not describe the service.
    pub fn is_failing(&self) -> bool {
        self.success_ratio.is_some_and(|ratio| ratio < MIN_SUCCESS_RATIO)
    }

    /// True if the generator was the limit. An unfinished ladder alone does not show what limits.
    pub fn is_generator_limited(&self) -> bool {
        let has_limit = ![Limit::None.name(), Limit::Unknown.name()].contains(&self.limit.as_str());
        self.is_least && (has_limit || !self.generator_healthy)
    }

    /// The rate that represents the run, and whether more may be served: the highest rate that held in a search, else the throughput.
    pub fn served(&self) -> Option<(Measured, bool)> {
        let of_search = self.held_per_sec.map(|held| (held, held.interval.is_none()));
        of_search.or_else(|| Some((self.throughput_per_sec?, self.is_least)))
    }

    /// Extracts the figures of a run.
    pub fn new(findings: &Findings) -> Self {
        let chosen = chosen_step(findings).filter(|step| step.counts.ok > 0);
        let search = findings.search.as_ref();
        let found = search.and_then(|search| search.best()).map(|trial| &trial.step);
        let decisive = if findings.plan.search.is_some() { found } else { chosen };
        let latency = decisive.map(|step| step.latency);
        let held = search.and_then(|search| {
            let value = search.held_per_sec?;
            Some(Measured { value, interval: search.broken_per_sec.map(|broken| (value, broken)) })
        });
        Self {
            throughput_per_sec: chosen.map(|step| step.throughput.into()),
            is_least: findings.lower_bound || is_unfinished(findings),
            held_per_sec: held,
            p50_ns: latency.and_then(|latency| percentile(latency.p50)),
            p99_ns: latency.and_then(|latency| percentile(latency.p99)),
            success_ratio: decisive.or(chosen).and_then(|step| step.success_ratio),
            cpu_per_request_ns: cpu_per_request(findings),
            limit: findings.verdict.limit.name().to_owned(),
            generator_healthy: findings.generator.healthy(),
        }
    }
}

fn percentile(Percentile { ns, interval_ns }: Percentile) -> Option<Measured> {
    Some(Measured { value: ns?, interval: interval_ns })
}

/// True if a host that was to be sampled has no resources: its probe was lost before the load.
fn is_without_a_host(findings: &Findings) -> bool {
    // Other probes sample a component, which may not report CPU use.
    let is_of_host = |probe: &Probe| {
        matches!(probe, Probe::Local { .. } | Probe::Pid(_) | Probe::Ssh { .. } | Probe::Kubernetes(_))
    };
    let is_known = |host: &str| findings.resources.iter().any(|resource| resource.host == host);
    let sampled = findings.plan.hosts.iter().filter(|host| host.probes.iter().any(is_of_host));
    sampled.map(|host| host.name.as_str()).any(|host| !is_known(host))
}

/// The CPU demand of the hosts that requests pass, by the utilisation law. `None` if other processes use the CPU of such a host, or if
/// a host that was to be sampled is missing: the sum would be too low.
fn cpu_per_request(findings: &Findings) -> Option<Measured> {
    if is_without_a_host(findings) {
        return None;
    }
    let nodes = findings.topology.tiers.iter();
    let passed: Vec<&str> = nodes.map(|node| node.host.as_str()).collect();
    let spent = findings
        .resources
        .iter()
        .filter(|resource| resource.kind == ResourceKind::Cpu && passed.contains(&resource.host.as_str()));
    let demands: Option<Vec<Estimate>> = spent
        .map(|resource| Some(resource.demand.filter(|demand| demand.law != Law::Broken)?.per_request))
        .collect();
    let demands = demands.filter(|demands| !demands.is_empty())?;
    let value: f64 = demands.iter().map(|each| each.value).sum();
    // The intervals are independent, so that the squares of half widths add up.
    let half = |each: &Estimate| each.interval.map(|(low, high)| ((high - low) / 2.0).powi(2));
    let half = demands.iter().map(half).sum::<Option<f64>>().map(f64::sqrt);
    let interval = half.map(|half| ((value - half) * 1e9, (value + half) * 1e9));
    (value > 0.0).then_some(Measured { value: value * 1e9, interval })
}

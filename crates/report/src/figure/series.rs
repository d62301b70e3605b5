//! The input of the figures of a ladder: the steps of one run, and their caption.

use plimsoll_analyze::{Estimate, Findings, Percentile, StepOutcome, StepSummary};
use plimsoll_plan::Load;
use plimsoll_units::escape_control;

use super::canvas::Caption;
use super::look::Place;
use crate::amount::{counted, if_known, span, unfinished};

/// One step of a ladder, as a point of the figures.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPoint {
    pub connections: u32,
    /// Requests per second, with the 95 % interval if it is known.
    pub throughput: Estimate,
    /// Mean response time in milliseconds, with the 95 % interval if it is known; `None` without responses.
    pub mean_ms: Option<Estimate>,
    /// The median of latency in milliseconds; `None` if too few requests ended to know it.
    pub p50_ms: Option<Estimate>,
    /// The 99th percentile, likewise.
    pub p99_ms: Option<Estimate>,
    /// Successful responses over all requests that ended, 0 to 1; `None` if none ended.
    pub success_ratio: Option<f64>,
    /// The 95 % interval of that ratio, if it is known.
    pub success_interval: Option<(f64, f64)>,
    /// True if the load generator was the limit: the throughput is a lower bound.
    pub lower_bound: bool,
}

/// The steps of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The run's name, for the legend of a comparison.
    pub name: String,
    /// The steps by rising connections.
    pub points: Vec<StepPoint>,
}

impl Caption {
    /// The caption of one run's figures: the URL; the time of a step and the workers.
    pub fn new(findings: &Findings) -> Self {
        let plan = &findings.plan;
        let (prefix, length) = match &plan.load {
            Load::Single { duration, .. } => ("", *duration),
            Load::Ladder { step_limit, .. } => ("up to ", *step_limit),
        };
        let workers = counted(findings.generator.workers, "worker");
        let bound = if_known(unfinished(findings), |why| format!(" · {why}"));
        let detail = format!("{prefix}{} per step · {workers} · warm-up removed{bound}", span(length));
        Self { title: escape_control(&plan.target.url), detail }
    }
}

impl Series {
    /// The steps of a run.
    pub fn new(findings: &Findings) -> Self {
        Self::sorted(findings.plan.name.clone(), findings.steps.iter().map(point_of).collect())
    }

    /// Returns the steps as a comparison has them, from a run or from a `.dat` file.
    pub fn from_steps(name: &str, steps: &[StepOutcome]) -> Self {
        Self::sorted(escape_control(name), steps.iter().map(point_of_step).collect())
    }

    /// Returns the start of the legend in a comparison; empty for a run that is alone in its figure.
    pub(super) fn prefix(&self, place: Place) -> String {
        if place == Place::Alone { String::new() } else { format!("{}: ", self.name) }
    }

    fn sorted(name: String, mut points: Vec<StepPoint>) -> Self {
        points.sort_by_key(|point| point.connections);
        Self { name, points }
    }
}

fn point_of_step(step: &StepOutcome) -> StepPoint {
    StepPoint {
        connections: step.connections,
        throughput: step.throughput,
        mean_ms: Some(Estimate { value: step.mean_latency_ns / 1e6, interval: None }),
        p50_ms: None,
        p99_ms: step.p99_ns.map(|ns| Estimate { value: ns / 1e6, interval: None }),
        success_ratio: Some(step.success_ratio),
        success_interval: step.success_interval,
        lower_bound: step.lower_bound,
    }
}

fn point_of(step: &StepSummary) -> StepPoint {
    StepPoint {
        connections: step.connections,
        throughput: step.throughput,
        mean_ms: mean_of(step),
        p50_ms: in_ms(step.latency.p50),
        p99_ms: in_ms(step.latency.p99),
        success_ratio: step.success_ratio,
        success_interval: step.success_interval,
        lower_bound: step.lower_bound,
    }
}

fn in_ms(percentile: Percentile) -> Option<Estimate> {
    let interval = percentile.interval_ns.map(|(lower, upper)| (lower / 1e6, upper / 1e6));
    percentile.ns.map(|ns| Estimate { value: ns / 1e6, interval })
}

/// A closed loop whose connections are all busy obeys Little's law, R = N / X (Little 1961). The mean response
/// time is then known as well as the throughput: its interval is N over the interval of throughput,
/// centred on the measured mean. Where the law does not hold there is no interval.
fn mean_of(step: &StepSummary) -> Option<Estimate> {
    const MAX_LAW_ERROR: f64 = 0.05;
    let value = step.latency.mean_ns / 1e6;
    let lawful = step.generator.littles_law_error.is_some_and(|error| error <= MAX_LAW_ERROR);
    let throughput = step.throughput.value;
    let around = |(lower, upper): (f64, f64)| (value * throughput / upper, value * throughput / lower);
    let interval = step.throughput.interval.filter(|(lower, _)| lawful && *lower > 0.0).map(around);
    (step.latency.count > 0 && value.is_finite()).then_some(Estimate { value, interval })
}

//! One trial of an ablation: its identity and its result.

use std::fmt;

use plimsoll_analyze::{Findings, ResourceKind, StepSummary, io_calls_per_sec};
use plimsoll_plan::PlanHost;
use plimsoll_record::Run;

/// With a lower success ratio, a run's throughput is not that of the requests under test.
const MIN_SUCCESS_RATIO: f64 = 0.95;

/// The identity of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialId {
    /// The round, from 1.
    pub round: u32,
    /// The state of the service; `None` if there is only one.
    pub state: Option<String>,
    pub on: Vec<String>,
}

impl TrialId {
    /// The names of the switches that are on, joined; `none` if all are off.
    pub(super) fn on_text(&self, separator: &str) -> String {
        if self.on.is_empty() { "none".to_owned() } else { self.on.join(separator) }
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}, ", self.round)?;
        if let Some(state) = &self.state {
            write!(f, "{state}: ")?;
        }
        f.write_str(&self.on_text("+"))
    }
}

/// The result of one run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TrialResult {
    pub(super) throughput_per_sec: f64,
    pub(super) connections: u32,
    pub(super) mean_ms: f64,
    /// The cost of a request on each host by name: CPU in µs, IO calls and packets.
    pub(super) per_request: Vec<(String, f64)>,
    /// True if the generator was the limit: the throughput is a lower bound, so the time per request is an upper bound.
    pub(super) at_most: bool,
}

impl TrialResult {
    /// The result of a run; `Err` with the reason if the run is not valid for the combination.
    pub(super) fn new(run: &Run, findings: &Findings) -> Result<Self, String> {
        let Some((position, step)) = findings.steps.iter().enumerate().next_back() else {
            return Err("it has no step".to_owned());
        };
        if step.throughput.value <= 0.0 {
            return Err("nothing was answered".to_owned());
        }
        if let Some(ratio) = step.success_ratio.filter(|ratio| *ratio < MIN_SUCCESS_RATIO) {
            return Err(format!("only {:.1} % succeeded", 100.0 * ratio));
        }
        Ok(Self {
            throughput_per_sec: step.throughput.value,
            connections: step.connections,
            mean_ms: step.latency.mean_ns / 1e6,
            per_request: per_request(run, findings, (position, step)),
            at_most: findings.lower_bound,
        })
    }

    /// The per-request figures in the order of `names`; `None` for a figure that the run does not have.
    pub(super) fn in_order(&self, names: &[String]) -> Vec<Option<f64>> {
        let value =
            |name: &String| self.per_request.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        names.iter().map(value).collect()
    }
}

/// The cost of a request on each host: CPU in µs, IO calls, and packets in both directions.
fn per_request(
    run: &Run,
    findings: &Findings,
    (position, step): (usize, &StepSummary),
) -> Vec<(String, f64)> {
    let each = |amount: f64| amount / step.throughput.value;
    let hosts = findings
        .resources
        .iter()
        .filter(|resource| resource.host != PlanHost::GENERATOR && !resource.is_loopback());
    let mut figures: Vec<(String, f64)> = Vec::new();
    for resource in hosts {
        let Some(used) = resource.used.get(position).copied().flatten() else { continue };
        let figure = match resource.kind {
            ResourceKind::Cpu => Some(("CPU µs", 1e6 * used)),
            ResourceKind::PacketsIn | ResourceKind::PacketsOut => Some(("packets", used)),
            _ => None,
        };
        let Some((name, amount)) = figure else { continue };
        let name = format!("{name} {}", resource.host);
        match figures.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += each(amount),
            None => figures.push((name, each(amount))),
        }
    }
    let calls = io_calls_per_sec(run, &findings.steps, position);
    figures.extend(calls.into_iter().map(|(host, calls)| (format!("IO calls {host}"), each(calls))));
    // Sorting by name groups figures of one kind.
    figures.sort_by(|a, b| a.0.cmp(&b.0));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_named_by_round_state_and_switches() {
        let trial = TrialId { round: 2, state: None, on: Vec::new() };
        assert_eq!(trial.to_string(), "round 2, none");
        let on = vec!["cache".to_owned(), "log".to_owned()];
        let trial = TrialId { round: 1, state: Some("fixed".to_owned()), on };
        assert_eq!(trial.to_string(), "round 1, fixed: cache+log");
    }
}

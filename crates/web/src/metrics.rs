//! The metrics of a running load: one list for all export formats.

use plimsoll_analyze::Resource;
use plimsoll_units::Instant;

use crate::totals::{BOUNDS_NS, Totals};

/// The prefix of every metric's name, without the separator that the format adds.
pub(crate) const PREFIX: &str = "plimsoll";

/// One metric with its values so far.
#[derive(Debug)]
pub(crate) struct Metric {
    /// The name without [`PREFIX`], and without the suffix `_total` of OpenMetrics counters.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// The unit in UCUM, as in OpenTelemetry; OpenMetrics has it in the name.
    pub(crate) unit: &'static str,
    pub(crate) values: Values,
}

/// Names and values that distinguish the values of one metric.
pub(crate) type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
pub(crate) enum Values {
    /// Facts that do not change while the run goes on.
    Info(Labels),
    Counter(Vec<(Labels, u64)>),
    Gauge(Vec<(Labels, f64)>),
    Histogram(Classes),
}

/// A histogram with explicit buckets.
#[derive(Debug)]
pub(crate) struct Classes {
    /// The upper bound of each bucket except the last, which has none.
    pub(crate) bounds: Vec<f64>,
    pub(crate) counts: Vec<u64>,
    pub(crate) sum: f64,
}

/// Returns all metrics at this moment, in the order in which they are shown.
pub(crate) fn list(totals: &Totals, now: Instant) -> Vec<Metric> {
    let mut metrics = vec![run(totals)];
    metrics.extend(requests(totals));
    metrics.extend(transfers(totals));
    metrics.extend(under_way(totals, now));
    metrics.push(latency(totals));
    metrics.push(hosts(&totals.resources));
    metrics
}

fn run(totals: &Totals) -> Metric {
    let labels = vec![("name", totals.name.clone()), ("version", totals.version.clone())];
    Metric { name: "run", help: "The run that goes on.", unit: "", values: Values::Info(labels) }
}

fn requests(totals: &Totals) -> [Metric; 4] {
    let counts = &totals.counts;
    let outcomes = [
        ("ok", counts.ok),
        ("unsuccessful", counts.completed.saturating_sub(counts.ok)),
        ("failed", counts.failed.total()),
    ];
    let outcomes = outcomes.map(|(outcome, count)| (vec![("outcome", outcome.to_owned())], count));
    let statuses = counts.status.iter().map(|(status, count)| (vec![("status", status.to_string())], count));
    let kinds = counts.failed.iter().map(|(kind, count)| (vec![("kind", kind.name().to_owned())], count));
    [
        counter(
            "requests",
            "Requests that ended: with success, with a response without success, without a response.",
            "{request}",
            outcomes.into(),
        ),
        counter(
            "responses",
            "Responses by status; 0 stands for any outside 100 to 599.",
            "{response}",
            statuses.collect(),
        ),
        counter(
            "failures",
            "Requests without a response, by the kind of failure.",
            "{request}",
            kinds.collect(),
        ),
        counter("requests_due", "Requests that fell due.", "{request}", vec![(vec![], counts.intended)]),
    ]
}

fn transfers(totals: &Totals) -> [Metric; 2] {
    let counts = &totals.counts;
    let bytes = [("in", counts.bytes_in), ("out", counts.bytes_out)]
        .map(|(direction, count)| (vec![("direction", direction.to_owned())], count));
    [
        counter("transferred_bytes", "Bytes received and sent, heads included.", "By", bytes.into()),
        counter("connections_opened", "Connections opened.", "{connection}", vec![(vec![], counts.connects)]),
    ]
}

fn under_way(totals: &Totals, now: Instant) -> Vec<Metric> {
    let in_flight = totals.sum(|worker| worker.in_flight) as f64;
    let backlog = totals.sum(|worker| worker.backlog) as f64;
    let connections = totals.sum(|worker| worker.connections) as f64;
    let mut metrics = vec![
        gauge("in_flight", "Requests sent and not answered.", "{request}", in_flight),
        gauge("backlog", "Requests due and not sent.", "{request}", backlog),
        gauge("connections", "Open connections.", "{connection}", connections),
    ];
    if let Some(step) = &totals.step {
        metrics.push(gauge("step", "The step of the run, from 0.", "", f64::from(step.plan.index)));
        let offered =
            |rate| gauge("offered_per_second", "The rate that an open loop offers now.", "{request}/s", rate);
        metrics.extend(step.offered_per_sec(now).map(offered));
    }
    metrics
}

fn latency(totals: &Totals) -> Metric {
    let classes = Classes {
        bounds: BOUNDS_NS.iter().map(|ns| *ns as f64 / 1e9).collect(),
        counts: totals.latency.to_vec(),
        sum: totals.latency_sum_sec,
    };
    Metric {
        name: "latency_seconds",
        help: "From the instant a request was due to the end of its response.",
        unit: "s",
        values: Values::Histogram(classes),
    }
}

fn hosts(resources: &[Resource]) -> Metric {
    let labels = |resource: &Resource| {
        vec![
            ("host", resource.host.clone()),
            ("resource", resource.kind.name().to_owned()),
            ("of", resource.part.to_string()),
        ]
    };
    let shares = resources.iter().filter_map(|resource| Some((labels(resource), resource.utilisation(0)?)));
    Metric {
        name: "host_used_ratio",
        help: "What was used of a resource of a host, over how much there is.",
        unit: "1",
        values: Values::Gauge(shares.collect()),
    }
}

fn counter(name: &'static str, help: &'static str, unit: &'static str, counts: Vec<(Labels, u64)>) -> Metric {
    Metric { name, help, unit, values: Values::Counter(counts) }
}

fn gauge(name: &'static str, help: &'static str, unit: &'static str, value: f64) -> Metric {
    Metric { name, help, unit, values: Values::Gauge(vec![(vec![], value)]) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_conductor::{Moment, Progress, StepPlan};
    use serde_json::json;

    use super::*;

    fn offered(totals: &Totals, now: Instant) -> Option<f64> {
        let metric = list(totals, now).into_iter().find(|metric| metric.name == "offered_per_second")?;
        let Values::Gauge(values) = metric.values else { panic!("no gauge") };
        Some(values[0].1)
    }

    fn step(level: serde_json::Value) -> StepPlan {
        let time = json!({"secs": 10, "nanos": 0});
        let step = json!({"index": 0, "level": level, "limit": time, "interval": time, "requests_max": null});
        serde_json::from_value(step).unwrap()
    }

    #[test]
    fn the_offered_rate_is_that_of_the_moment() {
        let ramp = json!({"from_per_sec": 0.0, "to_per_sec": 100.0, "duration": {"secs": 10, "nanos": 0}});
        let ramp =
            json!({"profile": {"stages": [ramp]}, "arrivals": "poisson", "connections": 1, "depth": 1});
        let (step, left_max) = (step(json!({"open": ramp})), Duration::from_secs(10));
        let at = |sec: u64| Instant::from_nanos(sec * 1_000_000_000);
        let mut totals = Totals::default();
        assert_eq!(offered(&totals, at(99)), None);
        totals.observe(&Progress::StepBegan { step: &step, steps_max: 1, left_max }, at(100));
        assert_eq!([offered(&totals, at(101)), offered(&totals, at(105))], [Some(10.0), Some(50.0)]);
        // It began two seconds after the step was shown.
        let elapsed = Duration::from_secs(3);
        totals.observe(&Progress::Moment(Moment { elapsed, ..Moment::default() }), at(105));
        assert_eq!([offered(&totals, at(105)), offered(&totals, at(107))], [Some(30.0), Some(50.0)]);
        totals.observe(&Progress::Draining, at(107));
        assert_eq!(offered(&totals, at(107)), Some(0.0));
    }

    #[test]
    fn a_closed_loop_offers_no_rate() {
        let step = step(json!({"closed": {"connections": 1, "depth": 1}}));
        let mut totals = Totals::default();
        let now = Instant::from_nanos(1);
        totals.observe(
            &Progress::StepBegan { step: &step, steps_max: 1, left_max: Duration::from_secs(1) },
            now,
        );
        assert_eq!(offered(&totals, now), None);
    }
}

//! The metrics of a running load, in the text form of OpenMetrics.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_analyze::Resource;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::totals::{BOUNDS_NS, Totals};

/// Encodes what was counted so far at each scrape.
#[derive(Debug)]
pub(crate) struct Exported(pub(crate) Arc<Mutex<Totals>>);

type Encoded = Result<(), fmt::Error>;

/// One label and its value.
type Label<'a> = (&'a str, &'a str);

impl Collector for Exported {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Encoded {
        let totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Out { encoder: &mut encoder };
        out.run_name(&totals)?;
        out.requests(&totals)?;
        out.under_way(&totals)?;
        out.latency(&totals)?;
        out.hosts(&totals.resources)
    }
}

/// The metrics as far as they are written.
struct Out<'e, 'a> {
    encoder: &'e mut DescriptorEncoder<'a>,
}

impl Out<'_, '_> {
    fn run_name(&mut self, totals: &Totals) -> Encoded {
        let help = "The run that goes on.";
        let mut metric = self.encoder.encode_descriptor("run", help, None, MetricType::Info)?;
        metric.encode_info(&[("name", totals.name.as_str()), ("version", totals.version.as_str())])
    }

    fn requests(&mut self, totals: &Totals) -> Encoded {
        let counts = &totals.counts;
        let outcomes = [
            ("ok", counts.ok),
            ("unsuccessful", counts.completed.saturating_sub(counts.ok)),
            ("failed", counts.failed.total()),
        ];
        let outcomes = outcomes.map(|(outcome, count)| ([("outcome", outcome)], count));
        self.counters(
            "requests",
            "Requests that ended: with success, with a response without success, without a response.",
            &outcomes,
        )?;
        let statuses: Vec<(String, u64)> =
            counts.status.iter().map(|(status, count)| (status.to_string(), count)).collect();
        let statuses: Vec<([Label<'_>; 1], u64)> =
            statuses.iter().map(|(status, count)| ([("status", status.as_str())], *count)).collect();
        self.counters("responses", "Responses by status; 0 stands for any outside 100 to 599.", &statuses)?;
        let kinds: Vec<([Label<'_>; 1], u64)> =
            counts.failed.iter().map(|(kind, count)| ([("kind", kind.name())], count)).collect();
        self.counters("failures", "Requests without a response, by the kind of failure.", &kinds)?;
        let due: [([Label<'_>; 0], u64); 1] = [([], counts.intended)];
        self.counters("requests_due", "Requests that fell due.", &due)?;
        let bytes = [([("direction", "in")], counts.bytes_in), ([("direction", "out")], counts.bytes_out)];
        self.counters("transferred_bytes", "Bytes received and sent, heads included.", &bytes)?;
        let opened: [([Label<'_>; 0], u64); 1] = [([], counts.connects)];
        self.counters("connections_opened", "Connections opened.", &opened)
    }

    fn under_way(&mut self, totals: &Totals) -> Encoded {
        self.gauge(
            "in_flight",
            "Requests sent and not answered.",
            totals.sum(|worker| worker.in_flight) as f64,
        )?;
        self.gauge("backlog", "Requests due and not sent.", totals.sum(|worker| worker.backlog) as f64)?;
        self.gauge("connections", "Open connections.", totals.sum(|worker| worker.connections) as f64)?;
        if let Some(step) = totals.step {
            self.gauge("step", "The step of the run, from 0.", f64::from(step))?;
        }
        match totals.offered_per_sec {
            Some(rate) => self.gauge("offered_per_second", "The offered rate of an open loop.", rate),
            None => Ok(()),
        }
    }

    fn latency(&mut self, totals: &Totals) -> Encoded {
        let bounds = BOUNDS_NS.iter().map(|ns| *ns as f64 / 1e9).chain([f64::INFINITY]);
        let classes: Vec<(f64, u64)> = bounds.zip(totals.latency).collect();
        let help = "From the instant a request was due to the end of its response.";
        let mut metric =
            self.encoder.encode_descriptor("latency_seconds", help, None, MetricType::Histogram)?;
        let count = totals.latency.iter().sum();
        metric.encode_histogram::<NoLabelSet>(totals.latency_sum_sec, count, &classes, None)
    }

    fn hosts(&mut self, resources: &[Resource]) -> Encoded {
        let named: Vec<(&Resource, String)> =
            resources.iter().map(|resource| (resource, resource.part.to_string())).collect();
        let labels = |resource: &'_ Resource, part: &'_ str| {
            [
                ("host", resource.host.clone()),
                ("resource", resource.kind.name().to_owned()),
                ("of", part.to_owned()),
            ]
        };
        let help = "What was used of a resource of a host, over how much there is.";
        let mut metric = self.encoder.encode_descriptor("host_used_ratio", help, None, MetricType::Gauge)?;
        for (resource, part) in &named {
            if let Some(share) = resource.utilisation(0) {
                metric.encode_family(&labels(resource, part))?.encode_gauge(&share)?;
            }
        }
        Ok(())
    }

    fn counters<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: &[([Label<'_>; N], u64)],
    ) -> Encoded {
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (labels, count) in values {
            counter(&mut metric, labels, *count)?;
        }
        Ok(())
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) -> Encoded {
        self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
    }
}

fn counter<const N: usize>(metric: &mut MetricEncoder<'_>, labels: &[Label<'_>; N], count: u64) -> Encoded {
    metric.encode_family(labels)?.encode_counter::<NoLabelSet, u64, f64>(&count, None)
}

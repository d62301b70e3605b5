//! Metrics in the text form of OpenMetrics.

use std::fmt;

use plimsoll_units::{Clock, RealClock};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use crate::metrics::{Classes, Metric, Values, list};
use crate::totals::LiveTotals;

/// Encodes the current totals at each scrape.
#[derive(Debug)]
pub(crate) struct Exported(pub(crate) LiveTotals);

type Encoded = Result<(), fmt::Error>;

impl Collector for Exported {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Encoded {
        let metrics = self.0.read(|totals| list(totals, RealClock.now()));
        metrics.iter().try_for_each(|metric| write(&mut encoder, metric))
    }
}

fn write(encoder: &mut DescriptorEncoder<'_>, metric: &Metric) -> Encoded {
    let mut out = encoder.encode_descriptor(metric.name, metric.help, None, metric_type(&metric.values))?;
    match &metric.values {
        Values::Info(labels) => out.encode_info(labels),
        Values::Counter(counts) => counts.iter().try_for_each(|(labels, count)| {
            out.encode_family(labels)?.encode_counter::<NoLabelSet, u64, f64>(count, None)
        }),
        Values::Gauge(values) => {
            values.iter().try_for_each(|(labels, value)| out.encode_family(labels)?.encode_gauge(value))
        }
        Values::Histogram(classes) => histogram(&mut out, classes),
    }
}

fn metric_type(values: &Values) -> MetricType {
    match values {
        Values::Info(_) => MetricType::Info,
        Values::Counter(_) => MetricType::Counter,
        Values::Gauge(_) => MetricType::Gauge,
        Values::Histogram(_) => MetricType::Histogram,
    }
}

fn histogram(out: &mut MetricEncoder<'_>, classes: &Classes) -> Encoded {
    let bounds = classes.bounds.iter().copied().chain([f64::INFINITY]);
    let counts: Vec<(f64, u64)> = bounds.zip(classes.counts.iter().copied()).collect();
    out.encode_histogram::<NoLabelSet>(classes.sum, classes.counts.iter().sum(), &counts, None)
}

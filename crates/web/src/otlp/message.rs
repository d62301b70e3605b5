//! The message that a collector takes: all metrics so far, cumulative.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric as OtlpMetric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use plimsoll_units::{Clock, RealClock, unix_time};
use prost::Message as _;

use super::settings::OtlpSettings;
use crate::metrics::{Classes, Labels, Metric, PREFIX, Values, list};
use crate::totals::Totals;

/// A run at one moment. It is a copy, so that the totals are locked only while it is made.
#[derive(Debug)]
pub(super) struct Snapshot {
    metrics: Vec<Metric>,
    span: Span,
    run_name: String,
    version: String,
    hostname: String,
}

/// The time over which cumulative values are counted, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
struct Span {
    began: u64,
    now: u64,
}

impl Snapshot {
    /// `None` before the run is prepared.
    pub(super) fn new(totals: &Totals) -> Option<Self> {
        let now = u64::try_from(unix_time().as_nanos()).unwrap_or(u64::MAX);
        Some(Self {
            metrics: list(totals, RealClock.now()),
            span: Span { began: totals.began_unix_ns?, now },
            run_name: totals.name.clone(),
            version: totals.version.clone(),
            hostname: totals.hostname.clone(),
        })
    }

    /// Encodes the message as protobuf.
    pub(super) fn encode(self, settings: &OtlpSettings) -> Vec<u8> {
        self.request(settings).encode_to_vec()
    }

    fn request(self, settings: &OtlpSettings) -> ExportMetricsServiceRequest {
        let resource = Resource { attributes: self.resource(settings), ..Resource::default() };
        let scope = InstrumentationScope {
            name: PREFIX.to_owned(),
            version: self.version,
            ..InstrumentationScope::default()
        };
        let metrics = self.metrics.into_iter().filter_map(|metric| otlp_metric(metric, self.span)).collect();
        let scoped = ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() };
        let of_resource = ResourceMetrics {
            resource: Some(resource),
            scope_metrics: vec![scoped],
            ..ResourceMetrics::default()
        };
        ExportMetricsServiceRequest { resource_metrics: vec![of_resource] }
    }

    /// Returns the attributes of the run and its process: two runs at a time are two instances. Attributes that the user
    /// gives replace these.
    fn resource(&self, settings: &OtlpSettings) -> Vec<KeyValue> {
        let own = [
            ("service.name", settings.service.clone()),
            ("service.version", self.version.clone()),
            ("service.instance.id", format!("{}:{}", self.hostname, std::process::id())),
            ("host.name", self.hostname.clone()),
            ("plimsoll.run.name", self.run_name.clone()),
        ];
        let is_given = |key: &str| settings.attributes.iter().any(|(given, _)| given == key);
        let own = own.into_iter().filter(|(key, _)| !is_given(key));
        let given = settings.attributes.iter().map(|(key, value)| attribute(key, value.clone()));
        own.map(|(key, value)| attribute(key, value)).chain(given).collect()
    }
}

/// Returns `None` for facts of the run, which are attributes of its resource, and for a metric without a value.
fn otlp_metric(metric: Metric, span: Span) -> Option<OtlpMetric> {
    let data = match metric.values {
        Values::Info(_) => return None,
        Values::Counter(counts) if counts.is_empty() => return None,
        Values::Gauge(values) if values.is_empty() => return None,
        Values::Counter(counts) => Data::Sum(sum(counts, span)),
        Values::Gauge(values) => Data::Gauge(gauge(values, span)),
        Values::Histogram(classes) => Data::Histogram(histogram(classes, span)),
    };
    Some(OtlpMetric {
        name: format!("{PREFIX}.{}", metric.name),
        description: metric.help.to_owned(),
        unit: metric.unit.to_owned(),
        data: Some(data),
        ..OtlpMetric::default()
    })
}

fn sum(counts: Vec<(Labels, u64)>, span: Span) -> Sum {
    let points = counts.into_iter().map(|(labels, count)| NumberDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: span.began,
        time_unix_nano: span.now,
        value: Some(number_data_point::Value::AsInt(i64::try_from(count).unwrap_or(i64::MAX))),
        ..NumberDataPoint::default()
    });
    Sum {
        data_points: points.collect(),
        aggregation_temporality: AggregationTemporality::Cumulative.into(),
        is_monotonic: true,
    }
}

fn gauge(values: Vec<(Labels, f64)>, span: Span) -> Gauge {
    let points = values.into_iter().map(|(labels, value)| NumberDataPoint {
        attributes: attributes(labels),
        time_unix_nano: span.now,
        value: Some(number_data_point::Value::AsDouble(value)),
        ..NumberDataPoint::default()
    });
    Gauge { data_points: points.collect() }
}

fn histogram(classes: Classes, span: Span) -> Histogram {
    let point = HistogramDataPoint {
        start_time_unix_nano: span.began,
        time_unix_nano: span.now,
        count: classes.counts.iter().sum(),
        sum: Some(classes.sum),
        bucket_counts: classes.counts,
        explicit_bounds: classes.bounds,
        ..HistogramDataPoint::default()
    };
    Histogram { data_points: vec![point], aggregation_temporality: AggregationTemporality::Cumulative.into() }
}

fn attributes(labels: Labels) -> Vec<KeyValue> {
    labels.into_iter().map(|(key, value)| attribute(key, value)).collect()
}

fn attribute(key: &str, value: String) -> KeyValue {
    let value = AnyValue { value: Some(Value::StringValue(value)) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: u64 = 5_000_000_000;

    fn settings(attributes: &str) -> OtlpSettings {
        OtlpSettings::new("http://a:1", |name| {
            (name == "OTEL_RESOURCE_ATTRIBUTES").then(|| attributes.to_owned())
        })
        .unwrap()
    }

    fn totals() -> Totals {
        let mut totals = Totals::default();
        totals.name = "shop".to_owned();
        totals.version = "1.2".to_owned();
        totals.began_unix_ns = Some(BEGAN);
        totals.counts.completed = 7;
        totals.counts.ok = 5;
        totals.latency[0] = 3;
        totals.latency[2] = 4;
        totals.latency_sum_sec = 0.25;
        totals
    }

    fn request(attributes: &str) -> ExportMetricsServiceRequest {
        Snapshot::new(&totals()).unwrap().request(&settings(attributes))
    }

    fn metrics(request: &ExportMetricsServiceRequest) -> &[OtlpMetric] {
        &request.resource_metrics[0].scope_metrics[0].metrics
    }

    fn data_of<'a>(request: &'a ExportMetricsServiceRequest, name: &str) -> &'a Data {
        let metric = metrics(request).iter().find(|metric| metric.name == name).unwrap();
        metric.data.as_ref().unwrap()
    }

    #[test]
    fn counters_are_cumulative_monotonic_sums_since_the_run_began() {
        let request = request("");
        let Data::Sum(sum) = data_of(&request, "plimsoll.requests") else { panic!("no sum") };
        assert!(sum.is_monotonic);
        assert_eq!(sum.aggregation_temporality, AggregationTemporality::Cumulative as i32);
        let ok = &sum.data_points[0];
        assert_eq!(ok.attributes, [attribute("outcome", "ok".to_owned())]);
        assert_eq!(ok.value, Some(number_data_point::Value::AsInt(5)));
        assert!(ok.start_time_unix_nano == BEGAN && ok.time_unix_nano > BEGAN, "{ok:?}");
        assert_eq!(sum.data_points[1].value, Some(number_data_point::Value::AsInt(2)));
    }

    #[test]
    fn latency_has_one_class_more_than_bounds_and_its_count_is_their_sum() {
        let request = request("");
        let Data::Histogram(histogram) = data_of(&request, "plimsoll.latency_seconds") else {
            panic!("no histogram")
        };
        let point = &histogram.data_points[0];
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!((point.count, point.sum), (7, Some(0.25)));
        assert_eq!(point.explicit_bounds[..2], [0.0001, 0.00025]);
    }

    #[test]
    fn the_resource_names_the_run_and_the_users_attributes_count_first() {
        let request = request("service.version=9,team=web");
        let resource = request.resource_metrics[0].resource.as_ref().unwrap();
        let has = |key: &str, value: &str| resource.attributes.contains(&attribute(key, value.to_owned()));
        assert!(has("service.name", "plimsoll") && has("plimsoll.run.name", "shop"));
        assert!(has("service.version", "9") && !has("service.version", "1.2") && has("team", "web"));
    }

    #[test]
    fn a_run_that_is_not_prepared_has_no_message_and_no_metric_is_empty() {
        assert!(Snapshot::new(&Totals::default()).is_none());
        let request = request("");
        assert!(metrics(&request).iter().all(|metric| metric.data.is_some()));
        assert!(metrics(&request).iter().all(|metric| metric.name != "plimsoll.failures"));
        let decoded = ExportMetricsServiceRequest::decode(&*request.encode_to_vec()).unwrap();
        assert_eq!(decoded, request);
    }
}

//! The metrics that are read without being named: those of node_exporter, cAdvisor, kube-state-metrics, and of the client
//! libraries' own process metrics.
//!
//! In a query `$W` stands for the window of the rate, `$S` for a comma and the user's matchers, `$s` for the matchers alone.

use plimsoll_analyze::{AmountUnit, ProductionKind};

use AmountUnit::{BitsPerSec, Bytes, Cores, Count, Ratio};
use CapacityOf::{Known, Nothing, Query};
use ProductionKind as Kind;

/// Where the capacity of a resource comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CapacityOf {
    Known(f64),
    Query(&'static str),
    Nothing,
}

/// One kind of resource, and how it is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DefaultResource {
    pub(crate) kind: ProductionKind,
    pub(crate) unit: AmountUnit,
    /// It is asked for if this metric is there.
    pub(crate) metric: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) capacity: CapacityOf,
    /// The labels that say which of its kind it is.
    pub(crate) of: &'static [&'static str],
    /// The labels that say which instance.
    pub(crate) instance: &'static [&'static str],
}

/// The metric of the number of replicas of deployments.
pub(crate) const REPLICAS: &str = "kube_deployment_spec_replicas";

/// Interfaces that carry what another one carries too, or that never leave the host.
macro_rules! outward {
    () => {
        r#"device!~"lo|veth.*|docker.*|br-.*|cni.*|flannel.*|cali.*|cilium.*|lxc.*|virbr.*|tap.*|dummy.*""#
    };
}

/// The containers of pods, without the one that holds a pod's network.
macro_rules! of_pods {
    () => {
        r#"container!="",container!="POD""#
    };
}

/// The containers of Docker, which have a name and no pod.
macro_rules! of_docker {
    () => {
        r#"name!="",pod="",container="""#
    };
}

const HOST: [&str; 1] = ["instance"];
const POD: (&[&str], &[&str]) = (&["namespace", "container"], &["pod"]);
const DOCKER: (&[&str], &[&str]) = (&["name"], &["instance"]);

const fn of_host(
    kind: ProductionKind,
    unit: AmountUnit,
    metric: &'static str,
    (usage, capacity): (&'static str, CapacityOf),
    of: &'static [&'static str],
) -> DefaultResource {
    DefaultResource { kind, unit, metric, usage, capacity, of, instance: &HOST }
}

const fn of_container(
    (of, instance): (&'static [&'static str], &'static [&'static str]),
    kind: ProductionKind,
    unit: AmountUnit,
    metric: &'static str,
    (usage, capacity): (&'static str, CapacityOf),
) -> DefaultResource {
    DefaultResource { kind, unit, metric, usage, capacity, of, instance }
}

/// Every kind, those of hosts first.
pub(crate) const DEFAULTS: &[DefaultResource] = &[
    // Time that other guests took is unavailable, so that it counts as used (docs/method.md, section 9).
    of_host(
        Kind::HostCpu,
        Cores,
        "node_cpu_seconds_total",
        (
            r#"sum by (instance) (rate(node_cpu_seconds_total{mode!~"idle|iowait"$S}[$W]))"#,
            Query(r#"count by (instance) (node_cpu_seconds_total{mode="idle"$S})"#),
        ),
        &[],
    ),
    of_host(
        Kind::BusiestCore,
        Cores,
        "node_cpu_seconds_total",
        (
            r#"max by (instance) (sum by (instance, cpu) (rate(node_cpu_seconds_total{mode!~"idle|iowait"$S}[$W])))"#,
            Known(1.0),
        ),
        &[],
    ),
    of_host(
        Kind::HostMemory,
        Bytes,
        "node_memory_MemAvailable_bytes",
        (
            "sum by (instance) (node_memory_MemTotal_bytes{$s} - node_memory_MemAvailable_bytes{$s})",
            Query("sum by (instance) (node_memory_MemTotal_bytes{$s})"),
        ),
        &[],
    ),
    of_host(
        Kind::Disk,
        Ratio,
        "node_disk_io_time_seconds_total",
        (
            r#"sum by (instance, device) (rate(node_disk_io_time_seconds_total{device!~"(loop|ram|sr|fd|zram|dm-|md).*"$S}[$W]))"#,
            Known(1.0),
        ),
        &["device"],
    ),
    of_host(
        Kind::NetworkOut,
        BitsPerSec,
        "node_network_transmit_bytes_total",
        (
            concat!(
                "sum by (instance, device) (rate(node_network_transmit_bytes_total{",
                outward!(),
                "$S}[$W])) * 8"
            ),
            Query("max by (instance, device) (node_network_speed_bytes{$s}) * 8"),
        ),
        &["device"],
    ),
    of_host(
        Kind::NetworkIn,
        BitsPerSec,
        "node_network_receive_bytes_total",
        (
            concat!(
                "sum by (instance, device) (rate(node_network_receive_bytes_total{",
                outward!(),
                "$S}[$W])) * 8"
            ),
            Query("max by (instance, device) (node_network_speed_bytes{$s}) * 8"),
        ),
        &["device"],
    ),
    of_host(
        Kind::Conntrack,
        Count,
        "node_nf_conntrack_entries",
        (
            "sum by (instance) (node_nf_conntrack_entries{$s})",
            Query("sum by (instance) (node_nf_conntrack_entries_limit{$s})"),
        ),
        &[],
    ),
    of_host(
        Kind::OpenFiles,
        Count,
        "node_filefd_allocated",
        (
            "sum by (instance) (node_filefd_allocated{$s})",
            Query("sum by (instance) (node_filefd_maximum{$s})"),
        ),
        &[],
    ),
    of_container(
        POD,
        Kind::ContainerCpu,
        Cores,
        "container_cpu_usage_seconds_total",
        (
            concat!(
                "sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{",
                of_pods!(),
                "$S}[$W]))"
            ),
            Query(concat!(
                "(sum by (namespace, pod, container) (container_spec_cpu_quota{",
                of_pods!(),
                "$S} / container_spec_cpu_period{",
                of_pods!(),
                "$S}) > 0) or sum by (namespace, pod, container) (kube_pod_container_resource_limits{resource=\"cpu\"$S})"
            )),
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerCpu,
        Cores,
        "container_cpu_usage_seconds_total",
        (
            concat!(
                "sum by (name, instance) (rate(container_cpu_usage_seconds_total{",
                of_docker!(),
                "$S}[$W]))"
            ),
            Query(concat!(
                "sum by (name, instance) (container_spec_cpu_quota{",
                of_docker!(),
                "$S} / container_spec_cpu_period{",
                of_docker!(),
                "$S})"
            )),
        ),
    ),
    of_container(
        POD,
        Kind::ContainerThrottled,
        Ratio,
        "container_cpu_cfs_throttled_periods_total",
        (
            concat!(
                "sum by (namespace, pod, container) (rate(container_cpu_cfs_throttled_periods_total{",
                of_pods!(),
                "$S}[$W])) / sum by (namespace, pod, container) (rate(container_cpu_cfs_periods_total{",
                of_pods!(),
                "$S}[$W]))"
            ),
            Known(1.0),
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerThrottled,
        Ratio,
        "container_cpu_cfs_throttled_periods_total",
        (
            concat!(
                "sum by (name, instance) (rate(container_cpu_cfs_throttled_periods_total{",
                of_docker!(),
                "$S}[$W])) / sum by (name, instance) (rate(container_cpu_cfs_periods_total{",
                of_docker!(),
                "$S}[$W]))"
            ),
            Known(1.0),
        ),
    ),
    of_container(
        POD,
        Kind::ContainerMemory,
        Bytes,
        "container_memory_working_set_bytes",
        (
            concat!(
                "sum by (namespace, pod, container) (container_memory_working_set_bytes{",
                of_pods!(),
                "$S})"
            ),
            Query(concat!(
                "(sum by (namespace, pod, container) (container_spec_memory_limit_bytes{",
                of_pods!(),
                "$S}) > 0) or sum by (namespace, pod, container) (kube_pod_container_resource_limits{resource=\"memory\"$S})"
            )),
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerMemory,
        Bytes,
        "container_memory_working_set_bytes",
        (
            concat!("sum by (name, instance) (container_memory_working_set_bytes{", of_docker!(), "$S})"),
            Query(concat!(
                "sum by (name, instance) (container_spec_memory_limit_bytes{",
                of_docker!(),
                "$S})"
            )),
        ),
    ),
    of_container(
        (&["namespace"], &["pod"]),
        Kind::ContainerNetworkOut,
        BitsPerSec,
        "container_network_transmit_bytes_total",
        (
            r#"sum by (namespace, pod) (rate(container_network_transmit_bytes_total{pod!=""$S}[$W])) * 8"#,
            Nothing,
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerNetworkOut,
        BitsPerSec,
        "container_network_transmit_bytes_total",
        (
            r#"sum by (name, instance) (rate(container_network_transmit_bytes_total{name!="",pod=""$S}[$W])) * 8"#,
            Nothing,
        ),
    ),
    of_container(
        (&["job"], &["instance"]),
        Kind::ProcessCpu,
        Cores,
        "process_cpu_seconds_total",
        ("sum by (job, instance) (rate(process_cpu_seconds_total{$s}[$W]))", Nothing),
    ),
    of_container(
        (&["job"], &["instance"]),
        Kind::Descriptors,
        Count,
        "process_open_fds",
        (
            "sum by (job, instance) (process_open_fds{$s})",
            Query("sum by (job, instance) (process_max_fds{$s})"),
        ),
    ),
];

/// A query with the user's window and matchers in it.
pub(crate) fn filled(query: &str, window: &str, matchers: &str) -> String {
    let after = if matchers.is_empty() { String::new() } else { format!(",{matchers}") };
    query.replace("$W", window).replace("$S", &after).replace("$s", matchers)
}

/// A selector of all metrics that are asked for.
pub(crate) fn selector(matchers: &str) -> String {
    let mut names: Vec<&str> = DEFAULTS.iter().map(|one| one.metric).chain([REPLICAS]).collect();
    names.dedup();
    let after = if matchers.is_empty() { String::new() } else { format!(",{matchers}") };
    format!(r#"{{__name__=~"{}"{after}}}"#, names.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_takes_the_window_and_the_matchers() {
        for one in DEFAULTS {
            let queries = [Some(one.usage), if let Query(query) = one.capacity { Some(query) } else { None }];
            for query in queries.into_iter().flatten() {
                let filled = filled(query, "1m", r#"job="api""#);
                assert!(!filled.contains('$') && !filled.contains("{,"), "{filled}");
                assert!(filled.contains(r#"job="api""#), "{filled}");
                let labels = one.of.iter().chain(one.instance);
                labels.for_each(|label| assert!(filled.contains(label), "{label}: {filled}"));
                assert!(!super::filled(query, "1m", "").contains(",}"), "{query}");
            }
        }
    }
}

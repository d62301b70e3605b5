//! The metrics that are read by default: those of node_exporter, cAdvisor and kube-state-metrics, and the process metrics of Prometheus's
//! client libraries.
//!
//! Placeholders in queries: `$W` is the window of the rate, `$S` a comma and the user's matchers, `$s` the matchers alone, `$H` and `$h`
//! the same with the matchers for hosts, and `$L` those for limits from kube-state-metrics.
//!
//! One resource may have several rows: two jobs scrape the same exporter; the kubelet reports containers in `/metrics/cadvisor` and in
//! `/metrics/resource`; minikube reports each container twice; a restarted container keeps its old row for five minutes. These rows are
//! one value, not parts of a sum, so `max by` selects it. cAdvisor reports a container's CPU as one row, or as one for each processor.

use plimsoll_analyze::{AmountUnit, ProductionKind};

use AmountUnit::{BitsPerSec, Bytes, Cores, Count, Ratio};
use CapacityOf::{Known, Nothing, Query};
use ProductionKind as Kind;

use crate::matchers::Matchers;

/// The origin of a resource's capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CapacityOf {
    Known(f64),
    Query(&'static str),
    Nothing,
}

/// One kind of resource, and how to query it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DefaultResource {
    pub(crate) kind: ProductionKind,
    pub(crate) unit: AmountUnit,
    /// The kind is queried if this metric exists.
    pub(crate) metric: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) capacity: CapacityOf,
    /// The labels that identify the resource within its kind.
    pub(crate) of: &'static [&'static str],
    /// The labels that identify the instance.
    pub(crate) instance: &'static [&'static str],
}

/// The metric with the number of replicas of deployments.
pub(crate) const REPLICAS: &str = "kube_deployment_spec_replicas";

/// Excludes interfaces whose traffic another interface carries too, or never leaves the host: those of tunnels, virtual machines and
/// container networks. Podman and OpenShift name some of them with 15 hexadecimal digits.
macro_rules! outward {
    () => {
        concat!(
            r#"device!~"lo|dummy.*|tun.*|tap.*|wg.*|tailscale.*|vxlan.*|genev.*|veth.*|vnet.*|virbr.*|docker.*|podman.*|br-.*|"#,
            "cni.*|flannel.*|cali.*|cilium.*|lxc.*|lxdbr.*|weave.*|ovs.*|eni.*|gke.*|azv.*|nodelocaldns|kube-ipvs.*|",
            r#"fw(br|ln|pr).*|[0-9a-f]{15}""#
        )
    };
}

/// The speed of an interface. 10 Mbit/s or less is ignored: tunnels and virtual interfaces report it without having a speed.
macro_rules! speed {
    () => {
        "max by (instance, device) (node_network_speed_bytes{$h} > 1250000) * 8"
    };
}

/// Selects the containers of pods, except the one that holds a pod's network.
macro_rules! of_pods {
    () => {
        r#"container!="",container!="POD""#
    };
}

/// Selects the containers of Docker, which have a name and no pod.
macro_rules! of_docker {
    () => {
        r#"name!="",pod="",container="""#
    };
}

const HOST: [&str; 1] = ["instance"];
/// Pods of different clusters may have the same name.
const POD: (&[&str], &[&str]) = (&["namespace", "container"], &["cluster", "pod"]);
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

/// All kinds, those of hosts first.
pub(crate) const DEFAULTS: &[DefaultResource] = &[
    // Time stolen by other guests is unavailable, so it counts as used (docs/method.md, section 9).
    of_host(
        Kind::HostCpu,
        Cores,
        "node_cpu_seconds_total",
        (
            r#"sum by (instance) (max by (instance, cpu, mode) (rate(node_cpu_seconds_total{mode!~"idle|iowait"$H}[$W])))"#,
            Query(
                r#"count by (instance) (count by (instance, cpu) (node_cpu_seconds_total{mode="idle"$H}))"#,
            ),
        ),
        &[],
    ),
    of_host(
        Kind::BusiestCore,
        Cores,
        "node_cpu_seconds_total",
        (
            r#"max by (instance) (sum without (mode) (rate(node_cpu_seconds_total{mode!~"idle|iowait"$H}[$W])))"#,
            Known(1.0),
        ),
        &[],
    ),
    of_host(
        Kind::HostMemory,
        Bytes,
        "node_memory_MemAvailable_bytes",
        (
            "max by (instance) (node_memory_MemTotal_bytes{$h} - node_memory_MemAvailable_bytes{$h})",
            Query("max by (instance) (node_memory_MemTotal_bytes{$h})"),
        ),
        &[],
    ),
    of_host(
        Kind::Disk,
        Ratio,
        "node_disk_io_time_seconds_total",
        (
            r#"max by (instance, device) (rate(node_disk_io_time_seconds_total{device!~"(loop|ram|sr|fd|zram|dm-|md).*"$H}[$W]))"#,
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
                "max by (instance, device) (rate(node_network_transmit_bytes_total{",
                outward!(),
                "$H}[$W])) * 8"
            ),
            Query(speed!()),
        ),
        &["device"],
    ),
    of_host(
        Kind::NetworkIn,
        BitsPerSec,
        "node_network_receive_bytes_total",
        (
            concat!(
                "max by (instance, device) (rate(node_network_receive_bytes_total{",
                outward!(),
                "$H}[$W])) * 8"
            ),
            Query(speed!()),
        ),
        &["device"],
    ),
    of_host(
        Kind::Conntrack,
        Count,
        "node_nf_conntrack_entries",
        (
            "max by (instance) (node_nf_conntrack_entries{$h})",
            Query("max by (instance) (node_nf_conntrack_entries_limit{$h})"),
        ),
        &[],
    ),
    of_host(
        Kind::OpenFiles,
        Count,
        "node_filefd_allocated",
        (
            "max by (instance) (node_filefd_allocated{$h})",
            Query("max by (instance) (node_filefd_maximum{$h})"),
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
                "max by (cluster, namespace, pod, container) (sum without (cpu) (rate(container_cpu_usage_seconds_total{",
                of_pods!(),
                "$S}[$W])))"
            ),
            Query(concat!(
                "(max by (cluster, namespace, pod, container) (container_spec_cpu_quota{",
                of_pods!(),
                "$S} / container_spec_cpu_period{",
                of_pods!(),
                "$S}) > 0) or max by (cluster, namespace, pod, container) (kube_pod_container_resource_limits{resource=\"cpu\"$L})"
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
                "max by (name, instance) (sum without (cpu) (rate(container_cpu_usage_seconds_total{",
                of_docker!(),
                "$S}[$W])))"
            ),
            Query(concat!(
                "max by (name, instance) (container_spec_cpu_quota{",
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
                "sum by (cluster, namespace, pod, container) (rate(container_cpu_cfs_throttled_periods_total{",
                of_pods!(),
                "$S}[$W])) / sum by (cluster, namespace, pod, container) (rate(container_cpu_cfs_periods_total{",
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
                "max by (cluster, namespace, pod, container) (container_memory_working_set_bytes{",
                of_pods!(),
                "$S})"
            ),
            Query(concat!(
                "(max by (cluster, namespace, pod, container) (container_spec_memory_limit_bytes{",
                of_pods!(),
                "$S}) > 0) or max by (cluster, namespace, pod, container) (kube_pod_container_resource_limits{resource=\"memory\"$L})"
            )),
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerMemory,
        Bytes,
        "container_memory_working_set_bytes",
        (
            concat!("max by (name, instance) (container_memory_working_set_bytes{", of_docker!(), "$S})"),
            Query(concat!(
                "max by (name, instance) (container_spec_memory_limit_bytes{",
                of_docker!(),
                "$S})"
            )),
        ),
    ),
    of_container(
        (&["namespace"], &["cluster", "pod"]),
        Kind::ContainerNetworkOut,
        BitsPerSec,
        "container_network_transmit_bytes_total",
        (
            concat!(
                "sum by (cluster, namespace, pod) (max by (cluster, namespace, pod, interface) ",
                r#"(rate(container_network_transmit_bytes_total{pod!=""$S}[$W]))) * 8"#
            ),
            Nothing,
        ),
    ),
    of_container(
        DOCKER,
        Kind::ContainerNetworkOut,
        BitsPerSec,
        "container_network_transmit_bytes_total",
        (
            concat!(
                "sum by (name, instance) (max by (name, instance, interface) ",
                r#"(rate(container_network_transmit_bytes_total{name!="",pod=""$S}[$W]))) * 8"#
            ),
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

impl DefaultResource {
    /// Whether node_exporter provides this kind.
    pub(crate) fn is_of_host(&self) -> bool {
        is_of_host(self.metric)
    }
}

fn is_of_host(metric: &str) -> bool {
    metric.starts_with("node_")
}

/// Returns a query with its placeholders replaced.
pub(crate) fn filled(query: &str, window: &str, matchers: &Matchers) -> String {
    query
        .replace("$W", window)
        .replace("$S", &after_comma(&matchers.all))
        .replace("$s", &matchers.all)
        .replace("$H", &after_comma(&matchers.hosts))
        .replace("$h", &matchers.hosts)
        .replace("$L", &after_comma(&matchers.limits))
}

/// Returns selectors of all metrics that may be queried.
pub(crate) fn selectors(matchers: &Matchers) -> [String; 2] {
    let names = DEFAULTS.iter().map(|one| one.metric).chain([REPLICAS]);
    let (mut of_hosts, mut others): (Vec<&str>, Vec<&str>) = names.partition(|name| is_of_host(name));
    of_hosts.dedup();
    others.dedup();
    [(of_hosts, &matchers.hosts), (others, &matchers.all)]
        .map(|(names, matchers)| format!(r#"{{__name__=~"{}"{}}}"#, names.join("|"), after_comma(matchers)))
}

fn after_comma(matchers: &str) -> String {
    if matchers.is_empty() { String::new() } else { format!(",{matchers}") }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn every_query_takes_the_window_and_the_matchers() {
        let (some, none) = (Matchers::new(r#"cluster="eu""#), Matchers::new(""));
        for one in DEFAULTS {
            let queries = [Some(one.usage), if let Query(query) = one.capacity { Some(query) } else { None }];
            for query in queries.into_iter().flatten() {
                let filled = filled(query, "1m", &some);
                assert!(!filled.contains('$') && !filled.contains("{,"), "{filled}");
                let labels = one.of.iter().chain(one.instance);
                labels.for_each(|label| assert!(filled.contains(label), "{label}: {filled}"));
                let selected = filled.matches('{').count() - filled.matches("[0-9a-f]{").count();
                assert_eq!(filled.matches(r#"cluster="eu""#).count(), selected, "{filled}");
                assert!(!super::filled(query, "1m", &none).contains(",}"), "{query}");
            }
        }
    }

    const API: &str = r#"namespace="shop",pod="a",container="api""#;
    const OLD: &str = r#"namespace="shop",pod="b",container="api""#;
    const WEB: &str = r#"instance="web""#;

    /// Rows as exporters give them, one a minute, each thing more than once.
    fn rows() -> Vec<(String, &'static str)> {
        let mut rows = Vec::new();
        // The kubelet's two pages, and minikube's second row. In pod b cAdvisor has a row for each processor.
        for labels in
            [r#"cpu="total",id="/1",image="x""#, r#"cpu="total",id="/2",image="x""#, r#"job="resource""#]
        {
            rows.push((format!("container_cpu_usage_seconds_total{{{API},{labels}}}"), "0+30x10"));
            rows.push((format!("container_memory_working_set_bytes{{{API},{labels}}}"), "512x10"));
        }
        for labels in [r#"cpu="cpu00",id="/3",image="x""#, r#"cpu="cpu01",id="/3",image="x""#] {
            rows.push((format!("container_cpu_usage_seconds_total{{{OLD},{labels}}}"), "0+15x10"));
        }
        for job in [r#"job="one""#, r#"job="two""#] {
            let mut row = |metric: &str, labels: &str, values| {
                rows.push((format!("{metric}{{{labels},{job}}}"), values))
            };
            row("container_spec_cpu_quota", API, "50000x10");
            row("container_spec_cpu_period", API, "100000x10");
            row("kube_pod_container_resource_limits", &format!(r#"{OLD},resource="cpu""#), "2x10");
            row("kube_pod_container_resource_limits", &format!(r#"{API},resource="memory""#), "1024x10");
            for interface in ["eth0", "eth1"] {
                let labels = format!(r#"namespace="shop",pod="a",interface="{interface}""#);
                row("container_network_transmit_bytes_total", &labels, "0+60x10");
            }
            for (cpu, busy) in [("0", "0+30x10"), ("1", "0+15x10")] {
                row("node_cpu_seconds_total", &format!(r#"{WEB},cpu="{cpu}",mode="user""#), busy);
                row("node_cpu_seconds_total", &format!(r#"{WEB},cpu="{cpu}",mode="idle""#), "0+30x10");
            }
            row("node_memory_MemTotal_bytes", WEB, "4096x10");
            row("node_memory_MemAvailable_bytes", WEB, "1024x10");
            row("node_disk_io_time_seconds_total", &format!(r#"{WEB},device="sda""#), "0+30x10");
            row("node_filefd_allocated", WEB, "64x10");
            for (device, speed) in [
                ("eth0", "125000000x10"),
                ("eth1", "1250000x10"),
                ("wg0", "1250000x10"),
                ("7f3a9c0d1e2b4f5", "1250000000x10"),
            ] {
                row("node_network_transmit_bytes_total", &format!(r#"{WEB},device="{device}""#), "0+60x10");
                row("node_network_speed_bytes", &format!(r#"{WEB},device="{device}""#), speed);
            }
        }
        rows
    }

    /// Lets Prometheus's own promtool evaluate queries over the rows and compare what they give.
    fn expect(queries: &[(String, &[(String, f64)])]) {
        let mut text = "evaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n".to_owned();
        for (row, values) in rows() {
            writeln!(text, "      - {{ series: '{row}', values: '{values}' }}").unwrap();
        }
        writeln!(text, "    promql_expr_test:").unwrap();
        for (query, samples) in queries {
            writeln!(text, "      - expr: '{query}'\n        eval_time: 10m\n        exp_samples:").unwrap();
            for (labels, value) in *samples {
                writeln!(text, "          - {{ labels: '{{{labels}}}', value: {value} }}").unwrap();
            }
        }
        let mut promtool = Command::new("promtool");
        promtool.args(["test", "rules", "/dev/stdin"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut promtool = promtool.stderr(Stdio::piped()).spawn().unwrap();
        promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let said = promtool.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success(), "{out}{err}");
    }

    #[test]
    fn what_several_rows_say_of_one_thing_counts_once() {
        let of = |kind: Kind| DEFAULTS.iter().find(|one| one.kind == kind).unwrap();
        let none = Matchers::new("");
        let usage = |kind: Kind| filled(of(kind).usage, "5m", &none);
        let capacity = |kind: Kind| match of(kind).capacity {
            Query(query) => filled(query, "5m", &none),
            other => panic!("{other:?}"),
        };
        let sample = |labels: &str, value: f64| (labels.to_owned(), value);
        let device = |device: &str, value: f64| (format!(r#"{WEB},device="{device}""#), value);
        expect(&[
            (usage(Kind::ContainerCpu), &[sample(API, 0.5), sample(OLD, 0.5)]),
            (capacity(Kind::ContainerCpu), &[sample(API, 0.5), sample(OLD, 2.0)]),
            (usage(Kind::ContainerMemory), &[sample(API, 512.0)]),
            (capacity(Kind::ContainerMemory), &[sample(API, 1024.0)]),
            (usage(Kind::ContainerNetworkOut), &[sample(r#"namespace="shop",pod="a""#, 16.0)]),
            (usage(Kind::HostCpu), &[sample(WEB, 0.75)]),
            (capacity(Kind::HostCpu), &[sample(WEB, 2.0)]),
            (usage(Kind::BusiestCore), &[sample(WEB, 0.5)]),
            (usage(Kind::HostMemory), &[sample(WEB, 3072.0)]),
            (usage(Kind::Disk), &[device("sda", 0.5)]),
            (usage(Kind::OpenFiles), &[sample(WEB, 64.0)]),
            // Of 10 Mbit/s and of tunnels nothing is known.
            (usage(Kind::NetworkOut), &[device("eth0", 8.0), device("eth1", 8.0)]),
            (capacity(Kind::NetworkOut), &[device("7f3a9c0d1e2b4f5", 1e10), device("eth0", 1e9)]),
        ]);
    }
}

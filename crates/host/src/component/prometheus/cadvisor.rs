//! A kubelet's cAdvisor page: the control groups of containers, and the network of pods.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::metric::{cgroup, interface};
use plimsoll_record::{CounterSet, Metric, Source};

use super::row::{Row, rows};

/// A row's name, the metric that it becomes, and how many of our units one of its units is.
type Meaning = (&'static str, Metric, f64);

const GROUP: [Meaning; 10] = [
    ("container_cpu_usage_seconds_total", cgroup::USAGE_US, 1e6),
    ("container_cpu_cfs_periods_total", cgroup::PERIODS, 1.0),
    ("container_cpu_cfs_throttled_periods_total", cgroup::THROTTLED_PERIODS, 1.0),
    ("container_cpu_cfs_throttled_seconds_total", cgroup::THROTTLED_US, 1e6),
    ("container_spec_cpu_quota", cgroup::QUOTA_US, 1.0),
    ("container_spec_cpu_period", cgroup::PERIOD_US, 1.0),
    ("container_memory_usage_bytes", cgroup::MEMORY_BYTES, 1.0),
    ("container_spec_memory_limit_bytes", cgroup::MEMORY_LIMIT_BYTES, 1.0),
    ("container_memory_failcnt", cgroup::MEMORY_FAILURES, 1.0),
    ("container_oom_events_total", cgroup::OOM_KILLS, 1.0),
];

const NETWORK: [Meaning; 6] = [
    ("container_network_receive_bytes_total", interface::RECEIVED_BYTES, 1.0),
    ("container_network_receive_packets_total", interface::RECEIVED_PACKETS, 1.0),
    ("container_network_receive_packets_dropped_total", interface::RECEIVED_DROPPED, 1.0),
    ("container_network_transmit_bytes_total", interface::SENT_BYTES, 1.0),
    ("container_network_transmit_packets_total", interface::SENT_PACKETS, 1.0),
    ("container_network_transmit_packets_dropped_total", interface::SENT_DROPPED, 1.0),
];

/// CRI-O's name for the container that holds a pod's namespaces.
const SANDBOX: &str = "POD";
/// Metrics for which 0 means that there is no limit.
const LIMITS: [Metric; 2] = [cgroup::QUOTA_US, cgroup::MEMORY_LIMIT_BYTES];

/// A measurement of one container (`POD/CONTAINER`) or of one interface of a pod (`POD/INTERFACE`).
#[derive(Debug)]
pub(in super::super) struct Measured {
    pub(in super::super) source: Source,
    pub(in super::super) subject: String,
    /// The time of the measurement by the node's clock. It stays the same until the next one, 10 to 17 s later.
    pub(in super::super) time_ms: Option<u64>,
    pub(in super::super) counters: CounterSet,
}

/// Returns the measurements of the given pods of a namespace; `None` if this is another kind of page.
pub(in super::super) fn measured(
    page: &str,
    namespace: &str,
    pods: &BTreeSet<String>,
) -> Option<Vec<Measured>> {
    // A node may have a hundred thousand rows: only those of the namespace are parsed.
    let label = format!("namespace=\"{namespace}\"");
    let lines: Vec<&str> = page.lines().filter(|line| line.contains(&label)).collect();
    let text = lines.join("\n");
    let mut subjects: BTreeMap<(Source, String), Measured> = BTreeMap::new();
    for row in rows(&text)? {
        if row.label("pod").is_some_and(|pod| pods.contains(pod)) {
            add(&mut subjects, &row);
        }
    }
    Some(subjects.into_values().collect())
}

fn add(subjects: &mut BTreeMap<(Source, String), Measured>, row: &Row<'_>) {
    let Some((source, subject, metric, value)) = meaning(row) else { return };
    let key = (source, subject.clone());
    let counters = CounterSet::default();
    let entry = subjects.entry(key).or_insert_with(|| Measured { source, subject, time_ms: None, counters });
    entry.counters.put(metric, value);
    entry.time_ms = entry.time_ms.max(row.time_ms);
}

/// Returns the source, subject, metric and value of a row; `None` if the row is not used.
fn meaning(row: &Row<'_>) -> Option<(Source, String, Metric, u64)> {
    let of = |table: &[Meaning]| table.iter().find(|(name, ..)| *name == row.name).copied();
    let (source, part, (_, metric, scale)) = match of(&GROUP) {
        Some(found) => (Source::Cgroup, container(row)?, found),
        None => (Source::Interface, row.label("interface")?, of(&NETWORK)?),
    };
    let value = (row.value * scale).round() as u64;
    let is_unlimited = value == 0 && LIMITS.contains(&metric);
    (!is_unlimited)
        .then(|| (source, format!("{}/{part}", row.label("pod").unwrap_or_default()), metric, value))
}

/// Returns the container's name; `None` for rows of a whole pod, whose name is empty, and for the sandbox.
fn container<'a>(row: &'a Row<'_>) -> Option<&'a str> {
    row.label("container").filter(|name| !name.is_empty() && *name != SANDBOX)
}

#[cfg(test)]
mod tests;

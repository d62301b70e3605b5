//! What is held rather than spent: memory, descriptors, places in a queue.

use crate::hosts::step_samples::Seen;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// Servers that allow so many connections: source, connections, and the most of them.
const ALLOWING: [(&str, &str, &str); 2] = [
    ("memcached", "curr_connections", "max_connections"),
    ("mariadb", "threads_connected", "max_connections"),
];

/// Everything of a host that is held.
pub(super) fn resources(seen: &Seen<'_>, host: &str) -> Vec<Resource> {
    let mut resources: Vec<Resource> = memory(seen, host).into_iter().collect();
    resources.extend(gauges(
        seen,
        host,
        "process",
        "descriptors",
        "descriptors_limit",
        ResourceKind::Descriptors,
    ));
    resources.extend(gauges(seen, host, "listener", "queue", "queue_limit", ResourceKind::AcceptQueue));
    for (source, open, most) in ALLOWING {
        resources.extend(gauges(seen, host, source, open, most, ResourceKind::Connections));
    }
    resources
}

fn memory(seen: &Seen<'_>, host: &str) -> Option<Resource> {
    if let Some(own) = seen.hosts.track(host, "cgroup", "")
        && let Some(limit) = own.last("memory_limit_bytes")
    {
        let used = seen.each(|span| own.most("memory_bytes", span));
        return Some(Resource { used, ..Resource::new(ResourceKind::Memory, host, "", Some(limit)) });
    }
    let track = seen.hosts.track(host, "memory", "")?;
    let total = track.last("total_bytes")?;
    let used = seen.each(|span| Some(total - track.mean("available_bytes", span)?));
    Some(Resource { used, ..Resource::new(ResourceKind::Memory, host, "", Some(total)) })
}

fn gauges(
    seen: &Seen<'_>,
    host: &str,
    source: &str,
    gauge: &str,
    most: &str,
    kind: ResourceKind,
) -> Vec<Resource> {
    let one = |(subject, track): (&str, &Track<'_>)| {
        let used = seen.each(|span| track.most(gauge, span));
        Resource { used, ..Resource::new(kind, host, subject, track.last(most)) }
    };
    seen.hosts.of(host, source).map(one).collect()
}

//! What is held rather than spent: memory, descriptors, places in a queue.

use plimsoll_record::metric::{cgroup, listener, mariadb, memcached, memory, process};
use plimsoll_record::{Metric, Source, Subject};

use crate::hosts::step_samples::StepSamples;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// What is held, and the limit of it.
const HELD: [(ResourceKind, Metric, Metric); 4] = [
    (ResourceKind::Descriptors, process::DESCRIPTORS, process::DESCRIPTORS_LIMIT),
    (ResourceKind::AcceptQueue, listener::QUEUE, listener::QUEUE_LIMIT),
    (ResourceKind::Connections, memcached::CURR_CONNECTIONS, memcached::MAX_CONNECTIONS),
    (ResourceKind::Connections, mariadb::THREADS_CONNECTED, mariadb::MAX_CONNECTIONS),
];

/// Everything of a host that is held.
pub(super) fn resources(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let held = HELD.iter().flat_map(|(kind, gauge, limit)| gauges(samples, host, *kind, (*gauge, *limit)));
    memory(samples, host).into_iter().chain(held).collect()
}

fn memory(samples: &StepSamples<'_>, host: &str) -> Option<Resource> {
    if let Some(own) = samples.hosts.track(host, Source::Cgroup, Subject::Host)
        && let Some(limit) = own.last(cgroup::MEMORY_LIMIT_BYTES)
    {
        let used = samples.each(|span| own.most(cgroup::MEMORY_BYTES, span));
        return Some(Resource { used, ..Resource::new(ResourceKind::Memory, host, "", Some(limit)) });
    }
    let track = samples.hosts.track(host, Source::Memory, Subject::Host)?;
    let total = track.last(memory::TOTAL_BYTES)?;
    let used = samples.each(|span| Some(total - track.mean(memory::AVAILABLE_BYTES, span)?));
    Some(Resource { used, ..Resource::new(ResourceKind::Memory, host, "", Some(total)) })
}

fn gauges(
    samples: &StepSamples<'_>,
    host: &str,
    kind: ResourceKind,
    (gauge, limit): (Metric, Metric),
) -> Vec<Resource> {
    let one = |(subject, track): (Subject<'_>, &Track<'_>)| {
        let used = samples.each(|span| track.most(gauge, span));
        Resource { used, ..Resource::new(kind, host, &subject.to_string(), track.last(limit)) }
    };
    samples.hosts.of(host, gauge.source).map(one).collect()
}

//! Disks: the time that devices were busy, and the bytes of a control group that is allowed so many a second.

use plimsoll_record::metric::{cgroup, disk};
use plimsoll_record::{Metric, Source, Subject};

use crate::hosts::step_samples::StepSamples;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// The ways of a capped disk: what it is, the counter, and the group's limit.
const WAYS: [(ResourceKind, Metric, Metric); 2] = [
    (ResourceKind::DiskRead, cgroup::DISK_READ_BYTES, cgroup::DISK_READ_LIMIT_BYTES_PER_SEC),
    (ResourceKind::DiskWrite, cgroup::DISK_WRITTEN_BYTES, cgroup::DISK_WRITE_LIMIT_BYTES_PER_SEC),
];

/// The disks of a host, and those of control groups that are capped.
pub(super) fn resources(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let busy = |(device, track): (Subject<'_>, &Track<'_>)| {
        let used = samples.each(|span| track.per_sec(disk::BUSY_MS, span).map(|ms| ms / 1e3));
        Resource { used, ..Resource::new(ResourceKind::Disk, host, &device.to_string(), Some(1.0)) }
    };
    let groups =
        samples.hosts.of(host, Source::Cgroup).flat_map(|(group, track)| capped(samples, host, group, track));
    samples.hosts.of(host, Source::Disk).map(busy).chain(groups).collect()
}

/// A group that is held to its cap leaves the device itself idle, so that its bytes show what the device's time does not.
/// Without a limit of the group, as the kernel has it, there is nothing to compare them with.
fn capped(samples: &StepSamples<'_>, host: &str, group: Subject<'_>, track: &Track<'_>) -> Vec<Resource> {
    let way = |(kind, counter, limit): &(ResourceKind, Metric, Metric)| {
        let most = track.last(*limit)?;
        let used = samples.each(|span| track.per_sec(*counter, span));
        Some(Resource { used, ..Resource::new(*kind, host, &group.to_string(), Some(most)) })
    };
    WAYS.iter().filter_map(way).collect()
}

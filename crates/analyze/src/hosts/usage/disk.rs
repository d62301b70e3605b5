//! Disks: the time that devices were busy, and the bytes of a control group that is allowed so many a second.

use crate::hosts::step_samples::Seen;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// The ways of a capped disk: what it is, the counter, and the group's limit.
const WAYS: [(ResourceKind, &str, &str); 2] = [
    (ResourceKind::DiskRead, "disk_read_bytes", "disk_read_limit_bytes_per_sec"),
    (ResourceKind::DiskWrite, "disk_written_bytes", "disk_write_limit_bytes_per_sec"),
];

/// The disks of a host, and those of control groups that are capped.
pub(super) fn resources(seen: &Seen<'_>, host: &str) -> Vec<Resource> {
    let busy = |(device, track): (&str, &Track<'_>)| {
        let used = seen.each(|span| track.per_sec("busy_ms", span).map(|ms| ms / 1e3));
        Resource { used, ..Resource::new(ResourceKind::Disk, host, device, Some(1.0)) }
    };
    let groups = seen.hosts.of(host, "cgroup").flat_map(|(path, track)| capped(seen, host, path, track));
    seen.hosts.of(host, "disk").map(busy).chain(groups).collect()
}

/// A group that is held to its cap leaves the device itself idle, so that its bytes show what the device's time does not.
/// Without a limit of the group, as the kernel has it, there is nothing to compare them with.
fn capped(seen: &Seen<'_>, host: &str, path: &str, track: &Track<'_>) -> Vec<Resource> {
    let way = |(kind, counter, limit): &(ResourceKind, &str, &str)| {
        let most = track.last(limit)?;
        let used = seen.each(|span| track.per_sec(counter, span));
        Some(Resource { used, ..Resource::new(*kind, host, path, Some(most)) })
    };
    WAYS.iter().filter_map(way).collect()
}

//! What a resource is called in a sentence.

use plimsoll_analyze::{ResourceId, ResourceKind, ResourceUse};
use plimsoll_units::{count_text, share_text, significant};

/// What a resource is called: `the CPU of web`, `the bandwidth out of web (eth0, 200 Mbit/s)`.
pub(super) fn name(resource: &ResourceId) -> String {
    let ResourceId { host, detail, .. } = resource;
    match resource.kind {
        ResourceKind::Cpu => format!("the CPU of {host}"),
        ResourceKind::Core => format!("{detail} of {host}"),
        ResourceKind::Thread => format!("the thread {detail} on {host}"),
        ResourceKind::Quota => format!("the CPU quota of {detail} on {host}"),
        ResourceKind::BandwidthOut
        | ResourceKind::BandwidthIn
        | ResourceKind::PacketsOut
        | ResourceKind::PacketsIn => link(resource),
        ResourceKind::Disk => format!("the disk {detail} of {host}"),
        ResourceKind::DiskRead => format!("the reading of {} from its disk", resource.place()),
        ResourceKind::DiskWrite => format!("the writing of {} to its disk", resource.place()),
        ResourceKind::Memory => format!("the memory of {host}"),
        ResourceKind::Descriptors => format!("the descriptors of {detail} on {host}"),
        ResourceKind::AcceptQueue => format!("the accept queue of {detail} on {host}"),
        ResourceKind::Connections => format!("the connections of {detail} on {host}"),
    }
}

fn link(resource: &ResourceId) -> String {
    let whole = resource
        .capacity
        .map_or_else(String::new, |capacity| format!(", {}", link_capacity(resource, capacity)));
    format!("the {} {} {} ({}{whole})", link_word(resource), way(resource), resource.host, resource.detail)
}

/// What is used up of a link: bandwidth or packets.
pub(super) fn link_word(resource: &ResourceId) -> &'static str {
    if is_of_packets(resource) { "packets" } else { "bandwidth" }
}

/// True for the packets of a link.
pub(super) fn is_of_packets(resource: &ResourceId) -> bool {
    matches!(resource.kind, ResourceKind::PacketsIn | ResourceKind::PacketsOut)
}

/// Which way of a link.
pub(super) fn way(resource: &ResourceId) -> &'static str {
    match resource.kind {
        ResourceKind::BandwidthOut | ResourceKind::PacketsOut => "out of",
        _ => "into",
    }
}

/// What a link carries.
pub(super) fn link_capacity(resource: &ResourceId, capacity: f64) -> String {
    if is_of_packets(resource) { format!("{} packets/s", count_text(capacity)) } else { bits(capacity) }
}

/// `the CPU of web was 57 % used`.
pub(super) fn used(used: &ResourceUse) -> String {
    format!("{} was {} used", name(&used.resource), share_text(used.share))
}

/// Bits per second with the unit that people use: `200 Mbit/s`.
pub(crate) fn bits(bits_per_sec: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let unit = units.iter().find(|(size, _)| bits_per_sec >= *size).unwrap_or(&(1.0, "bit/s"));
    format!("{} {}", significant(bits_per_sec / unit.0), unit.1)
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn bits_read_in_the_units_of_links() {
        assert_eq!(bits(200e6), "200 Mbit/s");
        assert_eq!(bits(2.5e9), "2.50 Gbit/s");
        assert_eq!(bits(12.0), "12.0 bit/s");
    }
}

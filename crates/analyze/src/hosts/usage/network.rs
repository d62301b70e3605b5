//! Links: bits and packets, each way.

use crate::hosts::step_samples::Seen;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// One way of a link: what is counted, and what the plan calls its capacity.
struct Way {
    kind: ResourceKind,
    counter: &'static str,
    factor: f64,
    declared: &'static str,
}

const WAYS: [Way; 4] = [
    Way {
        kind: ResourceKind::BandwidthOut,
        counter: "sent_bytes",
        factor: 8.0,
        declared: "link_out_bits_per_sec",
    },
    Way {
        kind: ResourceKind::BandwidthIn,
        counter: "received_bytes",
        factor: 8.0,
        declared: "link_in_bits_per_sec",
    },
    Way { kind: ResourceKind::PacketsOut, counter: "sent_packets", factor: 1.0, declared: "packets_per_sec" },
    Way {
        kind: ResourceKind::PacketsIn,
        counter: "received_packets",
        factor: 1.0,
        declared: "packets_per_sec",
    },
];

/// Both ways of each interface of a host.
pub(super) fn resources(seen: &Seen<'_>, host: &str) -> Vec<Resource> {
    let of_interface =
        |(name, track): (&str, &Track<'_>)| WAYS.map(|way| one_way(seen, host, name, track, &way));
    seen.hosts.of(host, "interface").flat_map(of_interface).collect()
}

fn one_way(seen: &Seen<'_>, host: &str, name: &str, track: &Track<'_>, way: &Way) -> Resource {
    let used = seen.each(|span| track.per_sec(way.counter, span).map(|count| count * way.factor));
    Resource { used, ..Resource::new(way.kind, host, name, capacity(seen, host, name, track, way)) }
}

/// What the plan says, or for bits the speed of the interface. The loopback has no limit of its own.
fn capacity(seen: &Seen<'_>, host: &str, name: &str, track: &Track<'_>, way: &Way) -> Option<f64> {
    let declared = seen.hosts.track(host, "declared", "").and_then(|track| track.last(way.declared));
    let bits = matches!(way.kind, ResourceKind::BandwidthOut | ResourceKind::BandwidthIn);
    declared.or_else(|| track.last("speed_bits_per_sec").filter(|_| bits)).filter(|_| name != "lo")
}

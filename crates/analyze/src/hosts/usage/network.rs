//! Links: bits and packets, each way.

use plimsoll_record::metric::{declared, interface};
use plimsoll_record::{Metric, Source, Subject};

use crate::hosts::step_samples::StepSamples;
use crate::hosts::track::Track;
use crate::{Resource, ResourceKind};

/// One way of a link: what is counted, and what the plan calls its capacity.
struct Way {
    kind: ResourceKind,
    counter: Metric,
    factor: f64,
    declared: Metric,
}

const WAYS: [Way; 4] = [
    Way {
        kind: ResourceKind::BandwidthOut,
        counter: interface::SENT_BYTES,
        factor: 8.0,
        declared: declared::LINK_OUT_BITS_PER_SEC,
    },
    Way {
        kind: ResourceKind::BandwidthIn,
        counter: interface::RECEIVED_BYTES,
        factor: 8.0,
        declared: declared::LINK_IN_BITS_PER_SEC,
    },
    Way {
        kind: ResourceKind::PacketsOut,
        counter: interface::SENT_PACKETS,
        factor: 1.0,
        declared: declared::PACKETS_PER_SEC,
    },
    Way {
        kind: ResourceKind::PacketsIn,
        counter: interface::RECEIVED_PACKETS,
        factor: 1.0,
        declared: declared::PACKETS_PER_SEC,
    },
];

/// Both ways of each interface of a host.
pub(super) fn resources(samples: &StepSamples<'_>, host: &str) -> Vec<Resource> {
    let of_interface = |(subject, track): (Subject<'_>, &Track<'_>)| {
        let name = subject.to_string();
        WAYS.map(|way| one_way(samples, host, &name, track, &way))
    };
    samples.hosts.of(host, Source::Interface).flat_map(of_interface).collect()
}

fn one_way(samples: &StepSamples<'_>, host: &str, name: &str, track: &Track<'_>, way: &Way) -> Resource {
    let used = samples.each(|span| track.per_sec(way.counter, span).map(|count| count * way.factor));
    Resource { used, ..Resource::new(way.kind, host, name, capacity(samples, host, name, track, way)) }
}

/// What the plan says, or for bits the speed of the interface. The loopback has no limit of its own.
fn capacity(samples: &StepSamples<'_>, host: &str, name: &str, track: &Track<'_>, way: &Way) -> Option<f64> {
    let declared =
        samples.hosts.track(host, Source::Declared, Subject::Host).and_then(|track| track.last(way.declared));
    let bits = matches!(way.kind, ResourceKind::BandwidthOut | ResourceKind::BandwidthIn);
    declared.or_else(|| track.last(interface::SPEED_BITS_PER_SEC).filter(|_| bits)).filter(|_| name != "lo")
}

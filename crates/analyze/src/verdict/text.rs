//! The verdict in one paragraph.

use plimsoll_units::count_text;

use super::decide::{Decided, busiest_elsewhere};
use super::phrase::{bits_text, joined};
use super::scene::{Scene, Suspicion};
use crate::{Limit, NextLimit, Resource, ResourceKind};

/// What a resource is called: `the CPU of web`, `the link out of web (eth0, 200 Mbit/s)`.
pub(super) fn resource_text(resource: &Resource) -> String {
    let host = &resource.host;
    let link = |way: &str, what: &str| {
        let whole = resource
            .capacity
            .map_or_else(String::new, |capacity| format!(", {}", whole_text(resource, capacity)));
        format!("the {what} {way} {host} ({}{whole})", resource.detail)
    };
    match resource.kind {
        ResourceKind::Cpu => format!("the CPU of {host}"),
        ResourceKind::Core => format!("{} of {host}", resource.detail),
        ResourceKind::Thread => format!("the thread {} on {host}", resource.detail),
        ResourceKind::Quota => format!("the CPU quota of {} on {host}", resource.detail),
        ResourceKind::BandwidthOut => link("out of", "bandwidth"),
        ResourceKind::BandwidthIn => link("into", "bandwidth"),
        ResourceKind::PacketsOut => link("out of", "packets"),
        ResourceKind::PacketsIn => link("into", "packets"),
        ResourceKind::Disk => format!("the disk {} of {host}", resource.detail),
        ResourceKind::DiskRead => format!("the reading of {} from its disk", resource.place()),
        ResourceKind::DiskWrite => format!("the writing of {} to its disk", resource.place()),
        ResourceKind::Memory => format!("the memory of {host}"),
        ResourceKind::Descriptors => format!("the descriptors of {} on {host}", resource.detail),
        ResourceKind::AcceptQueue => format!("the accept queue of {} on {host}", resource.detail),
        ResourceKind::Connections => format!("the connections of {} on {host}", resource.detail),
    }
}

fn whole_text(resource: &Resource, capacity: f64) -> String {
    match resource.kind {
        ResourceKind::PacketsIn | ResourceKind::PacketsOut => format!("{} packets/s", count_text(capacity)),
        _ => bits_text(capacity),
    }
}

/// What was measured and the law; what else it may be; why the others are not; what comes next.
pub(super) fn paragraph(scene: &Scene<'_>, decided: &Decided, next: Option<&NextLimit>) -> String {
    let others = busiest_elsewhere(scene, &decided.named())
        .map_or_else(String::new, |text| format!("; of the rest, {text}"));
    format!("{}{others}.{}{}", decided.main.sentence, rivals(&decided.also), next_text(scene, decided, next))
}

fn rivals(also: &[Suspicion]) -> String {
    if also.is_empty() {
        return String::new();
    }
    let names: Vec<String> =
        also.iter().map(|one| format!("{} of {}", one.limit.name(), one.place)).collect();
    format!(" What was seen does not tell it from {}.", joined(&names))
}

fn next_text(scene: &Scene<'_>, decided: &Decided, next: Option<&NextLimit>) -> String {
    let Some(next) = next else { return String::new() };
    let resource = scene
        .resources
        .iter()
        .find(|resource| resource.kind.limit() == next.limit && resource.place() == next.place);
    let what = resource.map_or_else(|| format!("{} of {}", next.limit.name(), next.place), resource_text);
    let more = match decided.main.limit {
        Limit::Thread => "With another thread at that work",
        Limit::Bandwidth | Limit::Packets => "With a wider link",
        Limit::Pool => "With a larger pool",
        Limit::Disk => "With a faster disk",
        Limit::Lock => "Without it",
        _ => "With more of it",
    };
    format!(
        " {more} throughput would reach about {}, where {what} stops it.",
        count_text(next.at_per_sec.value)
    )
}

//! Parts of sentences: lists, counts, places, resources.

use plimsoll_analyze::{
    Estimate, Part, Place, PlaceCount, ResourceId, ResourceKind, ResourceUse, Used, Usl, Verdict,
};
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

use crate::amount::{bits, counted, if_known};

/// Joins names as in a sentence.
pub(super) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// Joins names as in a sentence, after `each of` if there are several.
pub(super) fn each_of(names: &[String]) -> String {
    let each = if names.len() > 1 { "each of " } else { "" };
    format!("{each}{}", joined(names))
}

/// A place as in a sentence: `nginx on web`; the host alone for all of it.
pub(crate) fn placed(place: &Place) -> String {
    match place.of_host() {
        Some(part) if *part != Part::Whole => format!("{part} on {}", place.host_name()),
        _ => place.to_string(),
    }
}

/// Joins places as in a sentence; several places of one name become a count of it.
pub(super) fn places(places: &[PlaceCount]) -> String {
    let one = |place: &PlaceCount| match place.count {
        0 | 1 => placed(&place.place),
        count => format!("{count} × {}", placed(&place.place)),
    };
    joined(&places.iter().map(one).collect::<Vec<_>>())
}

/// Formats a number of workers: whole, and at least one.
pub(super) fn whole(count: f64) -> String {
    grouped(count.round().max(1.0) as u64)
}

/// Formats a whole number of at least one with its noun: `1 connection`, `600 connections`.
pub(super) fn whole_of(count: f64, noun: &str) -> String {
    counted(count.round().max(1.0) as u64, noun)
}

pub(super) fn cores(cores: f64) -> String {
    if cores == 1.0 { "1 core".to_owned() } else { format!("{} cores", significant(cores)) }
}

/// Returns the CPU time of a request: ` (81 µs a request)`; empty where it is not known.
pub(super) fn cpu_cost(used: &Used) -> String {
    if_known(used.per_request, |cost| format!(" ({} a request)", duration_text(cost * 1e9)))
}

/// Returns the part of a host that a verdict is about; the host itself if it is about the whole host.
pub(super) fn part_name(verdict: &Verdict) -> String {
    match verdict.place.of_host() {
        Some(part) if *part != Part::Whole => part.to_string(),
        _ => verdict.host().to_owned(),
    }
}

/// Returns the name of a resource: `the CPU of web`, `the bandwidth out of web (eth0, 200 Mbit/s)`.
pub(super) fn resource_name(id: &ResourceId) -> String {
    let ResourceId { host, part, .. } = id;
    match id.kind {
        ResourceKind::Cpu | ResourceKind::Machine => format!("the CPU of {host}"),
        ResourceKind::Core | ResourceKind::AllowedCores => format!("{part} of {host}"),
        ResourceKind::Thread if *part == Part::Whole => {
            format!("the one core that a process of {host} can use")
        }
        ResourceKind::Thread => format!("the thread {part} on {host}"),
        ResourceKind::Quota if *part == Part::Whole => format!("the CPU quota of {host}"),
        ResourceKind::Quota => format!("the CPU quota of {part} on {host}"),
        ResourceKind::BandwidthOut
        | ResourceKind::BandwidthIn
        | ResourceKind::BandwidthBoth
        | ResourceKind::PacketsOut
        | ResourceKind::PacketsIn => link(id),
        ResourceKind::Disk if *part == Part::Whole => format!("the disk of {host}"),
        ResourceKind::Disk => format!("the disk {part} of {host}"),
        ResourceKind::DiskRead => format!("the reading of {} from its disk", placed(&id.place())),
        ResourceKind::DiskWrite => format!("the writing of {} to its disk", placed(&id.place())),
        ResourceKind::Memory => format!("the memory of {host}"),
        ResourceKind::Descriptors => format!("the descriptors of {part} on {host}"),
        ResourceKind::AcceptQueue => format!("the accept queue of {part} on {host}"),
        ResourceKind::Connections => format!("the connections of {part} on {host}"),
        ResourceKind::Pool => match id.capacity {
            Some(size) => format!("the pool of {} workers in {host}", whole(size)),
            None => format!("the pool of {host}"),
        },
    }
}

fn link(resource: &ResourceId) -> String {
    let interface = (resource.part != Part::Whole).then(|| resource.part.to_string());
    let capacity = resource.capacity.map(|capacity| link_capacity(resource, capacity));
    let which: Vec<String> = interface.into_iter().chain(capacity).collect();
    format!("the {} {} {} ({})", link_word(resource), way(resource), resource.host, which.join(", "))
}

/// Returns the quantity of a link that is used up: bandwidth or packets.
pub(super) fn link_word(resource: &ResourceId) -> &'static str {
    if resource.is_of_packets() { "packets" } else { "bandwidth" }
}

/// Returns the direction of a link.
pub(super) fn way(resource: &ResourceId) -> &'static str {
    match resource.kind {
        ResourceKind::BandwidthOut | ResourceKind::PacketsOut => "out of",
        ResourceKind::BandwidthBoth => "into and out of",
        _ => "into",
    }
}

/// Returns the capacity of a link.
pub(super) fn link_capacity(resource: &ResourceId, capacity: f64) -> String {
    if resource.is_of_packets() { format!("{} packets/s", count_text(capacity)) } else { bits(capacity) }
}

/// `the CPU of web, 57 %`.
pub(super) fn resource_share(used: &ResourceUse) -> String {
    format!("{}, {}", resource_name(&used.resource), share_text(used.share))
}

/// `the CPU of web was 57 % used`.
pub(super) fn resource_used(used: &ResourceUse) -> String {
    format!("{} was {} used", resource_name(&used.resource), share_text(used.share))
}

/// The scalability law with its parameters: `the scalability law has γ 198 (168 to 227), …`.
pub(crate) fn law(usl: &Usl) -> String {
    let of = |estimate: Estimate| {
        let bounds = |(low, high)| format!(" ({} to {})", significant(low), significant(high));
        format!("{}{}", significant(estimate.value), if_known(estimate.interval, bounds))
    };
    format!(
        "the scalability law has γ {}, α {}, β {} (R² {:.3})",
        of(usl.gamma),
        of(usl.alpha),
        of(usl.beta),
        usl.r_squared
    )
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn names_are_joined_as_people_do() {
        let names = |names: &[&str]| joined(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["a"]), "a");
        assert_eq!(names(&["a", "b", "c"]), "a, b and c");
    }
}

//! `bandwidth` and `packets`: a link carries what it can, one way.

use plimsoll_units::count_text;

use crate::verdict::bounds;
use crate::verdict::phrase::{bits_text, percent};
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind};

const WAYS: [ResourceKind; 4] = [
    ResourceKind::BandwidthOut,
    ResourceKind::BandwidthIn,
    ResourceKind::PacketsOut,
    ResourceKind::PacketsIn,
];

/// Links that are full, one way or the other.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let full = |link: &&Resource| scene.share(link).is_some_and(|share| share >= bounds::BUSY);
    WAYS.into_iter()
        .flat_map(|way| scene.of_kind(way).filter(full))
        .map(|link| suspicion(scene, link))
        .collect()
}

fn is_out(link: &Resource) -> bool {
    matches!(link.kind, ResourceKind::BandwidthOut | ResourceKind::PacketsOut)
}

/// What a request costs, and what the whole is, in the link's unit.
fn amounts(link: &Resource) -> (String, String) {
    let capacity = link.capacity.unwrap_or_default();
    let each = link.demand.map(|demand| demand.per_request.value);
    match link.kind.limit() {
        Limit::Packets => (
            format!("{} packets/s", count_text(capacity)),
            each.map_or_else(String::new, |each| {
                format!(" ({} packets a request)", plimsoll_units::significant(each))
            }),
        ),
        _ => (
            bits_text(capacity),
            each.map_or_else(String::new, |bits| {
                format!(" ({} a request)", plimsoll_units::bytes_text(bits / 8.0))
            }),
        ),
    }
}

/// The law holds; or throughput hardly differed and the load's own bytes account for the use.
fn used_by_requests(scene: &Scene<'_>, link: &Resource) -> bool {
    match link.demand.map(|demand| demand.law) {
        Some(Law::Holds) => true,
        Some(Law::Untested) => {
            let ours = 8.0 * scene.decisive().bytes_in_per_sec;
            let used = link.used[scene.step].unwrap_or(f64::INFINITY);
            link.kind == ResourceKind::BandwidthOut && ours >= bounds::PASSED_ON * used
        }
        Some(Law::Broken) | None => false,
    }
}

fn suspicion(scene: &Scene<'_>, link: &Resource) -> Suspicion {
    let share = scene.share(link).unwrap_or_default();
    let (whole, each) = amounts(link);
    let way = if is_out(link) { "out of" } else { "into" };
    let limit = link.kind.limit();
    let what = if limit == Limit::Packets { "packets" } else { "bandwidth" };
    let sentence = format!(
        "the {what} {way} {} is the limit: {} of the {whole} of {} was used at {} requests/s{each}",
        link.host,
        percent(share),
        link.detail,
        count_text(scene.throughput()),
    );
    let used = link.used[scene.step].unwrap_or_default();
    let unit = if limit == Limit::Packets { "packets/s" } else { "bits/s" };
    Suspicion {
        share,
        at_per_sec: link.demand.and_then(|demand| demand.at_per_sec),
        direct: used_by_requests(scene, link),
        evidence: vec![scene.row(format!("{unit} {way} {}", link.place()), used, link.capacity)],
        advice: vec![match limit {
            Limit::Packets => format!(
                "send fewer and larger packets {way} {} (keep-alive, fewer round trips), or raise its packet limit by half, \
                 and repeat the load",
                link.host
            ),
            _ => format!(
                "make responses or requests half as large (compression), or raise the link of {} by half, and repeat the load",
                link.host
            ),
        }],
        ..Suspicion::new(limit, link.place(), sentence)
    }
}

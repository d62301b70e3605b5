//! `quota`: a process's own control group is at its processor quota, below what its host has.

use plimsoll_units::{count_text, significant};

use super::processor::is_busy;
use crate::verdict::phrase::{cost, percent};
use crate::verdict::scene::{Scene, Suspicion};
use crate::{Law, Limit, Resource, ResourceKind};

/// Groups at their quota on hosts that have more than it.
pub(in crate::verdict) fn suspicions(scene: &Scene<'_>) -> Vec<Suspicion> {
    let groups = scene.of_kind(ResourceKind::Quota);
    groups.filter(|group| is_busy(scene, group)).map(|group| suspicion(scene, group)).collect()
}

fn suspicion(scene: &Scene<'_>, group: &Resource) -> Suspicion {
    let share = scene.share(group).unwrap_or_default();
    let quota = group.capacity.unwrap_or_default();
    let throttled = scene.throttled(group);
    let often = throttled
        .map_or_else(String::new, |ratio| format!(", and was held up in {} of its periods", percent(ratio)));
    let sentence = format!(
        "the CPU quota of {} on {} is the limit: it used {} of its {} cores at {} requests/s{}{often}",
        group.detail,
        group.host,
        percent(share),
        significant(quota),
        count_text(scene.throughput()),
        cost(scene, group),
    );
    let mut evidence =
        vec![scene.row(format!("CPU of {} against its quota", group.place()), share, Some(1.0))];
    evidence.extend(throttled.map(|ratio| {
        scene.row(format!("periods in which {} was out of its quota", group.place()), ratio, Some(1.0))
    }));
    evidence.extend(
        scene.cpu_share(&group.host).map(|used| scene.row(format!("CPU of {}", group.host), used, Some(1.0))),
    );
    Suspicion {
        share,
        at_per_sec: group.demand.and_then(|demand| demand.at_per_sec),
        direct: scene.is_used_by_requests(group),
        whatever_the_load: group.demand.is_some_and(|demand| demand.law == Law::Broken),
        evidence,
        advice: vec![format!(
            "raise the CPU quota of {} by half, to {} cores, and repeat the load with -c {}",
            group.detail,
            significant(1.5 * quota),
            scene.decisive().connections
        )],
        ..Suspicion::new(Limit::Quota, group.place(), sentence)
    }
}

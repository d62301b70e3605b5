//! `dependency`: requests are passed on to something that nobody looks at, and wait there.

use plimsoll_units::{count_text, significant};

use super::queue::Queue;
use crate::verdict::bounds;
use crate::verdict::scene::{Scene, Suspicion};
use crate::{EvidenceRow, Limit};

/// The address behind the last tier that is looked at, if requests go on to it.
pub(in crate::verdict) fn suspicion(scene: &Scene<'_>, queue: &Queue, at_once: f64) -> Option<Suspicion> {
    let outside = queue.outside.as_ref()?;
    let tier = scene.flow.tiers.get(*queue.tiers.first()?)?;
    let out = queue.out?;
    let free = super::super::decide::busiest_elsewhere(scene, &[])
        .map_or_else(String::new, |text| format!(", while {text}"));
    let sentence = format!(
        "what answers at {outside} is the limit, and it is not looked at: {} passes its requests on to it ({} connections \
         under load){free}",
        tier.place(),
        count_text(out)
    );
    let evidence: Vec<EvidenceRow> = vec![scene.row(
        format!(
            "connections of {} to {outside} at the highest step, against requests served at once",
            tier.place()
        ),
        out,
        Some(at_once),
    )];
    // If the requests served at once are as many as the connections, the dependency answers under load as it does without,
    // and it is the number of connections that limits.
    let slowed = at_once < (1.0 - bounds::SAME_SIZE) * out;
    Some(Suspicion {
        direct: false,
        evidence,
        share: if slowed { 1.0 } else { bounds::FREE },
        advice: vec![format!(
            "look at {outside} too (--probe), or measure it alone: it serves about {} requests at once now",
            significant(at_once)
        )],
        ..Suspicion::new(Limit::Dependency, outside.clone(), sentence)
    })
}

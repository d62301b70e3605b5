//! `connections`, as the load itself sees it: new connections are closed without an answer, and those that are kept go on being
//! served.

use plimsoll_record::FailureKind;
use plimsoll_units::count_text;

use super::refused::{LEVEL, PART_LEAST, most_served, served_per_sec, was_level_before};
use crate::verdict::phrase::percent;
use crate::verdict::scene::{Scene, Suspicion};
use crate::verdict::{at, bounds, row};
use crate::{Limit, StepSummary};

/// The part of what ended that was closed before it was answered.
fn part(step: &StepSummary) -> f64 {
    let kinds = [FailureKind::ClosedBeforeResponse, FailureKind::ResetBeforeResponse];
    let closed: u64 = kinds.iter().map(|kind| step.counts.failed.of(*kind)).sum();
    closed as f64 / step.counts.ended().max(1) as f64
}

/// A server at its bound of connections closes what is more, at any load beyond the bound, and serves as many as before. One
/// that fails serves less. Its own page is no help: the connection that asks for it is closed as well. A server that closes what
/// has waited too long for one of its workers looks the same, so that a pool is beside it.
pub(in crate::verdict) fn suspicion(scene: &Scene<'_>) -> Option<Suspicion> {
    let all = scene.case.steps;
    let closing: Vec<usize> = (0..all.len()).filter(|index| part(&all[*index]) >= PART_LEAST).collect();
    let [first, .., last] = closing[..] else { return None };
    let steps = || closing.iter().map(|index| &all[*index]);
    let least = steps().map(served_per_sec).reduce(f64::min)?;
    let most = most_served(all);
    let mut spent = scene.of_target().filter(|resource| resource.kind.is_spent());
    let busy = spent.any(|resource| resource.utilisation(first).is_some_and(|share| share >= bounds::BUSY));
    let seen = scene.hosts().iter().any(|host| scene.cpu_share(host).is_some());
    let stopped_before = was_level_before(all, least) || closing.len() == all.len();
    if !seen || busy || stopped_before || least <= 0.0 || most > (1.0 + LEVEL) * least {
        return None;
    }
    let front = scene.flow.front().first().map(|tier| scene.flow.tiers[*tier].place());
    let place = front.unwrap_or_else(|| scene.case.plan.target.authority());
    let step = &all[last];
    let sentence = format!(
        "the connections that {place} allows are the limit: {} of the requests at {} found theirs closed, and about {} \
         requests/s were served all the same, at any load beyond {}",
        percent(part(step)),
        at(step),
        count_text(most),
        at(&all[first]),
    );
    let evidence = vec![
        row("requests whose connection was closed before an answer", part(step), Some(1.0), at(step)),
        scene.row("requests/s that were served, least and most over such steps", least, Some(most)),
    ];
    let advice = format!(
        "raise the connections that {place} may have (worker_connections, maxconn, a limit for each client), and repeat the load"
    );
    let beside = vec![Suspicion::new(Limit::Pool, &place, String::new())];
    Some(Suspicion {
        evidence,
        advice: vec![advice],
        beside,
        ..Suspicion::new(Limit::Connections, place, sentence)
    })
}

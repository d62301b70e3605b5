//! `bandwidth` and `packets`: a link is full in one direction.
//!
//! Condition: nine tenths or more of a known capacity are used, in bits or in packets. It is observed where the utilisation
//! law holds, or, if throughput hardly differed, where the bytes that the load received account for the use.

use crate::findings::{Advice, Claim, Limit, Observation};
use crate::hosts::demand::Law;
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::utilisation::BUSY;
use crate::verdict::bounds;
use crate::verdict::candidate::{Basis, Candidate};
use crate::verdict::context::RuleContext;

/// Links that are full in one direction.
pub(crate) fn candidates(ctx: &RuleContext<'_>) -> Vec<Candidate> {
    let links = ctx.of_target().filter(|resource| resource.kind.is_of_link());
    let full = links.filter(|link| ctx.share(link).is_some_and(|share| share >= BUSY));
    full.map(|link| candidate(ctx, link)).collect()
}

fn is_used_by_requests(ctx: &RuleContext<'_>, link: &Resource) -> bool {
    match link.demand.map(|demand| demand.law) {
        Some(Law::Holds) => true,
        Some(Law::Untested) => {
            let ours = ctx.step().map_or(0.0, |step| 8.0 * step.bytes_in_per_sec);
            let used = link.used[ctx.load].unwrap_or(f64::INFINITY);
            link.kind == ResourceKind::BandwidthOut && ours >= bounds::PASSED_ON * used
        }
        Some(Law::Broken) | None => false,
    }
}

fn candidate(ctx: &RuleContext<'_>, link: &Resource) -> Candidate {
    let limit = link.kind.limit();
    let used = link.used[ctx.load].unwrap_or_default();
    let advice = match limit {
        Limit::Packets => Advice::FewerPackets(link.id()),
        _ => Advice::SmallerMessages,
    };
    Candidate {
        share: ctx.share(link),
        at_per_sec: link.demand.and_then(|demand| demand.at_per_sec),
        basis: Basis::observed(is_used_by_requests(ctx, link)),
        evidence: vec![ctx.row(Observation::Link(link.id()), used, link.capacity)],
        advice: vec![advice],
        ..Candidate::new(limit, link.place(), Claim::Link { link: link.id(), used: ctx.used_by_law(link) })
    }
}

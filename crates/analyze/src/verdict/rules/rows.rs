//! Limits that rows of a table show together: `pool`, `none`, or a tier whose limiting resource is unknown.
//!
//! Conditions: tiers that were measured alone carry 95 % of that together, or what is in front of them keeps them from it;
//! throughput times the hold time of requests is the same at another hold time (Little 1961), or the time between two answers
//! is a line over it; more load on the same machines gave 5 % more, or was not tried, or fewer machines gave as much under the
//! same load and more with more; throughput follows the cores, the machines or the pool of a tier, and no figure shows their
//! use.

use crate::TableRow;
use crate::findings::{Advice, Estimate, Limit, LoadEffect, Observation, Place, RowClaim};
use crate::table::{LadderOf, PROPORTIONAL, UNNAMED, fewer_gave_as_much, followed, load_effect};
use crate::verdict::candidate::Candidate;
use crate::verdict::context::RuleContext;
use crate::verdict::facts::rows::{Alone, HeldLine, held_workers};
use crate::verdict::next::nearly;

/// The tier in front of those that were measured alone.
pub(crate) fn front(ctx: &RuleContext<'_>, row: &TableRow, alone: Alone) -> Candidate {
    let Alone { tiers, together_per_sec } = alone;
    let front = row.front.as_deref().unwrap_or(UNNAMED);
    let observed = Observation::Through { front: front.to_owned(), alone: tiers.clone() };
    let per_sec = ctx.throughput();
    Candidate {
        evidence: vec![ctx.row(observed, per_sec, Some(together_per_sec))],
        advice: vec![Advice::LookAtFront],
        ..Candidate::new(
            Limit::Unknown,
            Place::host(front),
            RowClaim::Front { per_sec, behind: tiers, together_per_sec },
        )
    }
}

/// Tiers that carry together all that they carry alone.
pub(crate) fn all_of_alone(ctx: &RuleContext<'_>, alone: Alone) -> Candidate {
    let Alone { tiers, together_per_sec } = alone;
    let observed = Observation::Together { alone: tiers.clone() };
    let place = tiers.first().cloned().unwrap_or_default();
    Candidate {
        evidence: vec![ctx.row(observed, ctx.throughput(), Some(together_per_sec))],
        advice: vec![Advice::LookAtHosts(tiers.clone())],
        ..Candidate::new(Limit::Unknown, Place::host(place), RowClaim::AllOfAlone { tiers })
    }
}

/// The pool of tiers that hold as many requests at once whatever the hold time. `like_alone` is true for tiers that carry what they
/// carry alone.
pub(crate) fn pool(
    ctx: &RuleContext<'_>,
    row: &TableRow,
    tiers: Vec<String>,
    like_alone: bool,
) -> Option<Candidate> {
    let size = held_workers(ctx, row, tiers.first().map_or("", String::as_str))?;
    let (workers, place) = (size.value, Place::host(tiers.first().map_or("", String::as_str)));
    let observed = Observation::HeldAtOnce { tiers: tiers.clone() };
    Some(Candidate {
        size: Some(size),
        evidence: vec![ctx.row(observed, workers, None)],
        advice: vec![Advice::LargerTierPool { tiers: tiers.clone(), workers }],
        ..Candidate::new(Limit::Pool, place, RowClaim::HeldPool { tiers, workers, like_alone })
    })
}

/// More load gave more, or it was not tried and nothing is used up. What is nearly used up may still be the limit.
pub(crate) fn not_pushed(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let fewer = || Some(RowClaim::FewerGaveAsMuch { exponent: fewer_gave_as_much(ctx.obs.rows, row)? });
    let claim = match load_effect(ctx.obs.rows, row) {
        LoadEffect::MoreGaveMore { per_sec } => RowClaim::MoreLoadGaveMore { per_sec },
        LoadEffect::StillGrows { exponent } => RowClaim::StillGrows { exponent },
        LoadEffect::Untried if row.load_machines.is_some() => {
            let (fullest, _) = ctx.spent_by_share().into_iter().next()?;
            RowClaim::MoreLoadNotTried { fullest: ctx.use_of(fullest) }
        }
        LoadEffect::Untried | LoadEffect::Level => fewer()?,
        LoadEffect::LessGaveMore { .. } => return None,
    };
    let is_untried = matches!(claim, RowClaim::MoreLoadNotTried { .. });
    let near = if is_untried { ctx.nearly_full() } else { Vec::new() };
    Some(Candidate {
        alternatives: near.into_iter().map(|resource| nearly(ctx, resource)).collect(),
        advice: vec![Advice::MoreLoad],
        ..Candidate::new(Limit::None, Place::Nowhere, claim)
    })
}

/// A pool, by the time between two answers, which grows with the time that each request is held.
pub(crate) fn held_queue(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let HeldLine { least_sec, per_hold } = HeldLine::new(ctx, row)?;
    let place = row.present().next().map_or(Place::Nowhere, |tier| Place::host(&tier.name));
    Some(Candidate {
        evidence: vec![ctx.row(Observation::HeldAtOnce { tiers: Vec::new() }, per_hold, None)],
        advice: vec![Advice::LookInto],
        ..Candidate::new(Limit::Pool, place, RowClaim::HeldQueue { least_sec, per_hold })
    })
}

/// Throughput follows the cores of the machines under test, or the machines of a tier, and no figure shows their use.
pub(crate) fn followed_by_throughput(ctx: &RuleContext<'_>, row: &TableRow) -> Option<Candidate> {
    let (of, exponent) = followed(ctx.obs.rows, row).filter(|(_, exponent)| *exponent >= PROPORTIONAL)?;
    if let LadderOf::Pool(tier) = &of {
        return followed_pool(row, tier, exponent);
    }
    if ctx.is_cpu_known() {
        return None;
    }
    let only = match &row.tiers[..] {
        [tier] => Place::host(tier.name.clone()),
        _ => Place::Nowhere,
    };
    let (limit, place, claim) = match of {
        LadderOf::Cores => (Limit::Cpu, only, RowClaim::FollowsCores { exponent }),
        LadderOf::Instances(tier) => {
            (Limit::Unknown, Place::host(tier.clone()), RowClaim::FollowsInstances { tier, exponent })
        }
        LadderOf::Connections | LadderOf::Offered | LadderOf::LoadMachines | LadderOf::Pool(_) => {
            return None;
        }
    };
    Some(Candidate { advice: vec![Advice::AddFigures], ..Candidate::new(limit, place, claim) })
}

/// Throughput follows the size of a tier's pool: all of its workers are held.
fn followed_pool(row: &TableRow, tier: &str, exponent: f64) -> Option<Candidate> {
    let size = row.tier(tier)?.pool?;
    Some(Candidate {
        size: Some(Estimate::exact(size)),
        advice: vec![Advice::LargerTierPool { tiers: vec![tier.to_owned()], workers: size }],
        ..Candidate::new(Limit::Pool, Place::host(tier), RowClaim::FollowsPool { size, exponent })
    })
}

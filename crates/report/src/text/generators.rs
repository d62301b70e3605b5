//! The generators of a fleet: how close together they began, their shares, and which were lost or not healthy.

use plimsoll_analyze::{Findings, FleetStart, GeneratorReason, LostGenerator, fleet_starts};
use plimsoll_record::{GeneratorShare, Run, WallClocks};
use plimsoll_units::{duration_text, grouped, named, share_text};

use super::paragraph::{point, wrapped};
use crate::amount::{counted, if_known, list};

/// The maximum number of generators listed with their shares.
const SHARES_LISTED: usize = 8;
/// Generators that may have begun further apart than this did not make one load together.
const APART_MAX_NS: u64 = 10_000_000;

/// Returns a paragraph; empty for a run of one generator.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    let starts = fleet_starts(run);
    let Some(worst) = starts.iter().max_by_key(|start| start.apart_max_ns.unwrap_or(u64::MAX)) else {
        return String::new();
    };
    let lost = starts.iter().flat_map(|start| start.lost.iter().map(|lost| lost_text(start.step, lost)));
    let ill = unhealthy(run, findings);
    let parts = idle(&starts).into_iter().chain(shares(run, worst)).chain(lost);
    let points = parts.chain(wrong_wall_clocks(&starts)).chain(ill);
    let points: String = points.map(|text| point(&text)).collect();
    wrapped("", "  ", &start_text(worst)) + &points
}

/// Says that generators made nothing in any step.
fn idle(starts: &[FleetStart]) -> Option<String> {
    let in_all = |name: &&String| starts.iter().all(|start| start.idle.contains(name));
    let names = starts.first().into_iter().flat_map(|first| &first.idle).filter(in_all);
    let names: Vec<&String> = names.collect();
    (!names.is_empty())
        .then(|| format!("{} made no load: there were fewer connections than workers", named(&names)))
}

/// Returns the shares of a step; `None` if they follow only from the numbers of workers, not from ceilings.
fn shares(run: &Run, start: &FleetStart) -> Option<String> {
    let step = run.steps.iter().find(|step| step.index == start.step)?;
    let of = |generator: &GeneratorShare, part: f64| {
        let ceiling = if_known(generator.ceiling_per_sec, |per_sec| format!(" ({})", grouped(per_sec)));
        format!("{} {}{ceiling}", generator.name, share_text(part))
    };
    let at_work = step.generators.iter().zip(&start.shares).filter(|(generator, _)| generator.workers > 0);
    let is_known = at_work.clone().any(|(generator, _)| generator.ceiling_per_sec.is_some());
    let others = at_work.clone().count().checked_sub(SHARES_LISTED).filter(|others| *others > 0);
    let others = others.map(|others| format!("{others} others"));
    let listed = at_work.take(SHARES_LISTED).map(|(generator, part)| of(generator, *part)).chain(others);
    let listed = list(listed, ", ");
    is_known.then(|| format!("shares by the requests/s that one worker can send there: {listed}"))
}

/// Says how close together the generators began, in the step where this is known with the largest error.
fn start_text(start: &FleetStart) -> String {
    let generators = counted(start.generators as u64, "generator");
    let apart = duration_text(start.apart_ns as f64);
    match start.apart_max_ns {
        Some(most) if most <= APART_MAX_NS => format!(
            "Fleet: {generators}; they began within {apart}, at most {}{}",
            duration_text(most as f64),
            confirmed(start)
        ),
        Some(most) => format!(
            "Fleet: {generators}; they began within {apart} by clocks whose errors allow {}: more than {} is not one start",
            duration_text(most as f64),
            duration_text(APART_MAX_NS as f64)
        ),
        None => format!(
            "Fleet: {generators}; they began within {apart}; the errors of their clocks are not known"
        ),
    }
}

/// Says that the wall clocks confirm it, as a second source.
fn confirmed(start: &FleetStart) -> String {
    let agreeing = start.wall.as_ref().filter(|wall| wall.contradict.is_empty());
    agreeing.map_or_else(String::new, |wall| {
        format!("; synchronised wall clocks agree within {}", duration_text(wall.apart_max_ns as f64))
    })
}

/// Names the generators whose wall clock contradicts the measurement, each once.
fn wrong_wall_clocks(starts: &[FleetStart]) -> Vec<String> {
    let all = starts.iter().filter_map(|start| start.wall.as_ref()).flat_map(|wall| &wall.contradict);
    let mut by_name: Vec<&(String, WallClocks)> = Vec::new();
    for one in all {
        if !by_name.iter().any(|(name, _)| *name == one.0) {
            by_name.push(one);
        }
    }
    let text = |(name, wall): &(String, WallClocks)| {
        format!(
            "the wall clocks of {name} and of the conductor differ by {} from what was measured, where their kernels' errors explain \
             {}: one of the two may be set wrong; the start does not depend on it",
            duration_text(wall.apart_ns as f64),
            duration_text(wall.error_ns as f64)
        )
    };
    by_name.into_iter().map(text).collect()
}

fn lost_text(step: u32, lost: &LostGenerator) -> String {
    let LostGenerator { name, share, after_ns } = lost;
    format!(
        "{name} with {} of the load was lost {} into step {}; its figures are of the time before",
        share_text(*share),
        duration_text(*after_ns as f64),
        step + 1
    )
}

/// Names the generators that held the load back, each once.
fn unhealthy(run: &Run, findings: &Findings) -> Vec<String> {
    let workers = findings.generator.reasons.iter().filter_map(worker);
    let mut names: Vec<String> = Vec::new();
    for worker in workers {
        let shares = run.steps.iter().rev().flat_map(|step| &step.generators);
        names.extend(shares.filter(|share| share.has(worker)).map(|share| share.name.clone()).next());
    }
    names.dedup();
    names.into_iter().map(|name| format!("{name} was not healthy: see the load generator")).collect()
}

fn worker(reason: &GeneratorReason) -> Option<u32> {
    match reason {
        GeneratorReason::WorkerBusy { worker, .. }
        | GeneratorReason::WorkerStarved { worker, .. }
        | GeneratorReason::WorkerStalled { worker, .. } => Some(*worker),
        GeneratorReason::NearCeiling { worker, .. } => *worker,
        _ => None,
    }
}

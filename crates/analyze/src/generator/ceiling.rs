//! How close workers came to the measured maximum of one worker on their machine.

use std::collections::BTreeMap;

use plimsoll_record::{FrameHead, GeneratorShare};

use super::evidence::Evidence;
use super::health::CeilingUse;
use crate::load::frames::per_second;

/// Computes one entry for each machine that made load and has a known ceiling. Ceilings are measured with one request under way on each
/// connection, so that they do not apply to a larger depth.
pub(super) fn uses(evidence: &Evidence<'_>, workers: u32) -> Vec<CeilingUse> {
    match &evidence.step.generators[..] {
        _ if evidence.step.depth > 1 => Vec::new(),
        [] => own(evidence, workers).into_iter().collect(),
        shares => of_generators(evidence, shares),
    }
}

/// The use of the ceiling by the workers of the machine that conducted the run.
fn own(evidence: &Evidence<'_>, workers: u32) -> Option<CeilingUse> {
    let manifest = &evidence.run.manifest;
    let calibration = manifest.machine.calibration.as_ref()?;
    let ceiling = calibration.ceiling()?;
    let age_ms = manifest.started_unix_ms.saturating_sub(calibration.measured_unix_ms);
    Some(CeilingUse {
        worker: None,
        per_worker_per_sec: per_worker_per_sec(evidence.measured, workers),
        ceiling_per_sec: ceiling.per_sec(),
        known: ceiling.worker_was_limit(),
        age_sec: Some(age_ms as f64 / 1e3),
    })
}

/// The use of the ceiling by the workers of each generator of a fleet that reported one.
fn of_generators(evidence: &Evidence<'_>, shares: &[GeneratorShare]) -> Vec<CeilingUse> {
    let at_work = shares.iter().filter(|share| share.workers > 0);
    let mut heads: BTreeMap<u32, Vec<&FrameHead>> =
        at_work.clone().map(|share| (share.first_worker, Vec::new())).collect();
    for head in evidence.measured {
        if let Some((_, own)) = heads.range_mut(..=head.worker).next_back() {
            own.push(head);
        }
    }
    let used = |share: &GeneratorShare| {
        Some(CeilingUse {
            worker: Some(share.first_worker),
            per_worker_per_sec: per_worker_per_sec(heads.get(&share.first_worker)?, share.workers),
            ceiling_per_sec: share.ceiling_per_sec.filter(|per_sec| *per_sec > 0)? as f64,
            known: true,
            age_sec: None,
        })
    };
    at_work.filter_map(used).collect()
}

fn per_worker_per_sec(heads: &[&FrameHead], workers: u32) -> f64 {
    per_second(heads.iter().copied(), |head| head.counts.completed) / f64::from(workers.max(1))
}

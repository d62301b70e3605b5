//! Stalls of the load generator's own workers, from its frames.

use std::collections::BTreeMap;

use plimsoll_record::{FrameHead, Run};

use super::curve::Curve;
use super::kind::CurveKind;
use crate::findings::Part;
use crate::hosts::track::Span;
use crate::hosts::tracks::GENERATOR;

/// Sums of one worker in one window, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct WorkerSum {
    all_ns: u64,
    stalled_ns: u64,
    starved_ns: u64,
}

/// The share of each window in which the worst worker was stalled, and that in which it was ready and had no CPU.
pub(super) fn curves(run: &Run, spans: &[Span]) -> [Curve; 2] {
    let sums = by_window(run, spans);
    let curve = |kind, ns: fn(&WorkerSum) -> u64| {
        let share = |sum: &WorkerSum| (ns(sum) as f64 / sum.all_ns as f64).min(1.0);
        let worst = |workers: &BTreeMap<u32, WorkerSum>| workers.values().map(share).reduce(f64::max);
        let values = sums.iter().map(worst).collect();
        Curve { kind, host: GENERATOR.to_owned(), part: Part::Whole, values }
    };
    [curve(CurveKind::Stalled, |sum| sum.stalled_ns), curve(CurveKind::Starved, |sum| sum.starved_ns)]
}

/// The sums of each worker in each window. A frame counts for the window of its middle.
fn by_window(run: &Run, spans: &[Span]) -> Vec<BTreeMap<u32, WorkerSum>> {
    let mut sums = vec![BTreeMap::new(); spans.len()];
    let of_workers = |head: &&FrameHead| head.of_worker() && head.ended_ns > head.began_ns;
    for head in run.frames.iter().map(|frame| &frame.head).filter(of_workers) {
        let at_ns = head.began_ns.midpoint(head.ended_ns);
        let window = spans.partition_point(|span| span.to_ns <= at_ns);
        let Some(workers) = sums.get_mut(window) else { continue };
        let sum: &mut WorkerSum = workers.entry(head.worker).or_default();
        sum.all_ns += head.ended_ns - head.began_ns;
        sum.stalled_ns += head.time.stalled_ns;
        sum.starved_ns += head.time.starved_ns;
    }
    sums
}

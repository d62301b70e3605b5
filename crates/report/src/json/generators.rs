//! The generators of a step that several machines made.

use plimsoll_analyze::FleetStart;
use plimsoll_record::{GeneratorShare, Run};

use super::document::document;

document! {
    /// The generators that made a step together, each on a machine with its own clock.
    pub struct FleetStepDocument(run: &Run, start: &FleetStart) {
        /// The index of the step, from 0.
        step: u32 = start.step,
        /// From the first generator's begin to the last one's, in nanoseconds, if their clocks had no error.
        apart_ns: u64 = start.apart_ns,
        /// The most that it can be with the errors of their clocks; null if one is not known.
        apart_max_ns: Option<u64> = start.apart_max_ns,
        /// Each with its share.
        generators: Vec<GeneratorShareDocument> = shares(run, start),
    }

    /// What one generator made of a step.
    pub struct GeneratorShareDocument(share: &GeneratorShare, part: f64) {
        /// Its name.
        name: String = share.name.clone(),
        /// The number of its first worker; the others follow.
        first_worker: u32 = share.first_worker,
        /// How many workers it has; 0 if it made nothing, as there were fewer connections than workers.
        workers: u32 = share.workers,
        /// Its part of the load by its workers and their maximum, 0 to 1.
        share: f64 = part,
        /// The most requests per second that one of its workers can make, by the calibration of its machine; null if that is not
        /// known.
        ceiling_per_sec: Option<u64> = share.ceiling_per_sec,
        /// How far its clock may be from what the times of its frames assume, in nanoseconds; null if that is not known.
        clock_error_ns: Option<u64> = share.clock_error_ns,
        /// By how much the difference of the clocks is another by the wall clocks than as it was measured, in nanoseconds; null
        /// unless the kernels call both wall clocks synchronised.
        wall_apart_ns: Option<u64> = share.wall.map(|wall| wall.apart_ns),
        /// How much of that the errors explain, in nanoseconds: beyond it a wall clock is wrong.
        wall_error_ns: Option<u64> = share.wall.map(|wall| wall.error_ns),
        /// When it was last heard, in seconds since the run began, if it was lost during the step; otherwise null.
        lost_sec: Option<f64> = share.lost_ns.map(|ns| ns as f64 / 1e9),
    }
}

fn shares(run: &Run, start: &FleetStart) -> Vec<GeneratorShareDocument> {
    let step = run.steps.iter().find(|known| known.index == start.step);
    let generators = step.map_or(&[][..], |step| &step.generators).iter().zip(&start.shares);
    generators.map(|(share, part)| GeneratorShareDocument::new(share, *part)).collect()
}

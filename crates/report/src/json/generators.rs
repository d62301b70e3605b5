//! The generators of a step that several machines made.

use plimsoll_analyze::FleetStart;
use plimsoll_record::{GeneratorShare, Run};

use super::document::document;

document! {
    /// The generators that made a step together, each on a machine with its own clock.
    pub struct FleetStepDocument(run: &Run, start: &FleetStart) {
        /// The index of the step, from 0.
        step: u32 = start.step,
        /// The time from the start of the first generator to that of the last, in nanoseconds, if their clocks had no
        /// error.
        apart_ns: u64 = start.apart_ns,
        /// The upper bound of `apart_ns` with the errors of their clocks; null if one is not known.
        apart_max_ns: Option<u64> = start.apart_max_ns,
        /// The generators with their shares.
        generators: Vec<GeneratorShareDocument> = shares(run, start),
    }

    /// The share of one generator in a step.
    pub struct GeneratorShareDocument(share: &GeneratorShare, part: f64) {
        /// Its name.
        name: String = share.name.clone(),
        /// The number of its first worker; the others follow.
        first_worker: u32 = share.first_worker,
        /// How many workers it has; 0 if it made nothing, as there were fewer connections than workers.
        workers: u32 = share.workers,
        /// Its part of the load, 0 to 1, from its number of workers and their ceiling.
        share: f64 = part,
        /// The most requests per second that one of its workers can make, by the calibration of its machine; null if that is not
        /// known.
        ceiling_per_sec: Option<u64> = share.ceiling_per_sec,
        /// The maximum error of its clock in the times of its frames, in nanoseconds; null if it is not known.
        clock_error_ns: Option<u64> = share.clock_error_ns,
        /// The difference between the clocks' offset by their wall clocks and the measured offset, in nanoseconds; null
        /// unless the kernels report both wall clocks as synchronised.
        wall_apart_ns: Option<u64> = share.wall.map(|wall| wall.apart_ns),
        /// The part of `wall_apart_ns` that the errors explain, in nanoseconds. If there is more, a wall clock is wrong.
        wall_error_ns: Option<u64> = share.wall.map(|wall| wall.error_ns),
        /// When its last message came, in seconds since the run began, if it was lost during the step; otherwise null.
        lost_sec: Option<f64> = share.lost_ns.map(|ns| ns as f64 / 1e9),
    }
}

fn shares(run: &Run, start: &FleetStart) -> Vec<GeneratorShareDocument> {
    let step = run.steps.iter().find(|known| known.index == start.step);
    let generators = step.map_or(&[][..], |step| &step.generators).iter().zip(&start.shares);
    generators.map(|(share, part)| GeneratorShareDocument::new(share, *part)).collect()
}

//! How close together the generators of a fleet began a step, and the share of the load of each.

use std::collections::BTreeMap;

use plimsoll_record::{GeneratorShare, Run, Step, WallClocks};

/// When the generators of one step began, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetStart {
    /// The index of the step.
    pub step: u32,
    /// Time from the first generator's begin to the last's by their frames, which assume exact clocks, in nanoseconds.
    pub apart_ns: u64,
    /// Upper bound of that time over all clock errors within their bounds, in nanoseconds; `None` if a bound is not known.
    pub apart_max_ns: Option<u64>,
    /// The comparison with the wall clocks; `None` unless those of all participants are synchronised.
    pub wall: Option<WallOpinion>,
    /// The number of generators that took part.
    pub generators: usize,
    /// The planned share of the load of each generator, in their order: 0 to 1.
    pub shares: Vec<f64>,
    /// The names of generators without load, because there were fewer connections than workers.
    pub idle: Vec<String>,
    /// Generators that were lost during the step.
    pub lost: Vec<LostGenerator>,
}

/// Wall clocks as a check of the measured differences between monotonic clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct WallOpinion {
    /// The largest deviation of a wall clock difference from the measured one, in nanoseconds.
    pub apart_max_ns: u64,
    /// The generators whose wall clock contradicts the measurement, with their clocks.
    pub contradict: Vec<(String, WallClocks)>,
}

/// A generator that was lost during a step.
#[derive(Debug, Clone, PartialEq)]
pub struct LostGenerator {
    pub name: String,
    /// Its share of the load, 0 to 1.
    pub share: f64,
    /// When it was lost, in nanoseconds since the step began.
    pub after_ns: u64,
}

/// The begin of each step that several generators with their own clocks made.
pub fn fleet_starts(run: &Run) -> Vec<FleetStart> {
    run.steps.iter().filter_map(|step| FleetStart::of(run, step)).collect()
}

impl FleetStart {
    fn of(run: &Run, step: &Step) -> Option<Self> {
        if step.generators.is_empty() {
            return None;
        }
        let by_worker = begins(run, step.index);
        // A worker begins late, never early, so that the first worker of a generator shows when it began.
        let began = |share: &GeneratorShare| {
            let own = share.first_worker..share.first_worker.saturating_add(share.workers);
            by_worker.range(own).map(|(_, began_ns)| *began_ns).min()
        };
        let begun: Vec<(u64, Option<u64>)> =
            step.generators.iter().filter_map(|share| Some((began(share)?, share.clock_error_ns))).collect();
        let (first, last) = (begun.iter().map(|(at, _)| *at).min()?, begun.iter().map(|(at, _)| *at).max()?);
        let shares = shares(&step.generators);
        let lost = |(share, part): (&GeneratorShare, &f64)| {
            Some(LostGenerator {
                name: share.name.clone(),
                share: *part,
                after_ns: share.lost_ns?.saturating_sub(step.began_ns),
            })
        };
        let idle = step.generators.iter().filter(|share| share.workers == 0);
        let idle: Vec<String> = idle.map(|share| share.name.clone()).collect();
        Some(Self {
            step: step.index,
            apart_ns: last - first,
            apart_max_ns: farthest(&begun),
            wall: WallOpinion::of(&step.generators),
            generators: step.generators.len() - idle.len(),
            idle,
            lost: step.generators.iter().zip(&shares).filter_map(lost).collect(),
            shares,
        })
    }
}

impl WallOpinion {
    fn of(generators: &[GeneratorShare]) -> Option<Self> {
        let took_part = generators.iter().filter(|share| share.workers > 0);
        let all: Option<Vec<(&str, WallClocks)>> =
            took_part.map(|share| Some((share.name.as_str(), share.wall?))).collect();
        let all = all?;
        let apart_max_ns = all.iter().map(|(_, wall)| wall.apart_ns).max()?;
        let contradict = all.iter().filter(|(_, wall)| !wall.agree());
        let contradict = contradict.map(|(name, wall)| ((*name).to_owned(), *wall)).collect();
        Some(Self { apart_max_ns, contradict })
    }
}

/// The planned share of the load of each generator. An older file lacks it; there it follows from the workers.
fn shares(generators: &[GeneratorShare]) -> Vec<f64> {
    let workers: u32 = generators.iter().map(|share| share.workers).sum();
    let by_workers = |share: &GeneratorShare| f64::from(share.workers) / f64::from(workers.max(1));
    let part = |share: &GeneratorShare| {
        share.part_ppm.map_or_else(|| by_workers(share), |part_ppm| f64::from(part_ppm) / 1e6)
    };
    generators.iter().map(part).collect()
}

/// When the first frame of each worker began, in nanoseconds.
fn begins(run: &Run, step: u32) -> BTreeMap<u32, u64> {
    let mut begins = BTreeMap::new();
    for head in run.frames_of(step).map(|frame| &frame.head) {
        let began_ns = begins.entry(head.worker).or_insert(head.began_ns);
        *began_ns = head.began_ns.min(*began_ns);
    }
    begins
}

/// The largest possible distance of two of these instants, given their errors.
fn farthest(begun: &[(u64, Option<u64>)]) -> Option<u64> {
    let all: Option<Vec<(u64, u64)>> = begun.iter().map(|(at, error)| Some((*at, (*error)?))).collect();
    let all = all?;
    let last = all.iter().map(|(at, error)| at.saturating_add(*error)).max()?;
    let first = all.iter().map(|(at, error)| at.saturating_sub(*error)).min()?;
    Some(last - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(name: &str, workers: u32, wall: Option<WallClocks>) -> GeneratorShare {
        let name = name.to_owned();
        GeneratorShare {
            name,
            first_worker: 0,
            workers,
            ceiling_per_sec: None,
            part_ppm: None,
            clock_error_ns: Some(10),
            wall,
            lost_ns: None,
        }
    }

    #[test]
    fn wall_clocks_are_an_opinion_only_if_all_that_took_part_are_synchronised() {
        let wall = |apart_ns| Some(WallClocks { apart_ns, error_ns: 100 });
        let (near, far) = (share("near", 1, wall(40)), share("far", 1, wall(101)));
        let (silent, idle) = (share("silent", 1, None), share("idle", 0, None));
        let opinion = WallOpinion::of(&[near.clone(), far.clone(), idle]).unwrap();
        assert_eq!((opinion.apart_max_ns, opinion.contradict.len()), (101, 1));
        assert_eq!(opinion.contradict[0].0, "far");
        assert_eq!(WallOpinion::of(&[near, far, silent]), None);
    }

    #[test]
    fn parts_of_the_load_are_those_that_were_dealt_out_and_in_older_files_those_of_the_workers() {
        let generator = |workers, part_ppm| GeneratorShare { part_ppm, ..share("", workers, None) };
        assert_eq!(shares(&[generator(3, None), generator(1, None), generator(0, None)]), [0.75, 0.25, 0.0]);
        // A third one was lost in an earlier step: its part is not made.
        assert_eq!(shares(&[generator(1, Some(333_333)), generator(1, Some(500_000))]), [0.333333, 0.5]);
    }

    #[test]
    fn the_errors_of_both_clocks_are_between_two_generators() {
        assert_eq!(farthest(&[(1_000, Some(10)), (1_300, Some(20)), (1_100, Some(50))]), Some(330));
        assert_eq!(farthest(&[(1_000, Some(10)), (1_300, None)]), None);
    }
}

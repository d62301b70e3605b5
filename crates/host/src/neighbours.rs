//! The busiest processes that are not watched.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::Reading;
use plimsoll_units::Instant;

use crate::lookout::{Lookout, SharedLookout};
use crate::process_stat::ticks_ms;
use crate::source::{Counters, Source};

/// Processes that are told of for having run most since the last read.
const BUSIEST: usize = 5;
/// Processes that are told of at all; those that were told of before stay until they end.
const TOLD_MAX: usize = 32;

/// `cpu_us` of processes that take CPU time from the watched ones. All processes are read every few seconds only, and
/// told of then.
#[derive(Debug)]
pub(crate) struct Neighbours {
    lookout: SharedLookout,
    read_at: Option<Instant>,
    /// CPU time of all processes when they were last read.
    before: BTreeMap<u32, u64>,
    told: BTreeSet<u32>,
}

impl Neighbours {
    pub(crate) fn new(lookout: SharedLookout) -> Self {
        Self { lookout, read_at: None, before: BTreeMap::new(), told: BTreeSet::new() }
    }

    fn choose(&mut self, now: &BTreeMap<u32, u64>) {
        self.told.retain(|pid| now.contains_key(pid));
        let ran = |(pid, ticks): (&u32, &u64)| {
            let ran = ticks.saturating_sub(*self.before.get(pid)?);
            (ran > 0).then_some((Reverse(ran), *pid))
        };
        let mut busiest: Vec<(Reverse<u64>, u32)> = now.iter().filter_map(ran).collect();
        busiest.sort_unstable();
        for (_, pid) in busiest.into_iter().take(BUSIEST) {
            if self.told.len() < TOLD_MAX {
                self.told.insert(pid);
            }
        }
    }
}

/// The CPU time of all processes that are not watched, in ticks.
fn others(lookout: &Lookout) -> BTreeMap<u32, u64> {
    let all = lookout.roster().0.entries().iter();
    let ours = |pid: &u32| lookout.members().contains_key(pid) || lookout.crowd().contains(pid);
    let others = all.filter(|(pid, _)| !ours(pid));
    others.map(|(pid, entry)| (*pid, entry.cpu_ticks)).collect()
}

impl Source for Neighbours {
    fn name(&self) -> &'static str {
        "neighbours"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let shared = self.lookout.clone();
        let lookout = shared.look();
        let (roster, read_at) = lookout.roster();
        if read_at == self.read_at {
            return Vec::new();
        }
        self.read_at = read_at;
        let now = others(&lookout);
        self.choose(&now);
        let told = self.told.iter().filter_map(|pid| Some((pid, roster.entries().get(pid)?)));
        let readings = told.map(|(pid, entry)| {
            let counters = Counters::from([("cpu_us".to_owned(), ticks_ms(entry.cpu_ticks) * 1000)]);
            (format!("{pid} {}", entry.name), Reading::Ok(counters.into()))
        });
        let readings = readings.collect();
        self.before = now;
        readings
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::round::Round;
    use crate::watched::Watched;

    #[test]
    fn a_process_that_was_busy_once_is_told_of_until_it_ends() {
        let lookout = Lookout::machine(Path::new("/"), &Watched::default(), &Round::default());
        let mut neighbours = Neighbours::new(SharedLookout::new(lookout));
        let mut told = |now: &[(u32, u64)]| {
            let now = now.iter().copied().collect();
            neighbours.choose(&now);
            neighbours.before = now;
            neighbours.told.iter().copied().collect::<Vec<u32>>()
        };
        assert_eq!(told(&[(1, 10), (2, 900), (3, 50)]), [0; 0], "nobody is known to have run");
        assert_eq!(told(&[(1, 11), (2, 900), (3, 50)]), [1]);
        assert_eq!(told(&[(1, 11), (2, 900), (3, 60)]), [1, 3]);
        assert_eq!(told(&[(2, 900), (3, 60)]), [3]);
    }
}

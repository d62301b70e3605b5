//! Where the threads of the watched processes wait.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_record::Reading;

use crate::lookout::SharedLookout;
use crate::source::{Counters, Source};
use looks::{Looker, Seen};

mod class;
mod looks;

/// Where the threads of each watched process stood when they were looked at, some ten times a second: `looks` at the
/// process, and threads found `running`, `runnable` (ready and without a CPU), waiting for a `disk`, or waiting in the
/// kernel for one of the classes of [`class::Class`]. All are counted since the process was first watched. Of a
/// process that this user may not look into there are no classes, and the source says that it failed.
#[derive(Debug)]
pub(crate) struct Waiting {
    lookout: SharedLookout,
    looker: Result<Looker, String>,
}

impl Waiting {
    pub(crate) fn new(lookout: SharedLookout) -> Self {
        let (proc, members) = lookout.members_elsewhere();
        let looker = Looker::start(proc, members);
        Self {
            lookout,
            looker: looker.map_err(|error| format!("could not start a thread that looks: {error}")),
        }
    }
}

fn counters(seen: &Seen) -> Counters {
    let mut counters: Counters =
        [("looks", seen.looks), ("running", seen.running), ("runnable", seen.runnable), ("disk", seen.disk)]
            .map(|(name, count)| (name.to_owned(), count))
            .into();
    if !seen.is_closed() {
        let classes = seen.classes.iter().map(|(class, count)| (class.name().to_owned(), *count));
        counters.extend(classes);
    }
    counters
}

/// What there is to say of processes that may not be looked into.
fn closed(names: &BTreeSet<&str>) -> Option<(String, Reading)> {
    let names: Vec<&str> = names.iter().copied().collect();
    let why = format!(
        "could not see where the threads of {} wait: /proc/PID/wchan is closed to this user; \
         run as root or as the process's user",
        names.join(", ")
    );
    (!names.is_empty()).then_some((String::new(), Reading::Failed(why)))
}

impl Source for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    fn read(&mut self) -> Vec<(String, Reading)> {
        let lookout = self.lookout.look();
        if lookout.members().is_empty() {
            return lookout.nobody();
        }
        let looker = match &self.looker {
            Ok(looker) => looker,
            Err(why) => return vec![(String::new(), Reading::Failed(why.clone()))],
        };
        let seen: BTreeMap<u32, Seen> = looker.seen();
        let watched = lookout.members().values().filter_map(|member| Some((member, seen.get(&member.pid)?)));
        let watched: Vec<_> = watched.collect();
        let names =
            watched.iter().filter(|(_, seen)| seen.is_closed()).map(|(member, _)| member.name.as_str());
        let failure = closed(&names.collect());
        let told =
            watched.iter().map(|(member, seen)| (member.subject(), Reading::Ok(counters(seen).into())));
        told.chain(failure).collect()
    }

    fn threads_cpu_us(&self) -> u64 {
        self.looker.as_ref().map_or(0, Looker::cpu_us)
    }
}

#[cfg(test)]
mod tests;

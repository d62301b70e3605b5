//! The samples of hosts, by what they are of.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_plan::PlanHost;
use plimsoll_record::{HostSample, Reading};

use super::track::Track;

/// The name under which the machine that makes the load is recorded.
pub(crate) const GENERATOR: &str = PlanHost::GENERATOR;

/// Host, source, subject.
type Key<'a> = (&'a str, &'a str, &'a str);

/// All samples of a run that could be read, in order.
#[derive(Debug, Default)]
pub(crate) struct Hosts<'a> {
    tracks: BTreeMap<Key<'a>, Track<'a>>,
    /// Host and source of what was there and could not be read, with the first reason.
    failed: BTreeMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Hosts<'a> {
    /// The samples, sorted out.
    pub(crate) fn new(samples: &'a [HostSample]) -> Self {
        let mut hosts = Self::default();
        for sample in samples {
            match &sample.reading {
                Reading::Ok(counters) => {
                    let key = (sample.host.as_str(), sample.source.as_str(), sample.subject.as_str());
                    let at_ns = sample.began_ns.midpoint(sample.ended_ns);
                    hosts.tracks.entry(key).or_default().push(at_ns, counters);
                }
                Reading::Failed(why) => {
                    hosts.failed.entry((&sample.host, sample.source.as_str())).or_insert(why);
                }
                Reading::Absent => {}
            }
        }
        hosts.tracks.values_mut().for_each(Track::sort);
        hosts
    }

    /// The hosts other than the generator's, by name.
    pub(crate) fn names(&self) -> BTreeSet<&'a str> {
        let names = self.tracks.keys().map(|key| key.0).chain(self.failed.keys().map(|key| key.0));
        names.filter(|name| *name != GENERATOR).collect()
    }

    /// One subject of a source.
    pub(crate) fn track(&self, host: &str, source: &str, subject: &str) -> Option<&Track<'a>> {
        self.of(host, source).find(|(name, _)| *name == subject).map(|(_, track)| track)
    }

    /// All subjects of a source on a host.
    pub(crate) fn of<'s>(
        &'s self,
        host: &str,
        source: &str,
    ) -> impl Iterator<Item = (&'a str, &'s Track<'a>)> {
        let is_source = move |key: &Key<'_>| key.0 == host && key.1 == source;
        self.tracks.iter().filter(move |(key, _)| is_source(key)).map(|(key, track)| (key.2, track))
    }

    /// Why a source of a host could not be read, if it could not.
    pub(crate) fn failure(&self, host: &str, source: &str) -> Option<&'a str> {
        self.failed.iter().find(|(key, _)| key.0 == host && key.1 == source).map(|(_, why)| *why)
    }
}

/// The process of a subject such as `12 nginx` or `12/14 worker`: its number.
pub(crate) fn pid_of(subject: &str) -> Option<u64> {
    let number = subject.split([' ', '/']).next()?;
    number.parse().ok()
}

/// The name in a subject such as `12 nginx` or `12/14 worker`.
pub(crate) fn name_of(subject: &str) -> &str {
    subject.split_once(' ').map_or("", |(_, name)| name)
}

//! Two samples of everything, as rates and levels.

use std::collections::BTreeMap;

use plimsoll_record::{Counters, HostSample, Reading};

/// What was read at the end, each with what was read of the same at the beginning.
pub(in super::super) struct Window<'a> {
    before: BTreeMap<(&'a str, &'a str), &'a HostSample>,
    after: &'a [HostSample],
}

/// One subject of one source.
pub(super) struct Seen<'a> {
    pub(super) subject: &'a str,
    now: &'a Counters,
    /// The counters before, and the seconds since.
    earlier: Option<(&'a Counters, f64)>,
}

impl<'a> Window<'a> {
    pub(in super::super) fn between(before: &'a [HostSample], after: &'a [HostSample]) -> Self {
        let key = |sample: &'a HostSample| ((sample.source.as_str(), sample.subject.as_str()), sample);
        Self { before: before.iter().map(key).collect(), after }
    }

    /// All samples of the end.
    pub(super) fn after(&self) -> &'a [HostSample] {
        self.after
    }

    /// The longest span between two reads of one thing.
    pub(super) fn span_sec(&self) -> f64 {
        let spans = self.after.iter().filter_map(|sample| Some(span_sec(self.earlier(sample)?, sample)));
        spans.fold(0.0, f64::max)
    }

    /// Every subject of a source, in the order it was told.
    pub(super) fn all(&self, source: &'a str) -> impl Iterator<Item = Seen<'a>> {
        self.after.iter().filter(move |sample| sample.source == source).filter_map(|sample| {
            let now = counters(sample)?;
            let earlier = self.earlier(sample).filter(|before| span_sec(before, sample) > 0.0);
            let earlier = earlier.and_then(|before| Some((counters(before)?, span_sec(before, sample))));
            Some(Seen { subject: &sample.subject, now, earlier })
        })
    }

    /// A source whose subject is the host.
    pub(super) fn host(&self, source: &'a str) -> Option<Seen<'a>> {
        self.all(source).find(|seen| seen.subject.is_empty())
    }

    fn earlier(&self, sample: &HostSample) -> Option<&'a HostSample> {
        self.before.get(&(sample.source.as_str(), sample.subject.as_str())).copied()
    }
}

impl Seen<'_> {
    /// A level, as it is now.
    pub(super) fn level(&self, name: &str) -> Option<f64> {
        self.now.get(name).map(|value| *value as f64)
    }

    /// How much a counter grew a second. One that fell began anew and says nothing.
    pub(super) fn per_sec(&self, name: &str) -> Option<f64> {
        let (earlier, span_sec) = self.earlier?;
        let grown = self.now.get(name)?.checked_sub(*earlier.get(name)?)?;
        Some(grown as f64 / span_sec)
    }

    /// How many microseconds a second, as a share of 1.
    pub(super) fn share_us(&self, name: &str) -> Option<f64> {
        self.per_sec(name).map(|us| us / 1e6)
    }

    /// How much a counter grew of how much another one grew.
    pub(super) fn ratio(&self, part: &str, whole: &str) -> Option<f64> {
        let whole = self.per_sec(whole).filter(|whole| *whole > 0.0)?;
        Some(self.per_sec(part)? / whole)
    }

    /// The names of its counters.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.now.keys()
    }
}

fn counters(sample: &HostSample) -> Option<&Counters> {
    match &sample.reading {
        Reading::Ok(counters) => Some(counters),
        Reading::Absent | Reading::Failed(_) => None,
    }
}

/// From the middle of one read to the middle of the other.
fn span_sec(before: &HostSample, after: &HostSample) -> f64 {
    let middle = |sample: &HostSample| sample.began_ns as f64 / 2.0 + sample.ended_ns as f64 / 2.0;
    (middle(after) - middle(before)) / 1e9
}

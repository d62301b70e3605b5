//! Two samples of each subject, as rates and levels.

use std::collections::BTreeMap;

use plimsoll_record::{Counters, HostSample, Metric, Reading, Source, Subject};

/// The samples at the end, each with the sample of the same subject at the beginning.
pub struct Window<'a> {
    before: BTreeMap<Key<'a>, &'a HostSample>,
    after: &'a [HostSample],
}

/// The source and the subject.
type Key<'a> = (&'a str, &'a str);

fn key(sample: &HostSample) -> Key<'_> {
    (sample.source.as_str(), &sample.subject)
}

/// One subject of one source.
pub(super) struct SampledSubject<'a> {
    pub(super) subject: Subject<'a>,
    now: &'a Counters,
    /// The earlier counters, and the seconds since.
    earlier: Option<(&'a Counters, f64)>,
}

impl<'a> Window<'a> {
    /// The window between two lists of samples.
    pub fn new(before: &'a [HostSample], after: &'a [HostSample]) -> Self {
        Self { before: before.iter().map(|sample| (key(sample), sample)).collect(), after }
    }

    /// All samples at the end.
    pub(super) fn after(&self) -> &'a [HostSample] {
        self.after
    }

    /// The longest span between two reads of one subject.
    pub(super) fn span_sec(&self) -> f64 {
        let spans = self.after.iter().filter_map(|sample| Some(span_sec(self.earlier(sample)?, sample)));
        spans.fold(0.0, f64::max)
    }

    /// Every subject of a source, in the order of the samples.
    pub(super) fn all(&self, source: Source) -> impl Iterator<Item = SampledSubject<'a>> {
        self.after.iter().filter(move |sample| sample.source == source).filter_map(|sample| {
            let now = counters(sample)?;
            let earlier = self.earlier(sample).filter(|before| span_sec(before, sample) > 0.0);
            let earlier = earlier.and_then(|before| Some((counters(before)?, span_sec(before, sample))));
            Some(SampledSubject { subject: sample.subject(), now, earlier })
        })
    }

    /// A source whose subject is the host.
    pub(super) fn host(&self, source: Source) -> Option<SampledSubject<'a>> {
        self.all(source).find(|seen| seen.subject == Subject::Host)
    }

    fn earlier(&self, sample: &HostSample) -> Option<&'a HostSample> {
        self.before.get(&key(sample)).copied()
    }
}

impl<'a> SampledSubject<'a> {
    /// Returns the current value of a level.
    pub(super) fn level(&self, metric: Metric) -> Option<f64> {
        self.now.get(metric).map(|value| value as f64)
    }

    /// Returns the growth of a counter per second; `None` if it fell, because it restarted.
    pub(super) fn per_sec(&self, metric: Metric) -> Option<f64> {
        let (earlier, span_sec) = self.earlier?;
        let grown = self.now.get(metric)?.checked_sub(earlier.get(metric)?)?;
        Some(grown as f64 / span_sec)
    }

    /// Returns the growth of a counter of microseconds, as a share of the elapsed time.
    pub(super) fn share_us(&self, metric: Metric) -> Option<f64> {
        self.per_sec(metric).map(|us| us / 1e6)
    }

    /// Returns the growth of a counter over that of another one.
    pub(super) fn ratio(&self, part: Metric, whole: Metric) -> Option<f64> {
        let whole = self.per_sec(whole).filter(|whole| *whole > 0.0)?;
        Some(self.per_sec(part)? / whole)
    }

    /// Returns the levels of a source whose metric names are made while reading, such as addresses.
    pub(super) fn made_levels(&self) -> impl Iterator<Item = (&'a str, f64)> + use<'a> {
        self.now.iter().map(|(name, value)| (name, value as f64))
    }
}

fn counters(sample: &HostSample) -> Option<&Counters> {
    match &sample.reading {
        Reading::Ok(counters) => Some(counters),
        Reading::Absent | Reading::Failed(_) => None,
    }
}

/// Returns the seconds from the middle of one read to the middle of the other.
fn span_sec(before: &HostSample, after: &HostSample) -> f64 {
    let middle = |sample: &HostSample| sample.began_ns as f64 / 2.0 + sample.ended_ns as f64 / 2.0;
    (middle(after) - middle(before)) / 1e9
}

//! Samples: raw counters of one host at one instant.

use std::collections::{HashMap, HashSet};

use crate::{Counters, SourceName, Subject, Text};

/// The result of reading one source. A missing value is never zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    Ok(Counters),
    /// This host does not have the source.
    Absent,
    /// The source exists and could not be read; the text says why.
    Failed(String),
}

/// The result of reading one subject of one source of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSample {
    /// The host's name; `generator` is the machine that generates the load.
    pub host: Text,
    pub source: SourceName,
    /// The subject as text, see [`HostSample::subject`].
    pub subject: Text,
    /// Beginning and end of the read, in nanoseconds since the run began.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub reading: Reading,
}

impl HostSample {
    /// Parses the subject that was read.
    pub fn subject(&self) -> Subject<'_> {
        match &self.source {
            SourceName::Known(source) => Subject::parse(*source, &self.subject),
            SourceName::Other(_) => Subject::Other(&self.subject),
        }
    }
}

/// Host, source, subject.
type Key = (Text, SourceName, Text);

/// Deduplicates the memory of a run's samples. Host, subject and the names of counters are the same at each read, and values that have
/// not changed since the previous read are not stored again.
#[derive(Debug, Default)]
pub struct Sharing {
    texts: HashSet<Text>,
    last: HashMap<Key, Counters>,
}

impl Sharing {
    /// Returns the sample, sharing the memory of equal parts with earlier samples.
    pub fn share(&mut self, sample: HostSample) -> HostSample {
        let (host, subject) = (self.text(sample.host), self.text(sample.subject));
        let source = match sample.source {
            SourceName::Other(word) => SourceName::Other(self.text(word)),
            known @ SourceName::Known(_) => known,
        };
        let reading = match sample.reading {
            Reading::Ok(counters) => {
                Reading::Ok(self.counters((host.clone(), source.clone(), subject.clone()), counters))
            }
            other => other,
        };
        HostSample { host, source, subject, reading, ..sample }
    }

    fn counters(&mut self, key: Key, counters: Counters) -> Counters {
        let counters = match self.last.get(&key) {
            Some(last) => counters.shared_with(last),
            None => counters.with_texts(|text| self.text(text)),
        };
        self.last.insert(key, counters.clone());
        counters
    }

    fn text(&mut self, text: Text) -> Text {
        if let Some(known) = self.texts.get(text.as_str()) {
            return known.clone();
        }
        self.texts.insert(text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use crate::metric::core;

    fn sample(subject: &str, idle_ms: u64) -> HostSample {
        let counters = [(core::IDLE_MS, idle_ms), (core::USER_MS, 7)];
        HostSample {
            host: "web".into(),
            source: Source::Core.into(),
            subject: subject.into(),
            began_ns: 1,
            ended_ns: 2,
            reading: Reading::Ok(counters.into()),
        }
    }

    fn counters(sample: &HostSample) -> &Counters {
        let Reading::Ok(counters) = &sample.reading else { panic!("{sample:?}") };
        counters
    }

    #[test]
    fn a_sample_is_the_same_and_what_is_equal_to_the_one_before_is_kept_once() {
        let mut sharing = Sharing::default();
        let reads = [("0", 1), ("1", 1), ("0", 2), ("0", 2)];
        let kept = reads.map(|(subject, idle_ms)| sharing.share(sample(subject, idle_ms)));
        assert_eq!(kept, reads.map(|(subject, idle_ms)| sample(subject, idle_ms)));
        let shares = |one: usize, other: usize| counters(&kept[one]).shares(counters(&kept[other]));
        assert_eq!(shares(0, 2), (true, false), "the names");
        assert_eq!(shares(2, 3), (true, true), "nothing changed");
        assert_eq!(kept[0].host.as_ptr(), kept[1].host.as_ptr());
    }

    #[test]
    fn a_sample_is_small() {
        // A run of an hour holds hundreds of thousands; their names and equal values are shared.
        assert!(size_of::<HostSample>() <= 104, "{}", size_of::<HostSample>());
        assert_eq!(size_of::<SourceName>(), size_of::<Text>());
    }
}

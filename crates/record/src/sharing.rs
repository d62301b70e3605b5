//! Keeps once what samples have in common.

use std::collections::{HashMap, HashSet};

use crate::{Counters, HostSample, Reading, SourceName, Text};

/// Host, source, subject.
type Key = (Text, SourceName, Text);

/// Makes the samples of one run share what is equal in them: host and subject are the same texts each second, the names of
/// counters are too, and values that did not change since the read before are not kept again.
#[derive(Debug, Default)]
pub struct Sharing {
    texts: HashSet<Text>,
    last: HashMap<Key, Counters>,
}

impl Sharing {
    /// The same sample, which shares with earlier ones whatever is equal.
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
}

//! What samples have in common is kept once.

use std::collections::{HashMap, HashSet};

use crate::{Counters, HostSample, Reading, Text};

/// Makes the samples of one run share what is equal in them: a host, a source and a subject are the same words each
/// second, the names of counters are too, and what did not change since the read before it is not kept again.
#[derive(Debug, Default)]
pub struct Sharing {
    words: HashSet<Text>,
    /// The last counters by host, source and subject.
    last: HashMap<[Text; 3], Counters>,
}

impl Sharing {
    /// The same sample, made of what was there before as far as that is equal.
    pub fn share(&mut self, sample: HostSample) -> HostSample {
        let [host, source, subject] =
            [sample.host, sample.source, sample.subject].map(|word| self.word(word));
        let reading = match sample.reading {
            Reading::Ok(counters) => {
                Reading::Ok(self.counters([host.clone(), source.clone(), subject.clone()], counters))
            }
            other => other,
        };
        HostSample { host, source, subject, reading, ..sample }
    }

    fn counters(&mut self, key: [Text; 3], counters: Counters) -> Counters {
        let counters = match self.last.get(&key) {
            Some(last) => counters.shared_with(last),
            None => counters.with_names(|name| self.word(name)),
        };
        self.last.insert(key, counters.clone());
        counters
    }

    fn word(&mut self, word: Text) -> Text {
        if let Some(known) = self.words.get(word.as_str()) {
            return known.clone();
        }
        self.words.insert(word.clone());
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(subject: &str, idle_ms: u64) -> HostSample {
        let counters = [("idle_ms".to_owned(), idle_ms), ("user_ms".to_owned(), 7)];
        HostSample {
            host: "web".into(),
            source: "core".into(),
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
        let told = [("0", 1), ("1", 1), ("0", 2), ("0", 2)];
        let kept = told.map(|(subject, idle_ms)| sharing.share(sample(subject, idle_ms)));
        assert_eq!(kept, told.map(|(subject, idle_ms)| sample(subject, idle_ms)));
        let shares = |one: usize, other: usize| counters(&kept[one]).shares(counters(&kept[other]));
        assert_eq!(shares(0, 2), (true, false), "the names");
        assert_eq!(shares(2, 3), (true, true), "nothing changed");
        assert_eq!(kept[0].host.as_ptr(), kept[1].host.as_ptr());
    }
}

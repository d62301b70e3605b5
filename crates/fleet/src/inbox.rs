//! The batches of one agent as they arrive: in any order, some twice.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Puts batches in order.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Batches that arrived before an earlier one, by the number of their first message.
    early: BTreeMap<u64, Early>,
    /// How many messages have arrived without a gap.
    received: u64,
}

#[derive(Debug)]
struct Early {
    end: u64,
    content: Bytes,
}

impl Inbox {
    /// For an agent whose messages before `first` are not expected.
    pub(crate) fn starting_at(first: u64) -> Self {
        Self { early: BTreeMap::new(), received: first }
    }

    /// Skips what is missing before the first batch that arrived. Returns the batches that follow from there without a gap.
    pub(crate) fn skip_missing(&mut self) -> Vec<Bytes> {
        self.received = self.early.keys().next().copied().unwrap_or(self.received);
        self.release()
    }

    /// Adds a batch of the messages from `first` up to `end`. Returns the batches that are next, in order. Drops a batch that
    /// arrived before.
    pub(crate) fn add(&mut self, first: u64, end: u64, content: Bytes) -> Vec<Bytes> {
        if first >= self.received && first < end {
            self.early.entry(first).or_insert(Early { end, content });
        }
        self.release()
    }

    fn release(&mut self) -> Vec<Bytes> {
        let mut next = Vec::new();
        while let Some(batch) = self.early.remove(&self.received) {
            self.received = batch.end;
            next.push(batch.content);
        }
        next
    }

    /// True if the batch that begins with this message has not come before.
    pub(crate) fn is_new(&self, first: u64) -> bool {
        first >= self.received && !self.early.contains_key(&first)
    }

    /// How many messages have arrived without a gap.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_gap_holds_back_what_comes_after_it() {
        let mut inbox = Inbox::default();
        assert!(inbox.is_new(2));
        assert!(inbox.add(2, 3, Bytes::from_static(b"c")).is_empty());
        assert_eq!((inbox.received(), inbox.is_new(2)), (0, false));
        assert_eq!(inbox.add(0, 2, Bytes::from_static(b"ab")), ["ab", "c"]);
        assert_eq!(inbox.received(), 3);
        assert!(inbox.add(0, 2, Bytes::from_static(b"ab")).is_empty(), "it came before");
        assert!(!inbox.is_new(0));
    }

    #[test]
    fn what_is_missing_at_the_beginning_can_be_left_out() {
        let mut inbox = Inbox::default();
        assert!(inbox.skip_missing().is_empty());
        for (first, content) in [(9, "after a gap"), (5, "b"), (3, "a")] {
            assert!(inbox.add(first, first + 2, Bytes::from_static(content.as_bytes())).is_empty());
        }
        assert_eq!(inbox.skip_missing(), ["a", "b"]);
        assert_eq!(inbox.received(), 7);
        let mut resumed = Inbox::starting_at(3);
        assert!(resumed.add(1, 3, Bytes::from_static(b"known")).is_empty());
        assert_eq!(resumed.add(3, 4, Bytes::from_static(b"new")), ["new"]);
    }

    proptest! {
        /// Each batch comes out once and in order, in whatever order they arrive and however often.
        #[test]
        fn every_batch_comes_out_once_in_order(
            sizes in prop::collection::vec(1_u64..5, 1..30),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let mut batches = Vec::new();
            let mut next = 0;
            for size in sizes {
                batches.push((next, next + size));
                next += size;
            }
            let arrivals = order.iter().map(|index| *index.get(&batches)).chain(batches.iter().rev().copied());
            let mut inbox = Inbox::default();
            let mut out = Vec::new();
            for (first, end) in arrivals {
                out.extend(inbox.add(first, end, Bytes::from(first.to_string())));
            }
            let expected: Vec<Bytes> = batches.iter().map(|(first, _)| Bytes::from(first.to_string())).collect();
            prop_assert_eq!(out, expected);
            prop_assert_eq!(inbox.received(), next);
        }
    }
}

//! The messages of an agent on their way to the run file.
//!
//! Each message has a number, without gaps, and is kept here until it is in the conductor's file: the broker may lose messages that
//! it has acknowledged, and the conductor may die before it has written what it received.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use plimsoll_units::Instant;

/// The most batches that wait for the broker's acknowledgement.
const IN_FLIGHT_MAX: usize = 64;
/// A batch that the broker stored is resent if the conductor has not received it after this time.
const RESEND_AFTER: Duration = Duration::from_secs(5);
/// The first wait after the broker refused a batch; it doubles up to `RETRY_MAX`.
const RETRY_MIN: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(2);

/// Where a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Here; it may be sent from this instant on.
    Here { from: Instant },
    /// Handed to the broker, which has not answered.
    Sent,
    /// Stored by the broker since this instant.
    Stored { since: Instant },
}

/// Consecutive messages that are sent together.
#[derive(Debug, Clone)]
struct Batch {
    /// Numbers of its first message and of the one after its last.
    first: u64,
    end: u64,
    content: Bytes,
    place: Place,
    /// How often it was resent because the broker had lost it.
    tries: u32,
}

/// A batch to hand to the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) content: Bytes,
    /// Number of the resend, from 0. The broker drops a second copy with the same number, not one with another.
    pub(crate) resent: u32,
}

/// The batches of one agent in one run.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    batches: VecDeque<Batch>,
    /// The number of the next message.
    next: u64,
    /// How many messages the conductor has received without a gap.
    received: u64,
    /// The wait after the next refusal.
    wait: Option<Duration>,
    /// A batch was refused, and some batches are still here.
    one_by_one: bool,
}

impl Outbox {
    /// Adds `messages` messages, packed together.
    pub(crate) fn add(&mut self, messages: u64, content: Bytes, now: Instant) {
        let (first, end) = (self.next, self.next + messages);
        self.batches.push_back(Batch { first, end, content, place: Place::Here { from: now }, tries: 0 });
        self.next = end;
    }

    /// Returns the batches to send now; further ones follow once some of them are acknowledged. After a refusal they go one by one
    /// until none is left here: a stream that is full of messages behind a gap would stay full.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Parcel> {
        let under_way = self.batches.iter().filter(|batch| batch.place == Place::Sent).count();
        let waits = |batch: &&mut Batch| matches!(batch.place, Place::Here { from } if from > now);
        let is_here = |batch: &&mut Batch| matches!(batch.place, Place::Here { .. });
        let due = self.batches.iter_mut().take_while(|batch| !waits(batch)).filter(is_here);
        let most = if self.one_by_one { 1 } else { IN_FLIGHT_MAX };
        let due = due.take(most.saturating_sub(under_way));
        due.map(|batch| {
            batch.place = Place::Sent;
            let resent = batch.tries;
            Parcel { first: batch.first, end: batch.end, content: batch.content.clone(), resent }
        })
        .collect()
    }

    /// Notes that the broker has stored the batch that begins with this message.
    pub(crate) fn stored(&mut self, first: u64, now: Instant) {
        self.wait = None;
        self.set(first, Place::Stored { since: now });
        self.one_by_one &= self.batches.iter().any(|batch| matches!(batch.place, Place::Here { .. }));
    }

    /// Notes that the broker refused the batch or did not answer. It may have stored the batch: the same copy is resent later.
    pub(crate) fn refused(&mut self, first: u64, now: Instant) {
        let wait = self.wait.unwrap_or(RETRY_MIN);
        self.wait = Some((wait * 2).min(RETRY_MAX));
        self.one_by_one = true;
        self.set(first, Place::Here { from: now + wait });
    }

    fn set(&mut self, first: u64, place: Place) {
        let sent = self.batches.iter_mut().find(|batch| batch.first == first && batch.place == Place::Sent);
        sent.into_iter().for_each(|batch| batch.place = place);
    }

    /// Notes that the conductor has received `received` messages without a gap, and that `kept` of them are in its file.
    pub(crate) fn confirm(&mut self, received: u64, kept: u64, now: Instant) {
        self.received = self.received.max(received);
        while self.batches.front().is_some_and(|batch| batch.end <= kept) {
            self.batches.pop_front();
        }
        // Stored batches that should have arrived long ago: the broker lost them.
        for batch in self.batches.iter_mut().filter(|batch| batch.end > received) {
            if let Place::Stored { since } = batch.place
                && now.since(since) >= RESEND_AFTER
            {
                batch.place = Place::Here { from: now };
                batch.tries += 1;
            }
        }
    }

    /// True if the conductor has received everything.
    pub(crate) fn is_delivered(&self) -> bool {
        self.received >= self.next
    }

    /// The number of the first message that is not known to be in the run file.
    pub(crate) fn first_unkept(&self) -> u64 {
        self.batches.front().map_or(self.next, |batch| batch.first)
    }

    /// Bytes of the messages that are kept here.
    pub(crate) fn bytes(&self) -> usize {
        self.batches.iter().map(|batch| batch.content.len()).sum()
    }

    /// Messages that are not known to be in the run file.
    pub(crate) fn unkept(&self) -> u64 {
        self.batches.iter().map(|batch| batch.end - batch.first).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::from_nanos(1_000_000_000_000);

    fn outbox(batches: u64) -> Outbox {
        let mut outbox = Outbox::default();
        (0..batches).for_each(|_| outbox.add(2, Bytes::from_static(b"two"), START));
        outbox
    }

    fn firsts(parcels: &[Parcel]) -> Vec<u64> {
        parcels.iter().map(|parcel| parcel.first).collect()
    }

    #[test]
    fn batches_are_numbered_without_gaps_and_kept_until_they_are_in_the_file() {
        let mut outbox = outbox(3);
        assert_eq!(firsts(&outbox.due(START)), [0, 2, 4]);
        assert!(outbox.due(START).is_empty(), "all are under way");
        [0, 2, 4].into_iter().for_each(|first| outbox.stored(first, START));
        assert_eq!(outbox.unkept(), 6);
        outbox.confirm(6, 5, START);
        assert!(outbox.is_delivered());
        assert_eq!(outbox.unkept(), 2, "the last batch is not whole in the file");
        assert_eq!((outbox.first_unkept(), outbox.bytes()), (4, 3));
        outbox.confirm(6, 6, START);
        assert_eq!((outbox.unkept(), outbox.first_unkept(), outbox.bytes()), (0, 6, 0));
    }

    #[test]
    fn a_refused_batch_waits_longer_each_time_and_is_the_same_copy() {
        let mut outbox = outbox(1);
        let mut now = START;
        for wait in [250, 500, 1_000, 2_000, 2_000] {
            assert_eq!(outbox.due(now).iter().map(|parcel| parcel.resent).collect::<Vec<_>>(), [0]);
            outbox.refused(0, now);
            assert!(outbox.due(now + Duration::from_millis(wait - 1)).is_empty());
            now = now + Duration::from_millis(wait);
        }
    }

    #[test]
    fn after_a_refusal_batches_go_one_by_one_so_that_no_gap_fills_the_stream() {
        let mut outbox = outbox(3);
        outbox.due(START);
        [0, 2, 4].into_iter().for_each(|first| outbox.refused(first, START));
        let later = START + RETRY_MAX;
        assert_eq!(firsts(&outbox.due(later)), [0]);
        assert!(outbox.due(later).is_empty());
        outbox.stored(0, later);
        assert_eq!(firsts(&outbox.due(later)), [2]);
        outbox.refused(2, later);
        outbox.add(2, Bytes::new(), later);
        assert!(outbox.due(later).is_empty(), "the ones behind it wait, too");
        for first in [2, 4, 6] {
            assert_eq!(firsts(&outbox.due(later + RETRY_MAX)), [first]);
            outbox.stored(first, later + RETRY_MAX);
        }
        (0..2).for_each(|_| outbox.add(1, Bytes::new(), later));
        assert_eq!(outbox.due(later).len(), 2, "all of the backlog is with the broker");
    }

    #[test]
    fn what_the_broker_lost_is_sent_again_as_another_copy() {
        let mut outbox = outbox(2);
        outbox.due(START);
        [0, 2].into_iter().for_each(|first| outbox.stored(first, START));
        outbox.confirm(2, 0, START + RESEND_AFTER - Duration::from_nanos(1));
        assert!(outbox.due(START + RESEND_AFTER).is_empty());
        outbox.confirm(2, 0, START + RESEND_AFTER);
        let again = outbox.due(START + RESEND_AFTER);
        assert_eq!((firsts(&again), again[0].resent), (vec![2], 1), "the first arrived");
    }

    #[test]
    fn no_more_than_so_many_are_under_way() {
        let mut outbox = outbox(100);
        assert_eq!(outbox.due(START).len(), IN_FLIGHT_MAX);
        outbox.stored(0, START);
        assert_eq!(firsts(&outbox.due(START)), [2 * IN_FLIGHT_MAX as u64]);
    }
}

//! Queues of connections that wait, one for each reason.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use plimsoll_units::Instant;

use crate::step_spec::MAX_CONNECTING;

/// Pause before a closed loop's connection that was refused connects again, so that a target that is down is not flooded.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Pause before a connection that found the server's accept queue full connects again. No event announces a free place.
const ACCEPT_QUEUE_PAUSE: Duration = Duration::from_millis(5);

/// Slots of waiting connections, by reason. All memory that depends on the step is allocated at the start, except for think
/// times.
#[derive(Debug)]
pub(super) struct Queues {
    /// Open loop: open connections with room for a request. Each is listed once.
    pub(super) idle: VecDeque<u32>,
    /// Waiting to connect under the limit of simultaneous connection attempts: new connections, and refused ones after their
    /// pause.
    pub(super) unconnected: VecDeque<u32>,
    /// Closed by the server or by a failure; reconnected at the end of the turn.
    pub(super) closed: VecDeque<u32>,
    /// Open loop: closed connections, to be connected when a request needs one.
    pub(super) spare: Vec<u32>,
    refused: VecDeque<(Instant, u32)>,
    accept_queue_full: VecDeque<(Instant, u32)>,
    thinking: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl Queues {
    /// Queues with `first` connections to be connected and room for `most`.
    pub(super) fn new(first: u32, most: u32) -> Self {
        let (first_count, most) = (first as usize, most as usize);
        Self {
            idle: VecDeque::with_capacity(most),
            unconnected: (0..first).collect(),
            closed: VecDeque::with_capacity(most),
            spare: Vec::with_capacity(most),
            refused: VecDeque::with_capacity(first_count),
            accept_queue_full: VecDeque::with_capacity(MAX_CONNECTING.min(most)),
            thinking: BinaryHeap::new(),
        }
    }

    /// A connection was refused.
    pub(super) fn refused(&mut self, slot: usize, now: Instant) {
        self.refused.push_back((now + RETRY_PAUSE, slot as u32));
    }

    /// A connection found the server's accept queue full.
    pub(super) fn accept_queue_full(&mut self, slot: usize, now: Instant) {
        self.accept_queue_full.push_back((now + ACCEPT_QUEUE_PAUSE, slot as u32));
    }

    /// A connection's think time ends at `until`.
    pub(super) fn thinking(&mut self, slot: usize, until: Instant) {
        self.thinking.push(Reverse((until, slot as u32)));
    }

    /// Moves refused connections whose pause is over by `now` to the queue of unconnected ones.
    pub(super) fn release_refused(&mut self, now: Instant) {
        while let Some(slot) = pop_due(&mut self.refused, now) {
            self.unconnected.push_back(slot);
        }
    }

    /// Removes and returns the next connection whose pause after a full accept queue is over by `now`.
    pub(super) fn next_retry(&mut self, now: Instant) -> Option<usize> {
        pop_due(&mut self.accept_queue_full, now).map(|slot| slot as usize)
    }

    /// Removes and returns the next connection whose think time is over by `now`, and when the think time ended.
    pub(super) fn next_thought(&mut self, now: Instant) -> Option<(Instant, usize)> {
        let Reverse((until, slot)) = *self.thinking.peek()?;
        if until > now {
            return None;
        }
        self.thinking.pop();
        Some((until, slot as usize))
    }

    /// When the next pause or think time ends.
    pub(super) fn next_end(&self) -> Option<Instant> {
        let thinking = self.thinking.peek().map(|Reverse((until, _))| *until);
        let pauses = self.refused.front().into_iter().chain(self.accept_queue_full.front());
        pauses.map(|(until, _)| *until).chain(thinking).min()
    }
}

fn pop_due(queue: &mut VecDeque<(Instant, u32)>, now: Instant) -> Option<u32> {
    let (until, slot) = *queue.front()?;
    if until > now {
        return None;
    }
    queue.pop_front();
    Some(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_end_in_the_order_of_their_ends() {
        let at = Instant::from_nanos;
        let mut queues = Queues::new(0, 2);
        queues.thinking(1, at(30));
        queues.thinking(2, at(10));
        assert_eq!(queues.next_end(), Some(at(10)));
        assert_eq!((queues.next_thought(at(9)), queues.next_thought(at(20))), (None, Some((at(10), 2))));
        assert_eq!((queues.next_thought(at(20)), queues.next_thought(at(30))), (None, Some((at(30), 1))));
        assert_eq!(queues.next_end(), None);
    }

    #[test]
    fn a_refused_connection_is_to_be_connected_after_its_pause() {
        let (now, mut queues) = (Instant::from_nanos(7), Queues::new(1, 1));
        assert_eq!(queues.unconnected.pop_front(), Some(0));
        queues.refused(0, now);
        queues.release_refused(now);
        assert_eq!((queues.unconnected.front(), queues.next_end()), (None, Some(now + RETRY_PAUSE)));
        queues.release_refused(now + RETRY_PAUSE);
        assert_eq!((queues.unconnected.front(), queues.next_end()), (Some(&0), None));
    }
}

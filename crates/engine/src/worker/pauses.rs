//! Connections that make a pause before their next request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll_units::Instant;

/// The pauses under way, the first to end first.
#[derive(Debug, Default)]
pub(super) struct Pauses(BinaryHeap<Reverse<(Instant, u32)>>);

impl Pauses {
    /// A connection's pause ends at `until`.
    pub(super) fn begin(&mut self, until: Instant, slot: usize) {
        self.0.push(Reverse((until, slot as u32)));
    }

    /// Takes the next pause that is over by `now`: when it ended, and whose it was.
    pub(super) fn end_by(&mut self, now: Instant) -> Option<(Instant, usize)> {
        let Reverse((until, slot)) = *self.0.peek()?;
        if until > now {
            return None;
        }
        self.0.pop();
        Some((until, slot as usize))
    }

    /// When the next pause ends.
    pub(super) fn next_end(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((until, _))| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_end_in_the_order_of_their_ends() {
        let at = Instant::from_nanos;
        let mut pauses = Pauses::default();
        pauses.begin(at(30), 1);
        pauses.begin(at(10), 2);
        assert_eq!(pauses.next_end(), Some(at(10)));
        assert_eq!((pauses.end_by(at(9)), pauses.end_by(at(20))), (None, Some((at(10), 2))));
        assert_eq!((pauses.end_by(at(20)), pauses.end_by(at(30))), (None, Some((at(30), 1))));
        assert_eq!(pauses.next_end(), None);
    }
}

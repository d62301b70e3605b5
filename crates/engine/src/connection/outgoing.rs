//! The bytes that a connection has to send.

use std::ops::Range;

/// The bytes that a connection has to send.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The requests written last, if they are generated and go to the socket without layers.
    pub(super) generated: Vec<u8>,
    /// The range of bytes that the socket has not accepted yet: of the stack's wire buffer, or without layers of `generated` or
    /// of the step's fixed bytes.
    unsent: Range<u32>,
    /// Where the last request ends in those bytes; replies of the layers follow.
    requests_end: u32,
    /// True if the connection got fewer requests than it has room for, because they are long.
    pub(super) unfilled: bool,
}

impl Outgoing {
    /// True while the last request is not completely sent.
    #[inline]
    pub(super) fn is_sending(&self) -> bool {
        self.unsent.start < self.requests_end
    }

    #[inline]
    pub(super) fn unsent(&self) -> Range<usize> {
        self.unsent.start as usize..self.unsent.end as usize
    }

    /// Resets the range: nothing is unsent, and the next bytes are written at the front.
    #[inline]
    pub(super) fn clear_unsent(&mut self) {
        self.unsent = 0..0;
        self.requests_end = 0;
    }

    /// Discards the unsent bytes of a closed socket. Generated requests are kept, to be sent again.
    pub(super) fn discard(&mut self) {
        self.clear_unsent();
        self.unfilled = false;
    }

    /// Requests were written up to `end`.
    #[inline]
    pub(super) fn set_requests_end(&mut self, end: usize) {
        self.set_end(end);
        self.requests_end = self.unsent.end;
    }

    /// Bytes were written up to `end`.
    #[inline]
    pub(super) fn set_end(&mut self, end: usize) {
        self.unsent.end = end as u32;
    }

    /// Drops the sent bytes at the front if there are at least `least`; returns their number.
    pub(super) fn take_sent(&mut self, least: usize) -> Option<usize> {
        let sent = self.unsent.start;
        if (sent as usize) < least {
            return None;
        }
        self.unsent = 0..self.unsent.end - sent;
        self.requests_end = self.requests_end.saturating_sub(sent);
        Some(sent as usize)
    }

    /// The socket accepted `count` of the unsent bytes.
    #[inline]
    pub(super) fn advance(&mut self, count: usize) {
        self.unsent.start += count as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_bytes_that_were_sent_are_given_up_before_the_rest_is_sent() {
        let mut outgoing = Outgoing::default();
        outgoing.set_requests_end(100_000);
        outgoing.advance(60_000);
        assert_eq!(outgoing.take_sent(64_000), None);
        outgoing.advance(10_000);
        assert_eq!(outgoing.take_sent(64_000), Some(70_000));
        assert_eq!((outgoing.unsent(), outgoing.is_sending()), (0..30_000, true));
        outgoing.set_end(40_000);
        outgoing.advance(30_000);
        assert!(!outgoing.is_sending(), "what is left are replies");
    }
}

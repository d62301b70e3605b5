//! One connection's life: what its bytes and its end mean for the request it carries.
//!
//! Pure: it does no I/O and reads no clock, so every driver shares it and its tests need no network.

use plimsoll_http::{Expect, Finish, ParserMemory, Response, ResponseParser};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use crate::classify::malformed_failure;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no socket.
    Closed,
    /// The socket is being connected.
    Opening,
    /// Connected, with no request under way.
    Idle,
    /// Part of the request is still to be written: this many bytes are.
    Sending(u32),
    /// The request is written; the response is awaited.
    Waiting,
}

/// What received bytes, or the end of them, came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The response goes on.
    Pending,
    /// The response is complete; the connection may carry another request if `reusable`.
    Answered { response: Response, reusable: bool },
    /// The server gave up a connection that had carried requests before, without a byte of this one's
    /// response: the request may be sent again on a new one. If not, it failed as this kind.
    Unserved(FailureKind),
    /// The request failed.
    Failed(FailureKind),
    /// The connection ended, or misbehaved, with no request under way.
    Gone,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The peer closed in order.
    Closed,
    /// The connection was reset, or broke.
    Reset,
}

/// One connection. Small, for there may be very many.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// When the request under way was due; for a closed connection, when its next one is.
    pub(crate) intended: Option<Instant>,
    /// When the request under way was sent; while opening, when that began; while idle, since when.
    pub(crate) since: Instant,
    /// The request under way was sent once before, on a connection the server had given up.
    pub(crate) resent: bool,
    /// It is being opened for the first time, or again after a refusal: such openings are held back.
    pub(crate) gently: bool,
    /// At least one response came over this socket.
    proven: bool,
    parser: ResponseParser,
}

impl Connection {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            intended: None,
            since: Instant::default(),
            resent: false,
            gently: false,
            proven: false,
            parser: ResponseParser::new(),
        }
    }

    /// True while a request is on its way or its response awaited.
    pub(crate) fn in_flight(&self) -> bool {
        matches!(self.state, State::Sending(_) | State::Waiting)
    }

    /// A socket is being connected.
    pub(crate) fn begin_opening(&mut self, now: Instant, gently: bool) {
        self.state = State::Opening;
        self.gently = gently;
        self.since = now;
        self.proven = false;
    }

    /// Nothing is to be sent now.
    pub(crate) fn rest(&mut self, now: Instant) {
        self.state = State::Idle;
        self.since = now;
        self.intended = None;
        self.resent = false;
    }

    /// A request is about to be written.
    pub(crate) fn begin_request(&mut self, intended: Instant, now: Instant, expect: Expect) {
        self.state = State::Sending(0);
        self.intended = Some(intended);
        self.since = now;
        self.parser.reset(expect);
    }

    /// `count` more bytes of a request of `length` were written.
    pub(crate) fn wrote(&mut self, count: usize, length: usize) {
        if let State::Sending(before) = self.state {
            let written = before as usize + count;
            self.state = if written >= length { State::Waiting } else { State::Sending(written as u32) };
        }
    }

    /// The socket is gone.
    pub(crate) fn close(&mut self) {
        self.state = State::Closed;
    }

    /// Bytes came.
    pub(crate) fn take(&mut self, bytes: &[u8], memory: &mut ParserMemory) -> Outcome {
        if !self.in_flight() {
            return Outcome::Gone;
        }
        match self.parser.advance(bytes, memory) {
            Err(malformed) => Outcome::Failed(malformed_failure(malformed)),
            Ok(advance) => match advance.response {
                None => Outcome::Pending,
                Some(_) if advance.consumed < bytes.len() => Outcome::Failed(FailureKind::BytesAfterResponse),
                Some(response) => self.answered(response),
            },
        }
    }

    /// Bytes of a body that are to come and that nobody wants to see.
    pub(crate) fn unwanted_bytes(&self) -> u64 {
        if self.in_flight() { self.parser.unseen_bytes() } else { 0 }
    }

    /// So many unwanted bytes came.
    pub(crate) fn skip(&mut self, count: u64) -> Outcome {
        match self.parser.skip(count) {
            None => Outcome::Pending,
            Some(response) => self.answered(response),
        }
    }

    /// The connection ended.
    pub(crate) fn end(&mut self, end: End) -> Outcome {
        if !self.in_flight() {
            return Outcome::Gone;
        }
        let within = match (self.parser.finish(), end) {
            (Finish::Complete(response), End::Closed) => return self.answered(response),
            (Finish::Complete(_) | Finish::Within, _) => true,
            (Finish::Before, _) => false,
        };
        let kind = self.broken_off(within, end);
        if !within && self.proven && !self.resent { Outcome::Unserved(kind) } else { Outcome::Failed(kind) }
    }

    fn broken_off(&self, within: bool, end: End) -> FailureKind {
        let sending = matches!(self.state, State::Sending(_));
        match (within, end) {
            (true, End::Closed) => FailureKind::ClosedWithinResponse,
            (true, End::Reset) => FailureKind::ResetWithinResponse,
            (false, _) if sending => FailureKind::SendReset,
            (false, End::Closed) => FailureKind::ClosedBeforeResponse,
            (false, End::Reset) => FailureKind::ResetBeforeResponse,
        }
    }

    /// An answer to a request that is not fully written leaves the rest of it unread: the connection is spent.
    fn answered(&mut self, response: Response) -> Outcome {
        let reusable = response.keep_alive && self.state == State::Waiting;
        self.proven = true;
        Outcome::Answered { response, reusable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    fn waiting() -> Connection {
        let mut connection = Connection::new();
        connection.begin_opening(at(0), true);
        connection.begin_request(at(1), at(2), Expect::Body);
        connection.wrote(10, 10);
        connection
    }

    fn proven() -> Connection {
        let mut connection = waiting();
        let answered = connection.take(OK, &mut ParserMemory::new());
        assert!(matches!(answered, Outcome::Answered { reusable: true, .. }));
        connection.begin_request(at(3), at(4), Expect::Body);
        connection.wrote(10, 10);
        connection
    }

    #[test]
    fn a_response_in_two_pieces_is_one_answer() {
        let mut connection = waiting();
        let mut memory = ParserMemory::new();
        assert_eq!(connection.take(&OK[..20], &mut memory), Outcome::Pending);
        let Outcome::Answered { response, reusable } = connection.take(&OK[20..], &mut memory) else {
            panic!("not answered");
        };
        assert_eq!((response.status, response.body_bytes, reusable), (200, 2, true));
    }

    #[test]
    fn an_end_is_named_after_where_and_how_it_struck() {
        assert_eq!(waiting().end(End::Closed), Outcome::Failed(FailureKind::ClosedBeforeResponse));
        assert_eq!(waiting().end(End::Reset), Outcome::Failed(FailureKind::ResetBeforeResponse));
        let mut begun = waiting();
        begun.take(&OK[..20], &mut ParserMemory::new());
        assert_eq!(begun.end(End::Closed), Outcome::Failed(FailureKind::ClosedWithinResponse));
        let mut begun = waiting();
        begun.take(&OK[..20], &mut ParserMemory::new());
        assert_eq!(begun.end(End::Reset), Outcome::Failed(FailureKind::ResetWithinResponse));
        let mut sending = Connection::new();
        sending.begin_request(at(1), at(2), Expect::Body);
        sending.wrote(3, 10);
        assert_eq!(sending.end(End::Reset), Outcome::Failed(FailureKind::SendReset));
    }

    #[test]
    fn a_connection_given_up_between_requests_is_no_failure_but_only_once() {
        assert_eq!(proven().end(End::Closed), Outcome::Unserved(FailureKind::ClosedBeforeResponse));
        assert_eq!(proven().end(End::Reset), Outcome::Unserved(FailureKind::ResetBeforeResponse));
        let mut again = proven();
        again.resent = true;
        assert_eq!(again.end(End::Closed), Outcome::Failed(FailureKind::ClosedBeforeResponse));
    }

    #[test]
    fn bytes_beyond_the_response_are_a_failure_of_its_own() {
        let mut bytes = OK.to_vec();
        bytes.extend_from_slice(b"more");
        let outcome = waiting().take(&bytes, &mut ParserMemory::new());
        assert_eq!(outcome, Outcome::Failed(FailureKind::BytesAfterResponse));
    }

    #[test]
    fn an_answer_before_the_request_is_written_spends_the_connection() {
        let mut connection = Connection::new();
        connection.begin_request(at(1), at(2), Expect::Body);
        connection.wrote(3, 10);
        let outcome = connection.take(OK, &mut ParserMemory::new());
        assert!(matches!(outcome, Outcome::Answered { reusable: false, .. }));
    }

    #[test]
    fn a_close_delimited_body_ends_with_the_connection_but_not_with_a_reset() {
        let head = b"HTTP/1.1 200 OK\r\n\r\nbody";
        let mut connection = waiting();
        connection.take(head, &mut ParserMemory::new());
        assert!(matches!(connection.end(End::Closed), Outcome::Answered { reusable: false, .. }));
        let mut connection = waiting();
        connection.take(head, &mut ParserMemory::new());
        assert_eq!(connection.end(End::Reset), Outcome::Failed(FailureKind::ResetWithinResponse));
    }
}

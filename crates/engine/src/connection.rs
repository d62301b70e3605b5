//! One connection's life: what its bytes and its end mean for the requests it carries.
//!
//! Pure: it does no I/O and reads no clock, so every driver shares it and its tests need no network.

use std::ops::Range;

use plimsoll_http::{Expect, Finish, ParserMemory, Response, ResponseParser};
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use crate::classify::malformed_failure;
use crate::layers::{Layers, Places, UNSENT_MOST_BYTES};

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no socket.
    Closed,
    /// The server's queue of new connections is full: it is to be connected once there may be a place.
    Waiting,
    /// The socket is being connected.
    Opening,
    /// Connected; encryption is being agreed on.
    Securing,
    /// Ready for requests, or carrying them.
    Open,
}

/// The pause that a connection makes before its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It was not asked for yet.
    None,
    /// It is being made.
    Pausing,
    /// It was made.
    Over,
}

/// What received bytes came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The response goes on.
    Pending,
    /// The oldest request is answered. Of the bytes, so many belonged to its response.
    Answered { response: Response, reusable: bool, consumed: usize },
    /// The oldest request failed, and the connection with it.
    Failed(FailureKind),
    /// Bytes came, and no request is under way.
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

/// What the end of a connection means for the requests on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// None was under way.
    Idle,
    /// It completed the response to the oldest.
    Answered(Response),
    /// The oldest one's response broke off within; the others have none.
    Within(FailureKind),
    /// Not a byte came in answer to any. If the connection had answered before, the server gave it up
    /// between two requests: those may be sent again on another.
    Before { kind: FailureKind, given_up: bool },
}

/// One connection. Small, for there may be very many.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) state: State,
    /// While opening, when that began; while idle, since when.
    pub(crate) since: Instant,
    /// When the socket was connected.
    pub(crate) connected: Instant,
    /// For a connection to be opened, when the request that waits for it was due.
    pub(crate) due: Option<Instant>,
    /// Ways on which it could not be opened, because their local ends were taken.
    pub(crate) tries: u8,
    /// It is being opened for the first time, or again after a refusal: such openings are held back.
    pub(crate) gently: bool,
    /// While it was being opened, there was no place for it in the server's queue.
    pub(crate) crowded: bool,
    /// It stands in the queue of connections that may take a request.
    pub(crate) listed: bool,
    /// Requests under way.
    pub(crate) pending: u16,
    /// The places they take.
    pub(crate) places: Places,
    /// What stands between requests and the socket, if anything does.
    pub(crate) layers: Option<Box<Layers>>,
    pub(crate) rest: Rest,
    /// The last requests written, unless they are fixed.
    pub(crate) outgoing: Vec<u8>,
    /// Of what goes over the wire, which the system did not take yet: of the layers' bytes if there are layers,
    /// else of `outgoing` or of the step's fixed bytes.
    pub(crate) unsent: Range<u32>,
    /// Where in these bytes the last request ends.
    pub(crate) asked_until: u32,
    /// It got fewer requests than it has room for, because they are long: it gets more once those are on their way.
    pub(crate) unfilled: bool,
    /// At least one response came over this socket.
    proven: bool,
    parser: ResponseParser,
}

impl Connection {
    /// A connection whose requests take these places.
    pub(crate) fn new(places: Places) -> Self {
        Self {
            state: State::Closed,
            since: Instant::default(),
            connected: Instant::default(),
            due: None,
            gently: false,
            crowded: false,
            tries: 0,
            listed: false,
            pending: 0,
            places,
            layers: None,
            rest: Rest::None,
            outgoing: Vec::new(),
            unsent: 0..0,
            asked_until: 0,
            unfilled: false,
            proven: false,
            parser: ResponseParser::new(),
        }
    }

    /// True while the last request sent is not wholly on its way.
    pub(crate) fn sending(&self) -> bool {
        self.unsent.start < self.asked_until
    }

    /// True while a request can be written: open, and nothing, or not too much, waits to be sent before it.
    pub(crate) fn writable(&self) -> bool {
        let unsent_most = if self.layers.is_some() { UNSENT_MOST_BYTES } else { 0 };
        self.state == State::Open && self.unsent.len() <= unsent_most
    }

    /// True if so much waits to be sent that more would only take memory. Fixed bytes are there in any case.
    pub(crate) fn is_full(&self) -> bool {
        match &self.layers {
            Some(_) => self.unsent.len() > UNSENT_MOST_BYTES,
            None => self.outgoing.len() > UNSENT_MOST_BYTES,
        }
    }

    /// A socket is being connected.
    pub(crate) fn begin_opening(&mut self, now: Instant, gently: bool) {
        self.state = State::Opening;
        self.gently = gently;
        self.since = now;
        self.crowded = false;
        self.proven = false;
    }

    /// There was no place for it. The time since it began to be opened goes on.
    pub(crate) fn wait(&mut self) {
        self.state = State::Waiting;
        self.crowded = true;
    }

    /// The socket is being connected again, after a wait.
    pub(crate) fn resume_opening(&mut self) {
        self.state = State::Opening;
    }

    /// The socket is connected. Requests that another socket did not carry to an answer are still pending.
    pub(crate) fn opened(&mut self, now: Instant) {
        self.state = State::Open;
        self.since = now;
        self.tries = 0;
    }

    /// Requests are about to be written, the last ones being wholly on their way or in the layers.
    #[inline]
    pub(crate) fn begin_writing(&mut self) {
        self.outgoing.clear();
        if self.layers.is_none() {
            self.unsent = 0..0;
        }
    }

    /// Gives the connection its layers back, which may have more to send than before.
    pub(crate) fn put_back(&mut self, layers: Box<Layers>) {
        self.unsent.end = layers.wire.len() as u32;
        self.layers = Some(layers);
    }

    /// The system took some of what goes over the wire. If that was all, the layers need not keep it.
    #[inline]
    pub(crate) fn forget_sent(&mut self) {
        if let Some(layers) = &mut self.layers
            && self.unsent.is_empty()
        {
            layers.clear_wire();
            self.unsent = 0..0;
            self.asked_until = 0;
        }
    }

    /// The socket is gone.
    pub(crate) fn close(&mut self) {
        self.state = State::Closed;
        self.unsent = 0..0;
        self.asked_until = 0;
        self.unfilled = false;
    }

    /// True if at least one response came over this socket.
    pub(crate) fn proven(&self) -> bool {
        self.proven
    }

    /// A response came over this socket.
    pub(crate) fn prove(&mut self) {
        self.proven = true;
    }

    /// One more request is under way: its place among `depth`.
    pub(crate) fn push(&mut self, depth: u16, expect: Expect) -> u16 {
        if self.pending == 0 {
            self.parser.reset(expect);
        }
        let place = self.places.take(self.pending, depth);
        self.pending += 1;
        place
    }

    /// The place of the request that is number `index` among those under way, the oldest being 0.
    pub(crate) fn place(&self, index: u16, depth: u16) -> u16 {
        self.places.at(index, depth)
    }

    /// Request number `index` is not under way any more; if answers come in order, that is the oldest.
    pub(crate) fn remove(&mut self, index: u16, depth: u16) {
        self.places.free(index, depth);
        self.pending -= 1;
    }

    /// The response to come answers a request with this expectation.
    pub(crate) fn expect(&mut self, expect: Expect) {
        self.parser.reset(expect);
    }

    /// Bytes of a body that are to come and that nobody has to see.
    pub(crate) fn unseen_bytes(&self) -> u64 {
        if self.pending > 0 { self.parser.unseen_bytes() } else { 0 }
    }

    /// So many bytes that nobody has to see came.
    pub(crate) fn skip(&mut self, count: u64) -> Outcome {
        match self.parser.skip(count) {
            None => Outcome::Pending,
            Some(response) => self.answered(response, 0),
        }
    }

    /// Bytes came.
    pub(crate) fn take(&mut self, bytes: &[u8], memory: &mut ParserMemory) -> Outcome {
        if self.pending == 0 {
            return Outcome::Gone;
        }
        match self.parser.advance(bytes, memory) {
            Err(malformed) => Outcome::Failed(malformed_failure(malformed)),
            Ok(advance) => match advance.response {
                None => Outcome::Pending,
                Some(_) if advance.consumed < bytes.len() && self.pending == 1 => {
                    Outcome::Failed(FailureKind::BytesAfterResponse)
                }
                Some(response) => self.answered(response, advance.consumed),
            },
        }
    }

    /// The connection ended.
    pub(crate) fn end(&mut self, end: End) -> Ending {
        if self.pending == 0 {
            return Ending::Idle;
        }
        match (self.parser.finish(), end) {
            (Finish::Complete(response), End::Closed) => Ending::Answered(response),
            (Finish::Within, End::Closed) => Ending::Within(FailureKind::ClosedWithinResponse),
            (Finish::Complete(_) | Finish::Within, End::Reset) => {
                Ending::Within(FailureKind::ResetWithinResponse)
            }
            (Finish::Before, _) => {
                let kind = match end {
                    _ if self.sending() => FailureKind::SendReset,
                    End::Closed => FailureKind::ClosedBeforeResponse,
                    End::Reset => FailureKind::ResetBeforeResponse,
                };
                Ending::Before { kind, given_up: self.proven }
            }
        }
    }

    /// An answer to a request that is not fully written leaves the rest of it unread: the connection is spent.
    /// What is unwritten while several are under way belongs to later ones.
    fn answered(&self, response: Response, consumed: usize) -> Outcome {
        let unread = self.pending == 1 && self.sending();
        let reusable = response.keep_alive && !unread;
        Outcome::Answered { response, reusable, consumed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    fn waiting() -> Connection {
        let mut connection = Connection::new(Places::InOrder { first: 0 });
        connection.begin_opening(Instant::from_nanos(0), true);
        connection.opened(Instant::from_nanos(1));
        connection.push(4, Expect::Body);
        connection
    }

    fn proven() -> Connection {
        let mut connection = waiting();
        let answered = connection.take(OK, &mut ParserMemory::new());
        assert!(matches!(answered, Outcome::Answered { reusable: true, .. }));
        connection.prove();
        connection.remove(0, 4);
        connection.push(4, Expect::Body);
        connection
    }

    #[test]
    fn a_response_in_two_pieces_is_one_answer() {
        let mut connection = waiting();
        let mut memory = ParserMemory::new();
        assert_eq!(connection.take(&OK[..20], &mut memory), Outcome::Pending);
        let Outcome::Answered { response, reusable, consumed } = connection.take(&OK[20..], &mut memory)
        else {
            panic!("not answered");
        };
        assert_eq!((response.status, response.body_bytes, reusable), (200, 2, true));
        assert_eq!(consumed, OK.len() - 20);
    }

    #[test]
    fn pipelined_responses_answer_the_oldest_request_first() {
        let mut connection = waiting();
        let mut memory = ParserMemory::new();
        connection.push(4, Expect::Body);
        let bytes = [OK, OK].concat();
        let Outcome::Answered { consumed, .. } = connection.take(&bytes, &mut memory) else {
            panic!("not answered");
        };
        assert_eq!((consumed, connection.place(0, 4)), (OK.len(), 0));
        connection.remove(0, 4);
        connection.expect(Expect::Body);
        assert_eq!(connection.place(0, 4), 1);
        assert!(matches!(connection.take(&bytes[consumed..], &mut memory), Outcome::Answered { .. }));
    }

    #[test]
    fn an_end_is_named_after_where_and_how_it_struck() {
        let before = |kind| Ending::Before { kind, given_up: false };
        assert_eq!(waiting().end(End::Closed), before(FailureKind::ClosedBeforeResponse));
        assert_eq!(waiting().end(End::Reset), before(FailureKind::ResetBeforeResponse));
        let mut begun = waiting();
        begun.take(&OK[..20], &mut ParserMemory::new());
        assert_eq!(begun.end(End::Closed), Ending::Within(FailureKind::ClosedWithinResponse));
        let mut begun = waiting();
        begun.take(&OK[..20], &mut ParserMemory::new());
        assert_eq!(begun.end(End::Reset), Ending::Within(FailureKind::ResetWithinResponse));
        let mut sending = waiting();
        (sending.unsent, sending.asked_until) = (3..10, 10);
        assert_eq!(sending.end(End::Reset), before(FailureKind::SendReset));
    }

    #[test]
    fn only_a_connection_that_answered_before_can_have_been_given_up() {
        let given_up = |kind| Ending::Before { kind, given_up: true };
        assert_eq!(proven().end(End::Closed), given_up(FailureKind::ClosedBeforeResponse));
        assert_eq!(proven().end(End::Reset), given_up(FailureKind::ResetBeforeResponse));
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
        let mut connection = waiting();
        (connection.unsent, connection.asked_until) = (3..10, 10);
        let outcome = connection.take(OK, &mut ParserMemory::new());
        assert!(matches!(outcome, Outcome::Answered { reusable: false, .. }));
    }

    #[test]
    fn a_close_delimited_body_ends_with_the_connection_but_not_with_a_reset() {
        let head = b"HTTP/1.1 200 OK\r\n\r\nbody";
        let mut connection = waiting();
        connection.take(head, &mut ParserMemory::new());
        assert!(matches!(connection.end(End::Closed), Ending::Answered(_)));
        let mut connection = waiting();
        connection.take(head, &mut ParserMemory::new());
        assert_eq!(connection.end(End::Reset), Ending::Within(FailureKind::ResetWithinResponse));
    }

    #[test]
    fn an_end_without_a_request_under_way_is_nobodys_failure() {
        let mut connection = proven();
        connection.remove(0, 4);
        assert_eq!(connection.end(End::Closed), Ending::Idle);
        assert_eq!(connection.take(b"x", &mut ParserMemory::new()), Outcome::Gone);
    }
}

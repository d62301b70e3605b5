use std::sync::mpsc::sync_channel;

use plimsoll_plan::{Level, Shard};
use plimsoll_record::Counts;

use super::*;
use crate::frame_recorder::{FrameChannel, FrameRecorder};
use crate::requests::{FixedRequest, Source, Traffic};
use crate::step_spec::StepSpec;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

/// One connection of depth 4 and what it shares.
struct Fixture {
    connection: Connection,
    shared: Shared,
}

impl Fixture {
    /// A closed connection for requests of this method.
    fn new(method: &str) -> Self {
        let traffic = Traffic::Fixed(FixedRequest::new(REQUEST.to_vec(), method));
        let spec = StepSpec {
            step: 0,
            level: Level::Closed { connections: 1, depth: 4 },
            duration: std::time::Duration::from_secs(1),
            destinations: Vec::new(),
            sources: Vec::new(),
            traffic,
            requests: 1,
            depth: 4,
            requests_max: None,
            streams: false,
            tls: None,
            workers: 1,
            group: None,
            timeout: std::time::Duration::from_secs(1),
            connections_max: 1,
            interval: std::time::Duration::from_secs(1),
            seed: 1,
            driver: None,
            origin: at(0),
        };
        let shard = Shard { index: 0, of: 1 };
        let ((full, _), (_, empty)) = (sync_channel(1), sync_channel(1));
        let recorder = FrameRecorder::new(0, shard, 1, FrameChannel { full, empty }, at(0));
        let source = Source::new(&spec.traffic, shard).unwrap();
        let mut shared = Shared::new(recorder, source, &spec, 1);
        Self { connection: Connection::new(&mut shared), shared }
    }

    /// An open connection.
    fn open(method: &str) -> Self {
        let mut fixture = Self::new(method);
        fixture.reconnect();
        fixture
    }

    fn reconnect(&mut self) {
        self.connection.begin_connecting(at(1), true);
        assert!(!self.connection.begin_handshake(ProtocolStack::Plain, at(2)));
        self.connection.opened(at(3));
    }

    /// An open connection that has written a request and sent it.
    fn busy() -> Self {
        let mut fixture = Self::open("GET");
        fixture.write_and_send();
        fixture
    }

    /// A busy connection that has answered a request before.
    fn answered_before() -> Self {
        let mut fixture = Self::busy();
        assert_eq!(fixture.read(OK), ReadOutcome::Answered);
        fixture.write_and_send();
        fixture
    }

    fn write(&mut self) {
        self.connection.begin_writing();
        assert!(self.connection.write(at(4), at(5), &mut self.shared));
    }

    fn write_and_send(&mut self) {
        self.write();
        self.connection.sent(REQUEST.len());
    }

    fn read(&mut self, bytes: &[u8]) -> ReadOutcome {
        self.connection.read(&mut bytes.to_vec(), at(6), &mut self.shared)
    }

    /// The peer ends the connection; gives the failures then.
    fn close(&mut self, close: CloseKind) -> Vec<FailureKind> {
        assert!(self.connection.settle_close(close, at(7), &mut self.shared));
        self.failures()
    }

    fn counts(&mut self) -> &Counts {
        self.shared.ledger.recorder.counts(0)
    }

    fn failures(&mut self) -> Vec<FailureKind> {
        self.counts().failed.iter().map(|(kind, _)| kind).collect()
    }
}

#[test]
fn a_connection_goes_through_its_states() {
    let mut fixture = Fixture::new("GET");
    let connection = &mut fixture.connection;
    assert_eq!((connection.state(), connection.attempt()), (State::Closed, None));
    connection.begin_connecting(at(1), true);
    connection.wait_for_accept_queue();
    assert!(matches!(connection.state(), State::Queued(attempt) if attempt.queue_was_full));
    connection.retry_connecting();
    assert_eq!((connection.count_address_in_use(), connection.count_address_in_use()), (1, 2));
    assert!(!connection.begin_handshake(ProtocolStack::Plain, at(2)));
    let attempt = connection.attempt().unwrap();
    assert_eq!((attempt.began, attempt.queue_was_full, attempt.rate_limited), (at(1), true, true));
    assert_eq!((connection.opened(at(3)), connection.idle_since()), (at(1), at(3)));
    connection.close();
    assert_eq!((connection.state(), connection.room()), (State::Closed, 0));
}

#[test]
#[should_panic(expected = "connects while")]
fn an_open_connection_cannot_connect() {
    Fixture::open("GET").connection.begin_connecting(at(9), false);
}

#[test]
#[should_panic(expected = "closed twice")]
fn a_closed_connection_cannot_be_closed() {
    Fixture::new("GET").connection.close();
}

#[test]
fn room_is_what_the_depth_leaves_and_none_while_bytes_are_unsent() {
    let mut fixture = Fixture::open("GET");
    assert_eq!(fixture.connection.room(), 4);
    fixture.write();
    assert_eq!((fixture.connection.in_flight(), fixture.connection.room()), (1, 0));
    fixture.connection.sent(REQUEST.len());
    assert_eq!(fixture.connection.room(), 3);
}

#[test]
fn a_response_in_two_pieces_is_one_answer() {
    let mut fixture = Fixture::busy();
    assert_eq!(fixture.read(&OK[..20]), ReadOutcome::Incomplete);
    assert_eq!(fixture.read(&OK[20..]), ReadOutcome::Answered);
    assert_eq!((fixture.counts().completed, fixture.counts().status.iter().next()), (1, Some((200, 1))));
    assert_eq!(fixture.shared.ledger.in_flight(), 0);
}

#[test]
fn pipelined_responses_answer_the_requests_in_order() {
    let mut fixture = Fixture::busy();
    fixture.write_and_send();
    assert_eq!(fixture.connection.oldest_sent(&fixture.shared.ledger), Some(at(5)));
    assert_eq!(fixture.read(&[OK, &OK[..9]].concat()), ReadOutcome::Answered);
    assert_eq!((fixture.counts().completed, fixture.connection.in_flight()), (1, 1));
    assert_eq!(fixture.read(&OK[9..]), ReadOutcome::Answered);
    assert_eq!((fixture.counts().completed, fixture.connection.in_flight()), (2, 0));
}

#[test]
fn an_end_is_named_after_where_and_how_it_struck() {
    let (orderly, reset) = (CloseKind::Orderly, CloseKind::Reset);
    assert_eq!(Fixture::busy().close(orderly), [FailureKind::ClosedBeforeResponse]);
    assert_eq!(Fixture::busy().close(reset), [FailureKind::ResetBeforeResponse]);
    for (close, kind) in
        [(orderly, FailureKind::ClosedWithinResponse), (reset, FailureKind::ResetWithinResponse)]
    {
        let mut begun = Fixture::busy();
        begun.read(&OK[..20]);
        assert_eq!(begun.close(close), [kind]);
    }
    let mut sending = Fixture::open("GET");
    sending.write();
    assert_eq!(sending.close(reset), [FailureKind::SendReset]);
}

#[test]
fn only_a_connection_that_answered_before_was_closed_between_requests() {
    for close in [CloseKind::Orderly, CloseKind::Reset] {
        let mut fixture = Fixture::answered_before();
        assert_eq!(fixture.close(close), []);
        assert_eq!((fixture.connection.in_flight(), fixture.counts().reconnects), (1, 1));
        // The request goes out again on the next socket, as a whole.
        fixture.connection.close();
        fixture.reconnect();
        fixture.connection.write_again(at(8), &mut fixture.shared);
        assert!(fixture.connection.has_unsent());
        assert_eq!(fixture.connection.oldest_sent(&fixture.shared.ledger), Some(at(8)));
        // A second time it fails by name.
        fixture.connection.sent(REQUEST.len());
        assert_eq!(fixture.close(close).len(), 1);
    }
}

#[test]
fn a_request_that_is_not_idempotent_is_not_sent_again() {
    let mut fixture = Fixture::open("POST");
    fixture.write_and_send();
    assert_eq!(fixture.read(OK), ReadOutcome::Answered);
    fixture.write_and_send();
    assert_eq!(fixture.close(CloseKind::Orderly), [FailureKind::ClosedBeforeResponse]);
    assert_eq!(fixture.connection.in_flight(), 0);
}

#[test]
fn bytes_beyond_the_response_are_a_failure_of_their_own() {
    let mut fixture = Fixture::busy();
    let outcome = fixture.read(&[OK, b"more"].concat());
    assert_eq!(outcome, ReadOutcome::RequestFailed(FailureKind::BytesAfterResponse));
    assert_eq!(fixture.counts().completed, 0);
}

#[test]
fn an_answer_before_the_request_is_sent_to_its_end_retires_the_connection() {
    let mut fixture = Fixture::open("GET");
    fixture.write();
    fixture.connection.sent(3);
    assert_eq!(fixture.read(OK), ReadOutcome::Retired);
    assert_eq!(fixture.counts().completed, 1);
}

#[test]
fn an_answer_while_nothing_is_written_does_not_retire_the_connection() {
    let mut fixture = Fixture::busy();
    // A refill that finds no request due begins to write and writes nothing.
    fixture.connection.begin_writing();
    assert_eq!(fixture.read(OK), ReadOutcome::Answered);
}

#[test]
fn a_close_delimited_body_ends_with_the_connection_but_not_with_a_reset() {
    let head = b"HTTP/1.1 200 OK\r\n\r\nbody";
    let mut fixture = Fixture::busy();
    fixture.read(head);
    assert_eq!((fixture.close(CloseKind::Orderly), fixture.counts().completed), (vec![], 1));
    let mut fixture = Fixture::busy();
    fixture.read(head);
    assert_eq!(fixture.close(CloseKind::Reset), [FailureKind::ResetWithinResponse]);
}

#[test]
fn an_end_without_a_request_under_way_is_no_failure() {
    let mut fixture = Fixture::busy();
    fixture.read(OK);
    assert!(!fixture.connection.settle_close(CloseKind::Orderly, at(7), &mut fixture.shared));
    assert_eq!((fixture.failures(), fixture.read(b"x")), (vec![], ReadOutcome::Unrequested));
}

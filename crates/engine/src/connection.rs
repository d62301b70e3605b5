//! One connection as a state machine. It does no I/O and reads no clock, so all drivers share it and its tests need no
//! network.
//!
//! ```text
//!          begin_connecting           begin_handshake              opened
//!   Closed ----------------> Connecting -------------> Handshaking --------> Open
//!     ^                        |    ^                      |                  |
//!     |  wait_for_accept_queue |    | retry_connecting     |                  | idle <--> busy
//!     |                        v    |                      |                  |
//!     |                        Queued                      |                  |
//!     |                           |                        |                  |
//!     +----------- close ---------+------------------------+------------------+
//!                  failed, timed out, reset, retired by the server
//! ```
//!
//! - `Queued`: a unix socket's accept queue was full; the worker connects again after a pause.
//! - `Handshaking`: the socket is connected. Without TLS there is no handshake, and the connection is opened at once.
//! - `Open` is idle or busy, depending on the requests in flight ([`InFlight`]). A connection of a closed loop may also be in
//!   think time before its next request ([`ThinkTime`]); pipelined and HTTP/2 requests may be in flight meanwhile.
//! - Closing is not a state: the socket is closed at once. Requests that may be sent again stay in flight through `Closed`
//!   and `Connecting`, and are sent first when the connection is open again.
//!
//! The worker drives it: `worker/connecting.rs` through the states, `worker/sending.rs` and `worker/receiving.rs` while it
//! is open. A transition from a state that does not allow it is a bug and panics.

use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use in_flight::InFlight;
use outgoing::Outgoing;

mod in_flight;
mod inspector;
mod ledger;
mod outgoing;
mod stack;
mod streams;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use in_flight::{CloseKind, ReadOutcome};
pub(crate) use ledger::{Ledger, Shared};
pub(crate) use stack::{Negotiated, ProtocolStack};

/// The state of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no socket.
    Closed,
    /// There is no socket, because the server's accept queue was full; the worker connects again later.
    Queued(Attempt),
    /// The socket is connecting.
    Connecting(Attempt),
    /// The socket was connected at this instant; TLS is being negotiated.
    Handshaking(Attempt, Instant),
    /// Ready for requests, or carrying them. The instant says since when it is idle, if it is.
    Open(Instant),
}

/// An attempt to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) began: Instant,
    /// True if it counts towards the limit of simultaneous connection attempts: it is the connection's first, or follows a
    /// refusal. A connection that the server closed reconnects without limit, because its responses pace it.
    pub(crate) rate_limited: bool,
    /// The server's accept queue was full at least once.
    pub(crate) queue_was_full: bool,
    /// Number of local addresses tried that were in use.
    pub(crate) addresses_in_use: u8,
}

/// The think time before the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkTime {
    /// The source was not asked for it yet.
    Unknown,
    /// It is running.
    Running,
    /// It is over.
    Over,
}

/// One connection. Small, because there may be very many.
#[derive(Debug)]
pub(crate) struct Connection {
    state: State,
    /// In a closed loop: when the next request was due, if it could not be sent then.
    pub(crate) due: Option<Instant>,
    pub(crate) think_time: ThinkTime,
    /// True if it is in the worker's queue of connections with room for a request.
    pub(crate) listed: bool,
    /// When bytes last arrived through the TLS or HTTP/2 layer.
    received_at: Instant,
    stack: ProtocolStack,
    requests: InFlight,
    outgoing: Outgoing,
}

// Ten thousand connections hold this structure ten thousand times, plus requests, buffers and layers.
const _: () = assert!(size_of::<Connection>() <= 256);

impl Connection {
    /// Creates a closed connection with its own positions in the ledger.
    pub(crate) fn new(shared: &mut Shared) -> Self {
        Self {
            state: State::Closed,
            due: None,
            think_time: ThinkTime::Unknown,
            listed: false,
            received_at: Instant::from_nanos(0),
            stack: ProtocolStack::Plain,
            requests: InFlight::new(shared),
            outgoing: Outgoing::default(),
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        self.state
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    #[inline]
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(self.state, State::Handshaking(..))
    }

    /// The current attempt to connect, if there is one.
    pub(crate) fn attempt(&self) -> Option<Attempt> {
        match self.state {
            State::Queued(attempt) | State::Connecting(attempt) | State::Handshaking(attempt, _) => {
                Some(attempt)
            }
            State::Closed | State::Open(_) => None,
        }
    }

    /// `Closed` → `Connecting`.
    pub(crate) fn begin_connecting(&mut self, now: Instant, rate_limited: bool) {
        assert!(self.state == State::Closed, "connects while {:?}", self.state);
        let attempt = Attempt { began: now, rate_limited, queue_was_full: false, addresses_in_use: 0 };
        self.state = State::Connecting(attempt);
        self.requests.answered_before = false;
    }

    /// `Connecting` → `Queued`: the server's accept queue was full.
    pub(crate) fn wait_for_accept_queue(&mut self) {
        let attempt = self.connecting();
        self.state = State::Queued(Attempt { queue_was_full: true, ..attempt });
    }

    /// `Queued` → `Connecting`.
    pub(crate) fn retry_connecting(&mut self) {
        let State::Queued(attempt) = self.state else { unreachable!("retries while {:?}", self.state) };
        self.state = State::Connecting(attempt);
    }

    /// Stays in `Connecting` and tries another local address, because the last one was in use; returns how many were.
    pub(crate) fn count_address_in_use(&mut self) -> u32 {
        let mut attempt = self.connecting();
        attempt.addresses_in_use = attempt.addresses_in_use.saturating_add(1);
        self.state = State::Connecting(attempt);
        attempt.addresses_in_use.into()
    }

    fn connecting(&self) -> Attempt {
        let State::Connecting(attempt) = self.state else {
            unreachable!("connecting while {:?}", self.state)
        };
        attempt
    }

    /// `Connecting` → `Handshaking`: the socket is connected, and the stack has begun to write to it. Returns true if a TLS
    /// handshake is needed; otherwise the caller opens the connection at once.
    pub(crate) fn begin_handshake(&mut self, stack: ProtocolStack, now: Instant) -> bool {
        self.state = State::Handshaking(self.connecting(), now);
        self.outgoing.clear_unsent();
        self.outgoing.set_end(stack.wire().len());
        self.stack = stack;
        self.stack.is_handshaking()
    }

    /// `Handshaking` → `Open`; returns when the attempt began. Requests that were not answered on the last socket are still in
    /// flight.
    pub(crate) fn opened(&mut self, now: Instant) -> Instant {
        let State::Handshaking(attempt, _) = self.state else {
            unreachable!("opened while {:?}", self.state)
        };
        self.state = State::Open(now);
        attempt.began
    }

    /// Any other state → `Closed`. The socket is gone; requests stay in flight.
    pub(crate) fn close(&mut self) {
        assert!(self.state != State::Closed, "closed twice");
        self.state = State::Closed;
        self.outgoing.discard();
    }

    /// `Open`: marks the connection as idle from `now`.
    pub(crate) fn rest(&mut self, now: Instant) {
        debug_assert!(self.is_open(), "idle while {:?}", self.state);
        self.state = State::Open(now);
        self.due = None;
    }

    /// Since when an idle connection has been idle.
    pub(crate) fn idle_since(&self) -> Instant {
        let State::Open(since) = self.state else { unreachable!("idle while {:?}", self.state) };
        since
    }

    /// The number of requests in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> u16 {
        self.requests.len()
    }

    /// True if at least one response came over the current socket.
    pub(crate) fn answered_before(&self) -> bool {
        self.requests.answered_before
    }

    /// When bytes last arrived, on a connection with a TLS or HTTP/2 layer.
    pub(crate) fn received_at(&self) -> Instant {
        self.received_at
    }

    /// True if the connection has a TLS or HTTP/2 layer.
    #[inline]
    pub(crate) fn is_layered(&self) -> bool {
        !self.stack.is_plain()
    }

    /// True once the peer has closed the TLS session.
    pub(crate) fn peer_closed_tls(&self) -> bool {
        self.stack.peer_closed()
    }

    /// True if the server has sent GOAWAY and no request is in flight.
    pub(crate) fn is_turned_away(&self) -> bool {
        self.requests.is_empty() && self.stack.h2().is_some_and(|h2| h2.going_away().is_some())
    }

    /// True if an open connection carries no request because the server allows no streams.
    pub(crate) fn is_barred(&self) -> bool {
        let none_allowed = || self.stack.h2().is_some_and(|h2| h2.server_streams() == 0);
        self.is_open() && self.requests.is_empty() && none_allowed()
    }

    /// Number of bytes to come that may be discarded unseen: the rest of a body.
    #[inline]
    pub(crate) fn discardable_bytes(&self, ledger: &Ledger) -> u64 {
        if self.is_layered() || ledger.inspector.wants_bytes() {
            0
        } else {
            self.requests.discardable_bytes()
        }
    }

    /// Reads bytes of a TLS handshake; returns the negotiated values once they are known.
    pub(crate) fn read_handshake(
        &mut self,
        bytes: &mut [u8],
        now: Instant,
        shared: &mut Shared,
    ) -> Result<Option<Negotiated>, FailureKind> {
        let Self { stack, requests, outgoing, .. } = self;
        let mut outcome = ReadOutcome::Incomplete;
        let read = stack.read(bytes, |h2, plain, out| {
            // An HTTP/2 server may send its settings together with the end of the handshake.
            if let Some(h2) = h2 {
                outcome = outcome.then(|| requests.read_h2(h2, (plain, out), now, shared));
            }
        });
        outgoing.set_end(stack.wire().len());
        read.map_err(|failure| shared.first.tls_failed(failure))?;
        match outcome {
            ReadOutcome::Failed(kind) => Err(kind),
            _ if stack.is_handshaking() => Ok(None),
            _ => {
                if let Some(established) = stack.established() {
                    shared.first.established.get_or_init(|| established.clone());
                }
                Ok(stack.negotiated())
            }
        }
    }

    /// Reads bytes of responses.
    #[inline]
    pub(crate) fn read(&mut self, bytes: &mut [u8], now: Instant, shared: &mut Shared) -> ReadOutcome {
        if self.stack.is_plain() {
            return self.requests.read_http1(bytes, self.outgoing.is_sending(), now, shared);
        }
        self.received_at = now;
        let before = self.requests.len();
        let outcome = self.read_layered(bytes, now, shared);
        let ended = before - self.requests.len();
        if outcome.goes_on() { self.resend_refused(ended, now, shared).unwrap_or(outcome) } else { outcome }
    }

    fn read_layered(&mut self, bytes: &mut [u8], now: Instant, shared: &mut Shared) -> ReadOutcome {
        let Self { stack, requests, outgoing, .. } = self;
        let sending = outgoing.is_sending();
        let mut outcome = ReadOutcome::Incomplete;
        let read = stack.read(bytes, |h2, plain, out| {
            outcome = outcome.then(|| match h2 {
                None => requests.read_http1(plain, sending, now, shared),
                Some(h2) => requests.read_h2(h2, (plain, out), now, shared),
            });
        });
        outgoing.set_end(stack.wire().len());
        match read {
            Ok(()) => outcome,
            Err(failure) => outcome.then(|| ReadOutcome::Failed(shared.first.tls_failed(failure))),
        }
    }

    /// Accounts for bytes of a body that arrived and were discarded.
    pub(crate) fn skip(&mut self, count: u64, now: Instant, shared: &mut Shared) -> ReadOutcome {
        self.requests.skip(count, self.outgoing.is_sending(), now, &mut shared.ledger)
    }

    /// Sends refused requests again, after `ended` other requests have ended, one for each stream that became free. If no
    /// stream is in use, sends all refused requests. A connection that takes no more requests is retired once it carries
    /// none.
    pub(crate) fn resend_refused(
        &mut self,
        ended: u16,
        now: Instant,
        shared: &mut Shared,
    ) -> Option<ReadOutcome> {
        let going_away = self.stack.h2()?.going_away().is_some();
        let refused = self.requests.refused().len() as u16;
        let on_streams = self.requests.len() - refused;
        if going_away {
            return (on_streams == 0).then_some(ReadOutcome::Retired);
        }
        for _ in 0..if on_streams == 0 { refused } else { ended.min(refused) } {
            if self.stack.h2().is_none_or(|h2| h2.capacity() == 0) {
                break;
            }
            self.resend_first_refused(now, shared);
        }
        None
    }

    /// Sends the request again that was refused first, unless it was refused too often.
    fn resend_first_refused(&mut self, now: Instant, shared: &mut Shared) {
        let Some(&entry) = self.requests.refused().first() else { return };
        let Some(index) = self.requests.index_of(entry) else { return };
        if self.requests.requeue(index, true, &mut shared.ledger) {
            let newest = self.requests.len() - 1;
            self.requests.request_mut(newest, &mut shared.ledger).sent = now;
            if !self.write_to_stack(entry, 0, shared) {
                self.requests.mark_refused(entry);
            }
        }
    }

    /// The peer ended the connection: settles the requests in flight. Requests that may be sent again stay. Returns false if
    /// none were in flight.
    pub(crate) fn settle_close(&mut self, close: CloseKind, now: Instant, shared: &mut Shared) -> bool {
        if self.requests.is_empty() {
            return false;
        }
        if shared.ledger.uses_streams() {
            self.requests.close_h2(self.stack.h2_mut(), close, now, shared);
        } else {
            let ending = (self.outgoing.is_sending(), self.stack.is_truncated());
            self.requests.close_http1(close, ending, now, &mut shared.ledger);
        }
        true
    }

    /// Settles requests in flight that got no response, because the server ended the connection or because it failed as `kind`.
    /// If the server closed it between two requests, the requests that may be sent again stay.
    pub(crate) fn settle_unanswered(
        &mut self,
        kind: FailureKind,
        between_requests: bool,
        ledger: &mut Ledger,
    ) {
        self.requests.settle_unanswered(kind, between_requests, ledger);
    }

    /// Fails the oldest request.
    pub(crate) fn fail_oldest(&mut self, kind: FailureKind, ledger: &mut Ledger) {
        self.requests.fail(0, kind, ledger);
    }

    /// Fails all requests.
    pub(crate) fn fail_all(&mut self, kind: FailureKind, ledger: &mut Ledger) {
        self.requests.fail_all(kind, ledger);
    }

    /// When the oldest request was sent; `None` if none is in flight.
    pub(crate) fn oldest_sent(&self, ledger: &Ledger) -> Option<Instant> {
        (!self.requests.is_empty()).then(|| self.requests.request(0, ledger).sent)
    }

    /// Gives up all requests; they are recorded at their current age.
    pub(crate) fn give_up_all(&mut self, kind: FailureKind, now: Instant, ledger: &mut Ledger) {
        while !self.requests.is_empty() {
            self.requests.give_up_oldest(kind, now, ledger);
        }
    }

    /// Gives up the oldest request and cancels its stream; other streams continue.
    pub(crate) fn cancel_oldest(&mut self, now: Instant, shared: &mut Shared) {
        let refused = self.requests.is_refused(0);
        let kind = if refused { FailureKind::H2Refused } else { FailureKind::TimedOut };
        self.cancel_stream(self.requests.entry(0), shared);
        self.requests.give_up_oldest(kind, now, &mut shared.ledger);
    }
}

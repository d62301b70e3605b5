//! Requests on the streams of an HTTP/2 connection, whose responses come in any order and which the server may refuse.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::in_flight::{CloseKind, InFlight, ReadOutcome};
use super::ledger::{Ledger, Shared};
use crate::failure::{broken_failure, stream_failure};

/// How often a refused request is sent again. RFC 9113, section 8.7, sets no limit, but a request to a server that refuses
/// everything must end.
const MAX_REFUSALS: u8 = 3;

impl InFlight {
    /// Reads bytes of an HTTP/2 connection; immediate replies are appended to `out`.
    pub(super) fn read_h2(
        &mut self,
        client: &mut h2::Connection,
        (bytes, out): (&[u8], &mut Vec<u8>),
        now: Instant,
        shared: &mut Shared,
    ) -> ReadOutcome {
        let Shared { ledger, h2: Some(memory), first, .. } = shared else { return ReadOutcome::Incomplete };
        let replied_before = out.len();
        let mut outcome = ReadOutcome::Incomplete;
        let received = client.receive(bytes, memory, out, &mut |event| {
            if self.settle_event(event, now, ledger) {
                outcome = ReadOutcome::Answered;
            }
        });
        if let Err(broken) = received {
            return ReadOutcome::Failed(broken_failure(broken));
        }
        // The server's settings are its first frame, so the first reply acknowledges them.
        if out.len() > replied_before {
            first.http2.get_or_init(|| ());
            first.allows_streams(client.server_streams());
        }
        outcome
    }

    /// Settles the event of a stream; returns true if it ended the request.
    fn settle_event(&mut self, event: h2::Event<'_>, now: Instant, ledger: &mut Ledger) -> bool {
        match event {
            h2::Event::Field { tag, name, value } => {
                ledger.inspector.keep_field(self.position(tag as u16), name, value);
                return false;
            }
            h2::Event::Body { tag, bytes } => {
                ledger.inspector.keep(self.position(tag as u16), bytes);
                return false;
            }
            h2::Event::Answered { tag, response } => {
                if let Some(index) = self.index_of(tag as u16) {
                    self.complete(index, response, now, ledger);
                }
            }
            h2::Event::Malformed { tag, malformed } => {
                self.fail_entry(tag, stream_failure(malformed), ledger);
            }
            h2::Event::Reset { tag, .. } => self.fail_entry(tag, FailureKind::H2Reset, ledger),
            h2::Event::Cut { tag, begun: true } => {
                self.fail_entry(tag, FailureKind::ClosedWithinResponse, ledger);
            }
            // Settled with the other requests that the end of the connection leaves unanswered.
            h2::Event::Cut { begun: false, .. } => return false,
            h2::Event::Refused { tag } => {
                self.mark_refused(tag as u16);
                return false;
            }
        }
        true
    }

    fn fail_entry(&mut self, tag: u32, kind: FailureKind, ledger: &mut Ledger) {
        if let Some(index) = self.index_of(tag as u16) {
            self.fail(index, kind, ledger);
        }
    }

    /// Makes a refused request the newest one in flight. If the refusal `counts` and the request was refused too often, it
    /// fails instead. Returns true if it stays in flight.
    pub(super) fn requeue(&mut self, index: u16, counts: bool, ledger: &mut Ledger) -> bool {
        let mut request = *self.request(index, ledger);
        request.refusals += u8::from(counts);
        if request.refusals > MAX_REFUSALS {
            self.fail(index, FailureKind::H2Refused, ledger);
            return false;
        }
        self.remove(index, ledger);
        // The request gets the same entry again, because the entry freed last is used first.
        self.push(request, ledger);
        true
    }

    /// Settles the requests in flight when the connection ended. A request whose response had begun fails as cut off within it.
    pub(super) fn close_h2(
        &mut self,
        client: Option<&mut h2::Connection>,
        close: CloseKind,
        now: Instant,
        shared: &mut Shared,
    ) {
        let Shared { ledger, h2, .. } = shared;
        if let (Some(client), Some(memory)) = (client, h2) {
            client.finish(memory, &mut |event| {
                self.settle_event(event, now, ledger);
            });
        }
        self.settle_unanswered(close.before_response(), self.answered_before, ledger);
    }
}

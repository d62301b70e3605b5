//! Writes requests from the source through the protocol stack to the bytes that a connection has to send.
//!
//! `worker/sending.rs` writes those bytes to the socket.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::Connection;
use super::ledger::{Request, Shared};
use crate::driver::Payload;
use crate::requests::{Requests, Source};

/// A connection with more unsent bytes than this gets no further requests until they are sent.
const MAX_UNSENT_BYTES: usize = 64 * 1024;
/// Sent bytes are removed from the buffer only when they are this many and at least as many as the unsent bytes, so that a
/// removal never moves more bytes than were sent.
const MAX_SENT_BYTES: usize = 64 * 1024;

impl Connection {
    /// How many more requests can be written now.
    #[inline]
    pub(crate) fn room(&self) -> u16 {
        if !self.is_writable() {
            return 0;
        }
        match self.stack.h2() {
            None => self.requests.room(),
            // Refused requests have waited for a stream longer than any new one.
            Some(_) if !self.requests.refused().is_empty() => 0,
            Some(h2) => self.requests.room().min(u16::try_from(h2.capacity()).unwrap_or(u16::MAX)),
        }
    }

    /// True if a request can be written: the connection is open and nothing is unsent; with layers, up to
    /// [`MAX_UNSENT_BYTES`] may be unsent.
    #[inline]
    pub(crate) fn is_writable(&self) -> bool {
        let most = if self.is_layered() { MAX_UNSENT_BYTES } else { 0 };
        self.is_open() && self.outgoing.unsent().len() <= most
    }

    /// True if more than [`MAX_UNSENT_BYTES`] are written, so that more would only use memory. Fixed requests use none.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        let written =
            if self.is_layered() { self.outgoing.unsent().len() } else { self.outgoing.generated.len() };
        written > MAX_UNSENT_BYTES
    }

    /// True if the connection got fewer requests than it has room for, because they are long.
    #[inline]
    pub(crate) fn is_unfilled(&self) -> bool {
        self.outgoing.unfilled
    }

    pub(crate) fn set_unfilled(&mut self, unfilled: bool) {
        self.outgoing.unfilled = unfilled;
    }

    /// Prepares for new requests; the previous ones are sent, or in the stack.
    #[inline]
    pub(crate) fn begin_writing(&mut self) {
        self.outgoing.generated.clear();
        if self.stack.is_plain() {
            self.outgoing.clear_unsent();
        }
    }

    /// Writes the requests of one call of the source; returns false if the source has no more.
    #[inline]
    pub(crate) fn write(&mut self, intended: Instant, now: Instant, shared: &mut Shared) -> bool {
        let ledger = &mut shared.ledger;
        let generated_from = self.outgoing.generated.len();
        let Some(mut meta) = ledger.source.write(&mut self.outgoing.generated) else { return false };
        let fixed_bytes = ledger.source.fixed_bytes();
        if fixed_bytes.is_none() {
            // Without streams, `generated` holds only the last request, so pipelined ones cannot be sent again.
            meta.idempotent &= ledger.depth() == 1 || ledger.uses_streams();
        }
        let mut entry = 0;
        for _ in 0..ledger.source.batch() {
            ledger.recorder.counts(meta.request).sent += 1;
            entry = self.requests.push(Request::new(intended, now, meta), ledger);
        }
        if self.is_layered() {
            self.write_layered(entry, generated_from, shared);
            return true;
        }
        let end = match fixed_bytes {
            Some(length) => self.outgoing.unsent().end + length,
            None => self.outgoing.generated.len(),
        };
        self.outgoing.set_requests_end(end);
        true
    }

    /// Writes the newest request through the layers. A request that gets no stream fails.
    fn write_layered(&mut self, entry: u16, generated_from: usize, shared: &mut Shared) {
        // Requests on streams end in any order, so the bytes of each are kept by position.
        if let Some(kept) = shared.generated.get_mut(self.requests.position(entry)) {
            std::mem::swap(kept, &mut self.outgoing.generated);
            self.outgoing.generated.clear();
        }
        let written = self.write_to_stack(entry, generated_from, shared);
        self.outgoing.set_requests_end(self.stack.wire().len());
        if !written && shared.ledger.uses_streams() {
            self.requests.fail(self.requests.len() - 1, FailureKind::H2Refused, &mut shared.ledger);
        }
    }

    /// Writes the request with this entry to the stack. If it was generated and responses come in order, its bytes begin
    /// at `generated_from`. Returns false if the stack did not accept it.
    pub(super) fn write_to_stack(&mut self, entry: u16, generated_from: usize, shared: &mut Shared) -> bool {
        let position = self.requests.position(entry);
        let Shared { ledger, h2: memory, generated, .. } = shared;
        let (meta, observe) = (ledger.request(position).meta, ledger.inspector.wants_bytes());
        let bytes = match &ledger.source.requests {
            Requests::Fixed(request) => &request.bytes[..],
            Requests::Generated(_) if memory.is_some() => &generated[position],
            Requests::Generated(_) => &self.outgoing.generated[generated_from..],
        };
        let mut taken = true;
        let written = self.stack.write(|client, out| match (client, memory) {
            (Some(client), Some(memory)) => {
                let (block, body) = bytes.split_at(meta.head_bytes as usize);
                let request =
                    h2::Request { tag: u32::from(entry), block, body, expect: meta.expect, observe };
                taken = client.request(&request, memory, out);
            }
            _ => out.extend_from_slice(bytes),
        });
        self.outgoing.set_end(self.stack.wire().len());
        written.is_ok() && taken
    }

    /// Writes the unanswered requests of the last socket again on a new one. The new connection may allow fewer streams than
    /// were in use: a request that gets none waits for one.
    pub(crate) fn write_again(&mut self, now: Instant, shared: &mut Shared) {
        for index in 0..self.requests.len() {
            self.requests.request_mut(index, &mut shared.ledger).sent = now;
        }
        if self.is_layered() {
            return self.write_layered_again(shared);
        }
        let length = match shared.ledger.source.fixed_bytes() {
            Some(length) => usize::from(self.requests.len()) * length,
            None => self.outgoing.generated.len(),
        };
        self.outgoing.clear_unsent();
        self.outgoing.set_requests_end(length);
    }

    fn write_layered_again(&mut self, shared: &mut Shared) {
        for index in 0..self.requests.len() {
            let entry = self.requests.entry(index);
            if !self.write_to_stack(entry, 0, shared) {
                self.requests.mark_refused(entry);
            }
        }
        self.outgoing.set_requests_end(self.stack.wire().len());
    }

    /// Tells the server that the response on this stream is no longer needed.
    pub(super) fn cancel_stream(&mut self, entry: u16, shared: &mut Shared) {
        let Some(memory) = &mut shared.h2 else { return };
        let written = self.stack.write(|client, out| {
            if let Some(client) = client {
                client.cancel(entry.into(), memory, out);
            }
        });
        if written.is_ok() {
            self.outgoing.set_end(self.stack.wire().len());
        }
    }

    /// The unsent bytes; `None` if all are sent.
    #[inline]
    pub(crate) fn unsent(&self, source: &Source) -> Option<Payload<'_>> {
        let unsent = self.outgoing.unsent();
        if unsent.is_empty() {
            return None;
        }
        Some(match (&source.requests, self.is_layered()) {
            (_, true) => Payload::Borrowed(&self.stack.wire()[unsent]),
            (Requests::Fixed(_), false) => Payload::Fixed(unsent),
            (Requests::Generated(_), false) => Payload::Borrowed(&self.outgoing.generated[unsent]),
        })
    }

    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        !self.outgoing.unsent().is_empty()
    }

    /// The last bytes of the layers for a connection that is being closed, such as a TLS alert.
    pub(crate) fn farewell(&self) -> Option<Payload<'_>> {
        if !self.is_open() && !self.is_handshaking() {
            return None;
        }
        let bytes = self.stack.wire().get(self.outgoing.unsent().start..)?;
        (!bytes.is_empty()).then_some(Payload::Borrowed(bytes))
    }

    /// The socket accepted `count` of the unsent bytes.
    #[inline]
    pub(crate) fn sent(&mut self, count: usize) {
        self.outgoing.advance(count);
        if !self.is_layered() {
            return;
        }
        if !self.has_unsent() {
            self.stack.clear_wire();
            self.outgoing.clear_unsent();
        } else if let Some(sent) = self.outgoing.take_sent(MAX_SENT_BYTES.max(self.outgoing.unsent().len())) {
            self.stack.drop_sent(sent);
        }
    }
}

//! Agreeing on encryption, and what else layers need before the first request.

use plimsoll_record::FailureKind;
use plimsoll_units::Clock;

use super::Worker;
use crate::connection::{End, State};
use crate::drive::{Driver, Payload, Received};
use crate::layers::{Agreed, Layers, tls_failure};
use crate::order::StepOrder;

/// Layers for a new connection, if the step needs any.
pub(super) fn layers(order: &StepOrder) -> Result<Option<Box<Layers>>, FailureKind> {
    let streams = order.streams.then(|| plimsoll_http::h2::Connection::new(u32::from(order.depth)));
    let session = match &order.tls {
        None => None,
        Some(tls) => Some(tls.client.session(&tls.name).map_err(|_| FailureKind::TlsHandshake)?),
    };
    if session.is_none() && streams.is_none() {
        return Ok(None);
    }
    Ok(Some(Box::new(Layers::new(session, streams))))
}

impl<D: Driver> Worker<D> {
    /// The socket is connected: gives it the layers it needs, and begins with them.
    pub(super) fn begin_layers(&mut self, slot: usize) {
        let begun = layers(&self.order).and_then(|layers| match layers {
            None => Ok(None),
            Some(mut layers) => match layers.begin() {
                Ok(()) => Ok(Some(layers)),
                Err(failure) => Err(tls_failure(&failure)),
            },
        });
        let connection = &mut self.exchanges.connections[slot];
        match begun {
            Err(kind) => self.securing_failed(slot, kind),
            Ok(None) => self.opened(slot),
            Ok(Some(layers)) => {
                connection.unsent = 0..layers.wire.len() as u32;
                let securing = layers.is_securing();
                connection.layers = Some(layers);
                connection.state = State::Securing;
                if !securing {
                    self.opened(slot);
                }
                self.flush(slot);
            }
        }
    }

    /// Reads the server's part of a handshake.
    pub(super) fn read_handshake(&mut self, slot: usize) {
        while self.exchanges.connections[slot].state == State::Securing {
            let heard = match self.driver.receive(slot, 0) {
                Ok(Received::Bytes { bytes: [], .. }) => return self.ended(slot, End::Closed),
                Ok(Received::Bytes { bytes, .. }) => {
                    self.exchanges.recorder.counts(0).bytes_in += bytes.len() as u64;
                    self.exchanges.hear_handshake(slot, bytes)
                }
                // Nothing can be unwanted before there are responses.
                Ok(Received::Discarded { .. }) => return self.ended(slot, End::Reset),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => return self.ended(slot, End::Reset),
            };
            match heard {
                Err(kind) => return self.securing_failed(slot, kind),
                Ok(None) => self.flush(slot),
                Ok(Some(agreed)) => self.secured(slot, agreed),
            }
        }
    }

    /// Encryption is agreed on.
    fn secured(&mut self, slot: usize, agreed: Agreed) {
        if !agreed.fits {
            return self.securing_failed(slot, FailureKind::TlsHandshake);
        }
        self.now = self.clock.now();
        let took_ns = self.now.nanos_since(self.exchanges.connections[slot].connected);
        self.exchanges.recorder.secured(took_ns, agreed.resumed);
        if self.exchanges.is_turned_away(slot) {
            return self.securing_failed(slot, FailureKind::H2Refused);
        }
        self.opened(slot);
        self.flush(slot);
        // What the server refuses together with the end of the handshake is known already.
        if self.exchanges.connections[slot].state == State::Open {
            self.heed_refusals(slot, 0);
        }
    }

    /// A connection that had to be encrypted could not be.
    pub(super) fn securing_failed(&mut self, slot: usize, kind: FailureKind) {
        self.now = self.clock.now();
        self.send_last_words(slot);
        self.driver.close(slot);
        self.opening_ended(slot);
        self.opening_failed(slot, kind);
    }

    /// Sends what the layers still have to say, if the system takes it at once.
    pub(super) fn send_last_words(&mut self, slot: usize) {
        let connection = &self.exchanges.connections[slot];
        if let Some(layers) = &connection.layers
            && let Some(words) = layers.wire.get(connection.unsent.start as usize..)
            && !words.is_empty()
            && self.driver.send(slot, Payload::Passing(words)).is_err()
        {
            // The connection is being given up anyway.
        }
    }
}

//! Requests on the streams of HTTP/2 connections, whose answers may come in any order.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::exchanges::{Course, Exchanges};
use crate::connection::End;
use crate::layers::{Layers, Places};

impl Exchanges {
    /// Bytes of HTTP/2 came; what must be said about them is added to `out`.
    pub(super) fn take_streams(
        &mut self,
        slot: usize,
        link: &mut h2::Connection,
        bytes: &[u8],
        out: &mut Vec<u8>,
        now: Instant,
    ) -> Course {
        let Some(mut memory) = self.streams.take() else { return Course::Going };
        let mut course = Course::Going;
        let received = link.receive(bytes, &mut memory, out, &mut |event| {
            if self.settle_stream(slot, event, now) {
                course = Course::Free;
            }
        });
        self.streams = Some(memory);
        match received {
            Err(_) => Course::Ruined(FailureKind::H2Protocol),
            Ok(()) if link.going_away().is_some() && self.all_refused(slot) => Course::Spent,
            Ok(()) => {
                if link.going_away().is_none() {
                    self.fail_refused(slot);
                }
                course
            }
        }
    }

    /// Takes in what happened to a stream; says whether that ended a request.
    fn settle_stream(&mut self, slot: usize, event: h2::Event<'_>, now: Instant) -> bool {
        match event {
            h2::Event::Field { tag, name, value } => {
                let place = self.place_of(slot, tag);
                self.observer.keep_field(place, name, value);
                return false;
            }
            h2::Event::Body { tag, bytes } => {
                let place = self.place_of(slot, tag);
                self.observer.keep(place, bytes);
                return false;
            }
            h2::Event::Answered { tag, response } => {
                if let Some(index) = self.index_of(slot, tag) {
                    self.complete(slot, index, response, now);
                }
            }
            h2::Event::Malformed { tag, .. } => self.fail_tag(slot, tag, FailureKind::MalformedHead),
            h2::Event::Reset { tag, .. } => self.fail_tag(slot, tag, FailureKind::H2Reset),
            h2::Event::Cut { tag, begun: true } => {
                self.fail_tag(slot, tag, FailureKind::ClosedWithinResponse);
            }
            h2::Event::Refused { tag } | h2::Event::Cut { tag, begun: false } => self.refuse(slot, tag),
        }
        true
    }

    fn place_of(&self, slot: usize, tag: u32) -> usize {
        self.position(slot, tag as u16)
    }

    fn index_of(&self, slot: usize, tag: u32) -> Option<u16> {
        self.connections[slot].places.index_of(tag as u16)
    }

    fn fail_tag(&mut self, slot: usize, tag: u32, kind: FailureKind) {
        if let Some(index) = self.index_of(slot, tag) {
            self.fail(slot, index, kind);
        }
    }

    /// The server did not look at a request. It waits until it is known whether the connection goes on.
    fn refuse(&mut self, slot: usize, tag: u32) {
        if let Places::Any(places) = &mut self.connections[slot].places {
            places.refused.push(tag as u16);
        }
    }

    fn all_refused(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        match &connection.places {
            Places::Any(places) => places.refused.len() == usize::from(connection.pending),
            Places::InOrder { .. } => false,
        }
    }

    /// A server that refuses streams and keeps the connection has too many of them.
    fn fail_refused(&mut self, slot: usize) {
        while let Places::Any(places) = &mut self.connections[slot].places
            && let Some(place) = places.refused.pop()
        {
            self.fail_tag(slot, u32::from(place), FailureKind::H2Refused);
        }
    }

    /// The connection ended: settles what it carried, as for connections that answer in order.
    pub(super) fn end_streams(&mut self, slot: usize, end: End) -> bool {
        if self.connections[slot].pending == 0 {
            return false;
        }
        let Some(mut layers) = self.connections[slot].layers.take() else { return false };
        self.cut_streams(slot, &mut layers);
        self.connections[slot].layers = Some(layers);
        let kind = match end {
            End::Closed => FailureKind::ClosedBeforeResponse,
            End::Reset => FailureKind::ResetBeforeResponse,
        };
        let given_up = self.connections[slot].proven();
        self.leave_rest(slot, kind, given_up);
        true
    }

    /// Fails the requests whose answers had begun to come.
    fn cut_streams(&mut self, slot: usize, layers: &mut Layers) {
        let (Some(link), Some(mut memory)) = (&mut layers.link, self.streams.take()) else { return };
        link.finish(&mut memory, &mut |event| {
            self.settle_stream(slot, event, Instant::default());
        });
        self.streams = Some(memory);
    }
}

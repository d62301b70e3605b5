//! Requests on the streams of HTTP/2 connections, whose answers may come in any order.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;
use plimsoll_units::Instant;

use super::exchanges::{Course, Exchanges};
use crate::connection::End;
use crate::layers::Layers;

/// So often a request is sent again that a server refused without having answered anything in its stead. It may be
/// sent again in every case (RFC 9113, section 8.7), but a server that refuses all it gets must not be asked for ever.
const REFUSALS_MAX: u8 = 3;

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
        if received.is_ok() { course } else { Course::Ruined(FailureKind::H2Protocol) }
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
            // It is settled with the others that the end of the connection leaves.
            h2::Event::Cut { begun: false, .. } => return false,
            h2::Event::Refused { tag } => {
                self.connections[slot].places.hold(tag as u16);
                return false;
            }
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

    /// True if no stream carries a connection's request number `index`.
    pub(super) fn is_held(&self, slot: usize, index: u16) -> bool {
        let places = &self.connections[slot].places;
        !places.held().is_empty() && places.held().contains(&places.at(index, self.depth))
    }

    /// True if the server said, before it was asked for anything, that it will answer nothing.
    pub(super) fn is_turned_away(&self, slot: usize) -> bool {
        let connection = &self.connections[slot];
        let link = connection.layers.as_ref().and_then(|layers| layers.link.as_ref());
        connection.pending == 0 && link.is_some_and(|link| link.going_away().is_some())
    }

    /// Sees to what the server refused, now that so many other requests have `ended`. On a connection that goes on,
    /// each of those has left a stream to one that is held; if no stream is left under way, all are sent. A
    /// connection that takes no more requests is of no use once it carries none: that is what is given back.
    pub(super) fn heed_refusals(
        &mut self,
        slot: usize,
        layers: &mut Layers,
        ended: u16,
        now: Instant,
    ) -> Option<Course> {
        let link = layers.link.as_ref()?;
        let connection = &self.connections[slot];
        let held = connection.places.held().len() as u16;
        let under_way = connection.pending - held;
        if link.going_away().is_some() {
            return (under_way == 0).then_some(Course::Spent);
        }
        for _ in 0..if under_way == 0 { held } else { ended.min(held) } {
            if layers.link.as_ref().is_none_or(|link| link.capacity() == 0) {
                break;
            }
            self.send_held(slot, layers, now);
        }
        None
    }

    /// As [`Exchanges::heed_refusals`], at another time than when bytes came.
    pub(super) fn heed_refusals_now(&mut self, slot: usize, ended: u16, now: Instant) -> Course {
        let Some(mut layers) = self.connections[slot].layers.take() else { return Course::Going };
        let course = self.heed_refusals(slot, &mut layers, ended, now).unwrap_or(Course::Going);
        self.connections[slot].put_back(layers);
        course
    }

    /// Sends the request that has been held for longest, unless it was refused too often.
    fn send_held(&mut self, slot: usize, layers: &mut Layers, now: Instant) {
        let Some(&place) = self.connections[slot].places.held().first() else { return };
        let Some(index) = self.connections[slot].places.index_of(place) else { return };
        if self.send_later(slot, index, true) {
            let newest = self.connections[slot].pending - 1;
            self.of(slot, newest).sent = now;
            if !self.write_through(slot, layers, place, 0) {
                self.connections[slot].places.hold(place);
            }
        }
    }

    /// Makes a request that was refused the newest of those under way; if that `counts` and it was refused too often,
    /// it failed. Says whether it goes on.
    pub(super) fn send_later(&mut self, slot: usize, index: u16, counts: bool) -> bool {
        let mut exchange = *self.of(slot, index);
        exchange.refusals += u8::from(counts);
        if exchange.refusals > REFUSALS_MAX {
            self.fail(slot, index, FailureKind::H2Refused);
            return false;
        }
        self.remove(slot, index);
        // It takes the place that it had, for that is the one that was freed last.
        self.enter(slot, exchange);
        true
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

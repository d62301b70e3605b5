//! Requests through the layers of a connection.

use plimsoll_http::h2;
use plimsoll_record::FailureKind;

use super::exchanges::{Exchange, Exchanges};
use super::source::Requests;
use crate::layers::Layers;

impl Exchanges {
    /// Writes a request that was begun in `place` through the layers; if it was made, its bytes stand in the
    /// connection's `outgoing` from `made_from` on.
    pub(super) fn write_layered(&mut self, slot: usize, place: u16, made_from: usize) -> bool {
        let Some(mut layers) = self.connections[slot].layers.take() else { return false };
        self.keep_made(slot, place);
        let written = self.write_through(slot, &mut layers, place, made_from);
        self.put_back(slot, layers);
        if !written && self.streams.is_some() {
            // It was begun, so it has to end.
            let newest = self.connections[slot].pending - 1;
            self.fail(slot, newest, FailureKind::H2Refused);
        }
        true
    }

    /// Requests on streams end in any order, so that each is kept where it can be found until then.
    fn keep_made(&mut self, slot: usize, place: u16) {
        let position = self.position(slot, place);
        if let Some(made) = self.made.get_mut(position) {
            let outgoing = &mut self.connections[slot].outgoing;
            std::mem::swap(made, outgoing);
            outgoing.clear();
        }
    }

    /// Writes again what the last socket did not carry to an answer. A new connection may allow fewer streams than
    /// the last one had under way: what finds none waits for one.
    pub(super) fn write_again(&mut self, slot: usize) {
        let Some(mut layers) = self.connections[slot].layers.take() else { return };
        for index in 0..self.connections[slot].pending {
            let place = self.connections[slot].place(index, self.depth);
            if !self.write_through(slot, &mut layers, place, 0) {
                self.connections[slot].places.hold(place);
            }
        }
        self.put_back(slot, layers);
    }

    fn put_back(&mut self, slot: usize, layers: Box<Layers>) {
        let connection = &mut self.connections[slot];
        connection.put_back(layers);
        connection.asked_until = connection.unsent.end;
    }

    pub(super) fn write_through(
        &mut self,
        slot: usize,
        layers: &mut Layers,
        place: u16,
        made_from: usize,
    ) -> bool {
        let Exchange { note, .. } = *self.at(slot, place);
        let (observe, position) = (self.observer.wants_bytes(), self.position(slot, place));
        let Self { source, connections, streams, made, .. } = self;
        let bytes = match &source.requests {
            Requests::Fixed(request) => &request.bytes[..],
            Requests::Made(_) if streams.is_some() => &made[position],
            Requests::Made(_) => &connections[slot].outgoing[made_from..],
        };
        let mut taken = true;
        let spoken = layers.speak(|link, out| match (link, streams) {
            (Some(link), Some(memory)) => {
                let (block, body) = bytes.split_at(note.head_bytes as usize);
                let request =
                    h2::Request { tag: u32::from(place), block, body, expect: note.expect, observe };
                // There is room, for no more were begun; one that found none would be found by its deadline.
                taken = link.request(&request, memory, out);
            }
            _ => out.extend_from_slice(bytes),
        });
        spoken.is_ok() && taken
    }

    /// Tells the server that nobody waits for the answer to a connection's oldest request any more.
    pub(super) fn cancel_oldest(&mut self, slot: usize) {
        let tag = u32::from(self.connections[slot].place(0, self.depth));
        let connection = &mut self.connections[slot];
        let (Some(layers), Some(memory)) = (&mut connection.layers, &mut self.streams) else { return };
        let spoken = layers.speak(|link, out| {
            if let Some(link) = link {
                link.cancel(tag, memory, out);
            }
        });
        if spoken.is_ok() {
            connection.unsent.end = layers.wire.len() as u32;
        }
    }
}

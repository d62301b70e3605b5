//! The open streams of a connection, indexed by their ids.
//!
//! The table uses open addressing with linear probing and is at most half full. Ids ascend; multiplication by the golden ratio
//! spreads them (Knuth, The Art of Computer Programming, volume 3, section 6.4), so that searches end after a step or two and
//! a removal moves few entries.

use super::window::ReceiveWindow;
use crate::Expect;

/// A request whose response is not complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream {
    /// Odd; 0 marks a vacant slot of the table.
    pub(super) id: u32,
    pub(super) tag: u32,
    /// The window for bytes from the server.
    pub(super) receive: ReceiveWindow,
    /// Number of bytes that may still be sent; negative if the server reduced its window.
    pub(super) send_left: i32,
    /// Status of the final response; 0 until its head is complete.
    pub(super) status: u16,
    pub(super) interim_count: u8,
    pub(super) expect: Expect,
    pub(super) observe: bool,
    pub(super) sent: bool,
    pub(super) begun: bool,
    /// The length of the body in bytes that the head declares.
    pub(super) declared: Option<u64>,
    pub(super) body_bytes: u64,
}

/// A vacant slot, and the initial values of a stream.
pub(super) const VACANT: Stream = Stream {
    id: 0,
    tag: 0,
    receive: ReceiveWindow::new(0),
    send_left: 0,
    status: 0,
    interim_count: 0,
    expect: Expect::Body,
    observe: false,
    sent: false,
    begun: false,
    declared: None,
    body_bytes: 0,
};

/// 2^32 divided by the golden ratio.
const GOLDEN: u32 = 0x9e37_79b9;

/// The stream table. At most half of the slots are taken, so every search ends.
#[derive(Debug)]
pub(super) struct Streams {
    places: Box<[Stream]>,
    count: u32,
    /// The slot found last: consecutive frames often belong to one stream.
    recent: usize,
    /// Number of bits by which a hash is shifted to give a slot.
    shift: u32,
}

// Ten thousand connections hold ten thousand tables.
const _: () = assert!(size_of::<Stream>() <= 64);

impl Streams {
    pub(super) fn new(max_streams: u32) -> Self {
        let places = (max_streams as usize * 2).next_power_of_two().max(2);
        let shift = u32::BITS - places.trailing_zeros();
        Self { places: vec![VACANT; places].into_boxed_slice(), count: 0, recent: 0, shift }
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Adds a stream. The caller never exceeds the number of streams that the table was created for.
    pub(super) fn insert(&mut self, stream: Stream) {
        debug_assert!((self.count as usize) < self.places.len() / 2, "there is room");
        let mut place = self.home(stream.id);
        while self.places[place].id != 0 {
            place = self.after(place);
        }
        self.places[place] = stream;
        self.count += 1;
    }

    pub(super) fn find(&mut self, id: u32) -> Option<&mut Stream> {
        if self.places[self.recent].id != id {
            self.recent = self.place(id)?;
        }
        Some(&mut self.places[self.recent])
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Stream> {
        let stream = *self.find(id)?;
        self.vacate(self.recent);
        self.count -= 1;
        Some(stream)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.places.iter_mut().filter(|stream| stream.id != 0)
    }

    /// Returns the id of the open stream with this tag, by a search through all streams.
    pub(super) fn id_of(&self, tag: u32) -> Option<u32> {
        let mut open = self.places.iter().filter(|stream| stream.id != 0);
        open.find(|stream| stream.tag == tag).map(|stream| stream.id)
    }

    /// Returns the ids of the open streams above `last`, ascending. Allocates, so it is only for the end of a connection.
    pub(super) fn ids_above(&self, last: u32) -> Vec<u32> {
        let ids = self.places.iter().map(|stream| stream.id);
        let mut ids: Vec<u32> = ids.filter(|id| *id > last).collect();
        ids.sort_unstable();
        ids
    }

    pub(super) fn clear(&mut self) {
        self.places.fill(VACANT);
        self.count = 0;
    }

    fn place(&self, id: u32) -> Option<usize> {
        let mut place = self.home(id);
        while self.places[place].id != id {
            if self.places[place].id == 0 {
                return None;
            }
            place = self.after(place);
        }
        Some(place)
    }

    /// Empties a slot and moves back the entries that had been displaced past it, so that searches need no deletion marks.
    fn vacate(&mut self, mut hole: usize) {
        let mask = self.places.len() - 1;
        let mut place = self.after(hole);
        while self.places[place].id != 0 {
            let from_home = place.wrapping_sub(self.home(self.places[place].id)) & mask;
            if from_home >= (place.wrapping_sub(hole) & mask) {
                self.places[hole] = self.places[place];
                hole = place;
            }
            place = self.after(place);
        }
        self.places[hole] = VACANT;
    }

    fn home(&self, id: u32) -> usize {
        ((id >> 1).wrapping_mul(GOLDEN) >> self.shift) as usize
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }
}

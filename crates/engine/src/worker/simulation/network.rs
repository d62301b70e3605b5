//! A network and a server in one driver: sockets, delays, partial reads and writes, ends and resets, all from a seed.
//!
//! It checks how the worker treats its sockets, and counts the responses that the worker was given whole.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use plimsoll_record::{Counts, latency_histogram};
use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};

use super::random::Random;
use super::server::{After, Weather, answer};
use crate::driver::{Driver, Event, Payload, Received};
use crate::frame_recorder::LiveFrame;
use crate::worker::simulated_tests::SimClock;

/// A worker that waits so often while nothing happens and no time passes is spinning.
const MAX_IDLE_WAITS: u32 = 1000;

/// What happened to requests on their way, as the network knows it.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Responses of which the worker was given the last byte, or the end of the connection that ends them.
    pub(super) completed: Cell<u64>,
    /// Requests that came to the server whole, those sent twice counted twice.
    pub(super) requests: Cell<u64>,
    /// Calls of the worker to its driver.
    pub(super) steps: Cell<u64>,
    /// What the worker's frames come to.
    pub(super) recorded: RefCell<Recorded>,
}

/// The sum of all frames.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) counts: Counts,
    pub(super) requests_timed: u64,
    pub(super) frames: u64,
}

/// The conductor's ends of the channels. It takes frames only while the worker waits, so that nothing depends on threads.
pub(super) struct Frames {
    pub(super) full: Receiver<Box<LiveFrame>>,
    pub(super) give_back: SyncSender<Box<LiveFrame>>,
}

impl Frames {
    /// Takes the frames that are there.
    pub(super) fn take(&self, account: &Account) {
        while let Ok(live) = self.full.try_recv() {
            let mut recorded = account.recorded.borrow_mut();
            for frame in live.seal() {
                recorded.counts.merge(&frame.head.counts);
                let mut latency = latency_histogram();
                frame.latency.add_to(&mut latency).expect("a histogram that was just made");
                recorded.requests_timed += latency.len();
                recorded.frames += 1;
            }
            self.give_back.try_send(live).unwrap_or_default();
        }
    }
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

/// How the server ended a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Orderly,
    Reset,
}

enum Happening {
    Connected,
    Refused,
    Arrived(Vec<u8>, Option<End>),
    /// The socket takes more.
    Drained,
}

struct Socket {
    connected: bool,
    refused: bool,
    /// Bytes that it takes now.
    room: u64,
    refills: bool,
    /// Bytes of requests that it took, and requests that are whole.
    taken_bytes: u64,
    requests: u64,
    /// The server answers no further requests.
    deaf: bool,
    /// When the last answer is sent.
    answered_at: Instant,
    answered_bytes: u64,
    inbox: VecDeque<u8>,
    end: Option<End>,
    delivered_bytes: u64,
    /// The ends of responses in the stream, and what becomes of the connection there.
    ends: VecDeque<(u64, After)>,
    /// The worker knows that it may not use the connection any more.
    over: bool,
}

/// The driver of one simulated worker.
pub(super) struct Network<'a> {
    clock: &'a SimClock,
    account: &'a Account,
    random: Random,
    weather: Weather,
    request: Vec<u8>,
    fixed: Arc<[u8]>,
    max_connections: usize,
    slots: Vec<(u64, Option<Socket>)>,
    /// By time, and by the order in which they were set.
    timeline: BTreeMap<(Instant, u64), (usize, u64, Happening)>,
    set: u64,
    ready: VecDeque<(u64, Event)>,
    idle_waits: u32,
    bytes: Vec<u8>,
    frames: Rc<Frames>,
}

impl<'a> Network<'a> {
    pub(super) fn new(
        (clock, account): (&'a SimClock, &'a Account),
        (random, weather): (Random, Weather),
        (request, fixed): (&[u8], Arc<[u8]>),
        max_connections: usize,
        frames: Rc<Frames>,
    ) -> Self {
        Self {
            clock,
            account,
            random,
            weather,
            request: request.to_vec(),
            fixed,
            max_connections,
            slots: Vec::new(),
            timeline: BTreeMap::new(),
            set: 0,
            ready: VecDeque::new(),
            idle_waits: 0,
            bytes: Vec::new(),
            frames,
        }
    }

    fn socket(&mut self, slot: usize) -> &mut Socket {
        self.slots[slot].1.as_mut().expect("a socket that is open")
    }

    fn later(&mut self, after: Duration, slot: usize, happening: Happening) {
        self.at(self.clock.now() + after, slot, happening);
    }

    fn at(&mut self, at: Instant, slot: usize, happening: Happening) {
        self.set += 1;
        let generation = self.slots[slot].0;
        self.timeline.insert((at, self.set), (slot, generation, happening));
    }

    fn happen(&mut self, slot: usize, generation: u64, happening: Happening) {
        let (found, Some(socket)) = &mut self.slots[slot] else { return };
        if *found != generation {
            return;
        }
        let mut event = Event { slot, readable: false, writable: false, closing: false };
        match happening {
            Happening::Connected => socket.connected = true,
            Happening::Refused => socket.refused = true,
            Happening::Drained => {
                socket.room = self.weather.socket_bytes;
                socket.refills = false;
            }
            Happening::Arrived(bytes, end) => {
                socket.inbox.extend(bytes);
                socket.end = socket.end.or(end);
                event.readable = true;
                event.closing = socket.end.is_some();
            }
        }
        event.writable = !event.readable;
        self.ready.push_back((generation, event));
    }

    /// Requests that are whole now are answered, in their order.
    fn answer(&mut self, slot: usize) {
        let length = self.request.len() as u64;
        while self.socket(slot).taken_bytes / length > self.socket(slot).requests {
            self.socket(slot).requests += 1;
            count(&self.account.requests);
            if self.socket(slot).deaf {
                continue;
            }
            if self.random.permille(self.weather.never_answers) {
                self.socket(slot).deaf = true;
            } else {
                self.send_answer(slot);
            }
        }
    }

    fn send_answer(&mut self, slot: usize) {
        let answer = answer(&mut self.random, &self.weather);
        let (service, idle) =
            (self.random.time(self.weather.service), self.random.permille(self.weather.leaves_idle));
        let now = self.clock.now();
        let socket = self.socket(slot);
        let mut at = socket.answered_at.max(now) + service;
        socket.answered_bytes += answer.bytes.len() as u64;
        socket.ends.push_back((socket.answered_bytes, answer.after));
        socket.deaf = answer.after != After::GoesOn || idle;
        let end = match answer.after {
            After::GoesOn | After::SaidClosed | After::Malformed => None,
            After::Closed | After::EndsResponse | After::Cut { reset: false } => Some(End::Orderly),
            After::Cut { reset: true } => Some(End::Reset),
        };
        let mut rest = answer.bytes;
        while rest.len() > 1 && self.random.permille(400) {
            let piece = rest.drain(..self.random.within(1..rest.len() as u64) as usize).collect();
            self.at(at, slot, Happening::Arrived(piece, None));
            at = at + self.random.time(self.weather.gap);
        }
        // The end comes with the last piece, or by itself.
        let together = self.random.permille(500);
        self.at(at, slot, Happening::Arrived(rest, end.filter(|_| together)));
        if !together && end.is_some() {
            at = at + self.random.time(self.weather.gap);
            self.at(at, slot, Happening::Arrived(Vec::new(), end));
        }
        if idle && answer.after == After::GoesOn {
            let left = at + self.random.time(self.weather.service);
            self.at(left, slot, Happening::Arrived(Vec::new(), Some(End::Orderly)));
        }
        self.socket(slot).answered_at = at;
    }

    /// The worker was given so many bytes more, or the end: counts what is complete by that.
    fn delivered(&mut self, slot: usize, bytes: u64, at_end: bool) {
        let account = self.account;
        let socket = self.socket(slot);
        socket.delivered_bytes += bytes;
        while let Some((end, after)) = socket.ends.front().copied()
            && end <= socket.delivered_bytes
        {
            match after {
                After::EndsResponse if !at_end => return,
                After::GoesOn | After::Closed | After::SaidClosed | After::EndsResponse => {
                    count(&account.completed)
                }
                After::Cut { .. } | After::Malformed => {}
            }
            socket.over |= matches!(after, After::Closed | After::SaidClosed | After::Malformed);
            socket.ends.pop_front();
        }
    }

    /// What is sent must be requests, one after another, from where the last send ended.
    fn check_sent(&mut self, slot: usize, bytes: &[u8]) {
        let request = self.request.clone();
        let socket = self.socket(slot);
        assert!(
            socket.connected && !socket.over,
            "sent on a connection that is not, or no longer, to be used"
        );
        let begin = socket.taken_bytes as usize;
        let differs =
            bytes.iter().enumerate().find(|(at, byte)| request[(begin + at) % request.len()] != **byte);
        assert_eq!(differs, None, "what is sent is no request");
    }
}

impl Driver for Network<'_> {
    fn open(&mut self, slot: usize, _route: &Route) -> io::Result<()> {
        count(&self.account.steps);
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || (0, None));
        }
        let now = self.clock.now();
        let (generation, socket) = &mut self.slots[slot];
        assert!(socket.is_none(), "slot {slot} is opened twice");
        *generation += 1;
        *socket = Some(Socket {
            connected: false,
            refused: false,
            room: self.weather.socket_bytes,
            refills: false,
            taken_bytes: 0,
            requests: 0,
            deaf: false,
            answered_at: now,
            answered_bytes: 0,
            inbox: VecDeque::new(),
            end: None,
            delivered_bytes: 0,
            ends: VecDeque::new(),
            over: false,
        });
        let open = self.slots.iter().filter(|(_, socket)| socket.is_some()).count();
        assert!(open <= self.max_connections, "{open} connections");
        let after = self.random.time(self.weather.connect);
        if self.random.permille(self.weather.refused) {
            self.later(after, slot, Happening::Refused);
        } else if !self.random.permille(self.weather.never_connects) {
            self.later(after, slot, Happening::Connected);
        }
        Ok(())
    }

    fn connected(&self, slot: usize) -> io::Result<()> {
        match &self.slots[slot].1 {
            Some(socket) if socket.refused => Err(io::ErrorKind::ConnectionRefused.into()),
            Some(socket) if socket.connected => Ok(()),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn send(&mut self, slot: usize, payload: Payload<'_>) -> io::Result<usize> {
        count(&self.account.steps);
        let Payload::Fixed(range) = payload else { return Err(io::ErrorKind::Unsupported.into()) };
        let fixed = Arc::clone(&self.fixed);
        self.check_sent(slot, &fixed[range.clone()]);
        if self.socket(slot).end == Some(End::Reset) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let most = (range.len() as u64).min(self.socket(slot).room);
        let partly = self.random.permille(200);
        let taken = if partly { self.random.within(0..most + 1) } else { most };
        let socket = self.socket(slot);
        socket.room -= taken;
        socket.taken_bytes += taken;
        if !std::mem::replace(&mut socket.refills, true) {
            let after = self.random.time(self.weather.gap);
            self.later(after, slot, Happening::Drained);
        }
        self.answer(slot);
        Ok(taken as usize)
    }

    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>> {
        count(&self.account.steps);
        let held = self.socket(slot).inbox.len() as u64;
        assert!(self.socket(slot).connected, "received on a socket that is not connected");
        if held == 0 {
            return match self.socket(slot).end {
                None => Err(io::ErrorKind::WouldBlock.into()),
                Some(End::Reset) => Err(io::ErrorKind::ConnectionReset.into()),
                Some(End::Orderly) => {
                    self.delivered(slot, 0, true);
                    Ok(Received::Bytes { bytes: &mut [], more: false })
                }
            };
        }
        let all = self.random.permille(600);
        let taken = if all { held } else { self.random.within(1..held + 1) };
        let discards = taken <= discardable_bytes && self.random.permille(500);
        let socket = self.socket(slot);
        let bytes: Vec<u8> = socket.inbox.drain(..taken as usize).collect();
        let more = !socket.inbox.is_empty() || self.random.permille(500);
        self.delivered(slot, taken, false);
        if discards {
            return Ok(Received::Discarded { count: taken, more });
        }
        self.bytes = bytes;
        Ok(Received::Bytes { bytes: &mut self.bytes, more })
    }

    fn close(&mut self, slot: usize) {
        count(&self.account.steps);
        self.slots[slot].1 = None;
    }

    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        count(&self.account.steps);
        self.frames.take(self.account);
        let now = self.clock.now();
        if self.ready.is_empty() {
            let ends = now + longest;
            let next = self.timeline.first_key_value().map_or(ends, |((at, _), _)| ends.min(*at));
            self.clock.advance(next.since(now));
        }
        // The scheduler may let the worker run late.
        if self.random.permille(50) {
            self.clock.advance(self.random.time(Duration::from_millis(2)));
        }
        while let Some(entry) = self.timeline.first_entry()
            && entry.key().0 <= self.clock.now()
        {
            let (slot, generation, happening) = entry.remove();
            self.happen(slot, generation, happening);
        }
        let idle = self.ready.is_empty() && self.clock.now() == now;
        self.idle_waits = if idle { self.idle_waits + 1 } else { 0 };
        assert!(self.idle_waits < MAX_IDLE_WAITS, "the worker spins");
        Ok(clock.now())
    }

    fn next_event(&mut self) -> Option<Event> {
        while let Some((generation, event)) = self.ready.pop_front() {
            let (found, socket) = &self.slots[event.slot];
            if *found == generation && socket.is_some() {
                return Some(event);
            }
        }
        None
    }
}

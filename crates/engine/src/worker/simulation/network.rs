//! A network and a server in one driver: sockets, delays, partial reads and writes, ends and resets, all from a seed.
//!
//! It checks how the worker treats its sockets, and counts the responses that the worker was given whole.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_sys::Route;
use plimsoll_units::{Clock, Instant};
use rustls::ServerConfig;

use super::account::{Account, Frames};
use super::peer::{End, Mark, Peer, Says, Served, Speech};
use super::weather::Weather;
use crate::driver::{Driver, Event, Payload, Received};
use crate::step_spec::StepSpec;
use crate::worker::simulated_tests::SimClock;
use plimsoll_testkit::Random;

/// A worker that waits so often while nothing happens and no time passes is spinning.
const MAX_IDLE_WAITS: u32 = 1000;

/// The longest that the worker runs late at a time, and the longest between its scans for timeouts.
const LATE: Duration = Duration::from_millis(2);
const SCAN: Duration = Duration::from_millis(100);

/// The longest that the machine is suspended.
const SUSPENDED: Duration = Duration::from_secs(60);

enum Happening {
    Connected,
    Refused,
    Spoken(Speech),
    Arrived(Vec<u8>, Option<End>),
    /// The socket takes more.
    Drained,
}

struct Socket {
    opened: Instant,
    connected: bool,
    refused: bool,
    peer: Peer,
    /// Bytes that it takes now.
    room: u64,
    refills: bool,
    /// HTTP/1.1: when the requests came that are not answered.
    unanswered: VecDeque<Instant>,
    /// Until when the wire is busy with what the server said, and how much that is.
    busy_until: Instant,
    spoken_bytes: u64,
    has_ended: bool,
    inbox: VecDeque<u8>,
    end: Option<End>,
    delivered_bytes: u64,
    /// Places in what the server said that mean something.
    marks: VecDeque<(u64, Mark)>,
    /// The worker knows that it may not use the connection any more.
    over: bool,
}

/// The parts of a world that a network needs.
pub(super) struct Surroundings<'a> {
    pub(super) clock: &'a SimClock,
    pub(super) account: &'a Account,
    pub(super) frames: Rc<Frames>,
    pub(super) random: Random,
    pub(super) weather: Weather,
    pub(super) tls: Option<Arc<ServerConfig>>,
}

/// The driver of one simulated worker.
pub(super) struct Network<'a> {
    world: Surroundings<'a>,
    fixed: Arc<[u8]>,
    timeout: Duration,
    streams: bool,
    depth: usize,
    max_connections: usize,
    slots: Vec<(u64, Option<Socket>)>,
    /// By time, and by the order in which they were set.
    timeline: BTreeMap<(Instant, u64), (usize, u64, Happening)>,
    set: u64,
    ready: VecDeque<(u64, Event)>,
    idle_waits: u32,
    bytes: Vec<u8>,
}

impl<'a> Network<'a> {
    pub(super) fn new(world: Surroundings<'a>, spec: &StepSpec, max_connections: usize) -> Self {
        Self {
            world,
            fixed: spec.fixed_bytes(),
            timeout: spec.timeout,
            streams: spec.streams,
            depth: usize::from(spec.depth),
            max_connections,
            slots: Vec::new(),
            timeline: BTreeMap::new(),
            set: 0,
            ready: VecDeque::new(),
            idle_waits: 0,
            bytes: Vec::new(),
        }
    }

    fn now(&self) -> Instant {
        self.world.clock.now()
    }

    fn socket(&mut self, slot: usize) -> &mut Socket {
        self.slots[slot].1.as_mut().expect("a socket that is open")
    }

    /// The server's end of a connection, and what it needs to decide.
    fn served(&mut self, slot: usize) -> (&mut Socket, Served<'_>) {
        let world = &mut self.world;
        let served = Served {
            now: world.clock.now(),
            random: &mut world.random,
            weather: &world.weather,
            account: world.account,
            depth: self.depth,
            requests: 0,
        };
        (self.slots[slot].1.as_mut().expect("a socket that is open"), served)
    }

    fn time(&mut self, most: Duration) -> Duration {
        self.world.random.time(most)
    }

    fn at(&mut self, at: Instant, slot: usize, happening: Happening) {
        self.set += 1;
        let generation = self.slots[slot].0;
        self.timeline.insert((at, self.set), (slot, generation, happening));
    }

    fn say(&mut self, slot: usize, says: Vec<Says>) {
        for Says { at, speech } in says {
            self.at(at, slot, Happening::Spoken(speech));
        }
    }

    fn happen(&mut self, slot: usize, generation: u64, happening: Happening) {
        let socket_bytes = self.world.weather.socket_bytes;
        let (found, Some(socket)) = &mut self.slots[slot] else { return };
        if *found != generation {
            return;
        }
        let mut event = Event { slot, readable: false, writable: false, closing: false };
        match happening {
            Happening::Connected => socket.connected = true,
            Happening::Refused => socket.refused = true,
            Happening::Drained => {
                socket.room = socket_bytes;
                socket.refills = false;
            }
            Happening::Spoken(speech) => return self.speak(slot, speech),
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

    /// The server says something, which goes over the wire in pieces and behind what it said before.
    fn speak(&mut self, slot: usize, speech: Speech) {
        if self.socket(slot).has_ended {
            return;
        }
        let (socket, mut served) = self.served(slot);
        let (spoken, says) = socket.peer.speak(speech, &mut served);
        socket.spoken_bytes += spoken.bytes.len() as u64;
        socket.marks.push_back((socket.spoken_bytes - spoken.after_mark as u64, spoken.mark));
        socket.has_ended = spoken.end.is_some();
        let mut at = socket.busy_until.max(served.now);
        self.say(slot, says);
        let gap = self.world.weather.gap;
        let mut rest = spoken.bytes;
        while rest.len() > 1 && self.world.random.permille(400) {
            let piece = rest.drain(..self.world.random.within(1..rest.len() as u64) as usize).collect();
            self.at(at, slot, Happening::Arrived(piece, None));
            at = at + self.time(gap);
        }
        // The end comes with the last piece, or by itself.
        let (end, together) = (spoken.end, self.world.random.permille(500));
        if !rest.is_empty() || together {
            self.at(at, slot, Happening::Arrived(rest, end.filter(|_| together)));
        }
        if !together && end.is_some() {
            at = at + self.time(gap);
            self.at(at, slot, Happening::Arrived(Vec::new(), end));
        }
        self.socket(slot).busy_until = at;
    }

    /// The worker was given so many bytes more, or the end: counts what is complete by that.
    fn delivered(&mut self, slot: usize, bytes: u64, at_end: bool) {
        let (account, now, in_order) = (self.world.account, self.now(), !self.streams);
        let socket = self.socket(slot);
        socket.delivered_bytes += bytes;
        while let Some((place, mark)) = socket.marks.front().copied()
            && place <= socket.delivered_bytes
        {
            match mark {
                Mark::WholeAtEnd(_) if !at_end => return,
                // Nothing counts behind what breaks the connection.
                _ if socket.over => {}
                Mark::Whole(number) | Mark::LastWhole(number) | Mark::WholeAtEnd(number) => {
                    account.completed.borrow_mut().push((number, now));
                    if in_order {
                        socket.unanswered.pop_front().expect("a request that is answered");
                    }
                }
                Mark::Nothing | Mark::Broken => {}
            }
            socket.over |= matches!(mark, Mark::LastWhole(_) | Mark::Broken);
            socket.marks.pop_front();
        }
    }

    /// What must hold of each socket while the worker waits.
    fn check_sockets(&self) {
        let now = self.now();
        let kept = self.timeout + SCAN + LATE * 10;
        for socket in self.slots.iter().filter_map(|(_, socket)| socket.as_ref()) {
            assert!(!socket.over, "the worker waits on a connection that is over");
            assert!(
                socket.unanswered.len() <= self.depth,
                "{} requests on one connection",
                socket.unanswered.len()
            );
            let oldest = socket.unanswered.front().copied();
            let since = oldest.or((!socket.connected).then_some(socket.opened));
            assert!(
                since.is_none_or(|since| now.since(since) <= kept),
                "waits since {since:?}, it is {now:?}"
            );
        }
    }
}

impl Driver for Network<'_> {
    fn open(&mut self, slot: usize, _route: &Route) -> io::Result<()> {
        self.world.account.step();
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || (0, None));
        }
        let now = self.now();
        let peer = Peer::new(self.streams, self.world.tls.as_ref());
        let (generation, socket) = &mut self.slots[slot];
        assert!(socket.is_none(), "slot {slot} is opened twice");
        *generation += 1;
        *socket = Some(Socket {
            opened: now,
            connected: false,
            refused: false,
            peer,
            room: self.world.weather.socket_bytes,
            refills: false,
            unanswered: VecDeque::new(),
            busy_until: now,
            spoken_bytes: 0,
            has_ended: false,
            inbox: VecDeque::new(),
            end: None,
            delivered_bytes: 0,
            marks: VecDeque::new(),
            over: false,
        });
        let open = self.slots.iter().filter(|(_, socket)| socket.is_some()).count();
        assert!(open <= self.max_connections, "{open} connections");
        let (connect, refused) = (self.world.weather.connect, self.world.weather.refused);
        let at = now + self.time(connect);
        if self.world.random.permille(refused) {
            self.at(at, slot, Happening::Refused);
        } else if !self.world.random.permille(self.world.weather.never_connects) {
            self.at(at, slot, Happening::Connected);
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
        self.world.account.step();
        let fixed = Arc::clone(&self.fixed);
        let bytes = match payload {
            Payload::Fixed(range) => &fixed[range],
            Payload::Borrowed(bytes) => bytes,
        };
        assert!(self.socket(slot).connected, "sent on a socket that is not connected");
        if self.socket(slot).end == Some(End::Reset) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let most = (bytes.len() as u64).min(self.socket(slot).room);
        let partly = self.world.random.permille(200);
        let taken = if partly { self.world.random.within(0..most + 1) } else { most };
        let in_order = !self.streams;
        let (socket, mut served) = self.served(slot);
        socket.room -= taken;
        let refills = std::mem::replace(&mut socket.refills, true);
        let says = socket.peer.take(&bytes[..taken as usize], &mut served);
        if in_order {
            let (count, now) = (served.requests, served.now);
            socket.unanswered.extend((0..count).map(|_| now));
        }
        self.say(slot, says);
        if !refills {
            let gap = self.world.weather.gap;
            let at = self.now() + self.time(gap);
            self.at(at, slot, Happening::Drained);
        }
        Ok(taken as usize)
    }

    fn receive(&mut self, slot: usize, discardable_bytes: u64) -> io::Result<Received<'_>> {
        self.world.account.step();
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
        let random = &mut self.world.random;
        let taken = if random.permille(600) { held } else { random.within(1..held + 1) };
        let discards = taken <= discardable_bytes && random.permille(500);
        let says_more = random.permille(500);
        let socket = self.socket(slot);
        let bytes: Vec<u8> = socket.inbox.drain(..taken as usize).collect();
        let more = !socket.inbox.is_empty() || says_more;
        self.delivered(slot, taken, false);
        if discards {
            return Ok(Received::Discarded { count: taken, more });
        }
        self.bytes = bytes;
        Ok(Received::Bytes { bytes: &mut self.bytes, more })
    }

    fn close(&mut self, slot: usize) {
        self.world.account.step();
        self.slots[slot].1 = None;
    }

    fn wait<C: Clock>(&mut self, longest: Duration, clock: &C) -> io::Result<Instant> {
        self.world.account.step();
        self.world.frames.take(self.world.account);
        self.check_sockets();
        let now = self.now();
        if self.ready.is_empty() {
            let ends = now + longest;
            let next = self.timeline.first_key_value().map_or(ends, |((at, _), _)| ends.min(*at));
            self.world.clock.advance(next.since(now));
        }
        // The scheduler may let the worker run late.
        if self.world.random.permille(50) {
            let late = self.time(LATE);
            self.world.clock.advance(late);
        }
        if self.world.random.within(0..1_000_000) < self.world.weather.suspends {
            let span = self.time(SUSPENDED);
            self.world.clock.advance(span);
            self.world.account.suspended.set(self.world.account.suspended.get() + span);
        }
        while let Some(entry) = self.timeline.first_entry()
            && entry.key().0 <= self.world.clock.now()
        {
            let (slot, generation, happening) = entry.remove();
            self.happen(slot, generation, happening);
        }
        let idle = self.ready.is_empty() && self.now() == now;
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

//! One worker: its connections, its clock and its loop.
//!
//! [`Worker::run`] is the whole of it: begin, turn until finished, seal. A turn waits for the system,
//! advances what became ready, and then looks at what time has made due.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{Level, Shard};
use plimsoll_record::Phase;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::control::Control;
use crate::drive::Driver;
use crate::order::{OPENING_MAX, StepOrder};
use crate::recorder::{Gauges, Recorder};
use crate::route::{Routes, Share};
use crate::schedule::Schedule;

mod deadlines;
mod exchanges;
mod layering;
mod observer;
mod opening;
mod pauses;
mod reading;
mod securing;
mod sending;
mod source;
mod streams;
#[cfg(test)]
mod tests;

use exchanges::Exchanges;
use pauses::Pauses;
pub(crate) use source::Requests;
use source::Source;

/// The longest wait: deadlines that the conductor moves are noticed this soon.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// When the load of an open loop ends, requests that are due and found no connection yet may still be sent
/// for this long. Later ones would go on loading a target that has not kept up.
pub(crate) const SEND_GRACE: Duration = Duration::from_secs(1);

pub(crate) struct Worker<D> {
    order: StepOrder,
    /// Requests that are sent together.
    batch: u16,
    /// A connection with less room than this is left alone until more of its requests are answered.
    room_least: u16,
    /// The length of the request, if it is the same each time.
    fixed_bytes: Option<u32>,
    control: Arc<Control>,
    clock: RealClock,
    driver: D,
    routes: Routes,
    exchanges: Exchanges,
    schedule: Schedule,
    /// Connections of an open loop that have room for a request, each once.
    idle: VecDeque<u32>,
    /// Connections to be opened for the first time, or again after a refusal, once their turn comes.
    unopened: VecDeque<u32>,
    /// Connections that make a pause before their next request.
    pauses: Pauses,
    /// Connections that were refused, with the instants at which they are tried again, soonest first.
    refused: VecDeque<(Instant, u32)>,
    /// Connections that found no place in the server's queue, with the instants at which they try again.
    crowded: VecDeque<(Instant, u32)>,
    /// Connections that the server closed, to be replaced at the end of this turn.
    closed: VecDeque<u32>,
    /// Connections of an open loop that are closed, to be opened when a request needs one.
    spare: Vec<u32>,
    /// The most connections this worker may have.
    connections_max: usize,
    /// Connections being opened, and those of them that are opened gently.
    opening: usize,
    opening_gently: usize,
    open: u64,
    began: Instant,
    now: Instant,
    /// When the last wait ended: what became ready is older than this.
    woke: Instant,
    next_frame: Instant,
    next_deadline_scan: Instant,
}

/// This worker's first connections and the most it may have.
fn connection_shares(order: &StepOrder, shard: Shard) -> (u32, u32) {
    match order.level {
        Level::Closed { connections, .. } => (shard.part_of(connections), shard.part_of(connections)),
        Level::Open { connections, .. } => {
            (shard.part_of(connections), shard.part_of(order.connections_max).max(1))
        }
    }
}

/// The ways of this worker's connections.
fn routes(order: &StepOrder, shard: Shard) -> Routes {
    let (first, most) = match order.level {
        Level::Closed { connections, .. } => (connections, connections),
        Level::Open { connections, .. } => (connections, order.connections_max),
    };
    let before = |index| Shard { index, of: shard.of }.part_of(first);
    let share = Share {
        shard,
        connections_before: (0..shard.index).map(before).sum(),
        connections_most: most,
        ports: plimsoll_sys::local_ports(),
    };
    Routes::new(&order.destinations, &order.sources, &share)
}

/// A pipeline of a closed loop is filled again when it is empty, by one send: one for each answer would cost
/// several times as much, and answers come in order anyway.
fn room_least(order: &StepOrder, batch: u16) -> u16 {
    match order.level {
        Level::Closed { .. } if !order.streams => order.depth.max(batch),
        Level::Closed { .. } | Level::Open { .. } => batch,
    }
}

impl<D: Driver> Worker<D> {
    /// A worker whose load begins at `began`. All memory that depends on the plan is taken here.
    pub(crate) fn new(
        order: StepOrder,
        shard: Shard,
        began: Instant,
        control: Arc<Control>,
        driver: D,
        (requests, recorder): (Requests, Recorder),
    ) -> Self {
        let (first, most) = connection_shares(&order, shard);
        let source = Source::new(requests);
        Self {
            batch: source.batch(),
            room_least: room_least(&order, source.batch()),
            fixed_bytes: source.fixed_bytes(),
            exchanges: Exchanges::new(recorder, source, first as usize, (order.depth, order.streams)),
            pauses: Pauses::default(),
            schedule: Schedule::new(&order.level, shard, began, order.seed),
            idle: VecDeque::with_capacity(most as usize),
            unopened: (0..first).collect(),
            routes: routes(&order, shard),
            refused: VecDeque::with_capacity(first as usize),
            crowded: VecDeque::with_capacity(OPENING_MAX.min(most as usize)),
            closed: VecDeque::with_capacity(most as usize),
            spare: Vec::with_capacity(most as usize),
            connections_max: most as usize,
            next_frame: began + order.interval,
            clock: RealClock,
            opening: 0,
            opening_gently: 0,
            open: 0,
            now: began,
            woke: began,
            next_deadline_scan: began,
            order,
            began,
            control,
            driver,
        }
    }

    /// Makes the load to its end; gives back what its requests came from.
    pub(crate) fn run(mut self) -> Requests {
        plimsoll_sys::sharpen_timers();
        self.now = self.clock.now();
        self.exchanges.recorder.begin(self.began.max(self.now));
        self.open_due();
        while !self.finished() {
            self.turn();
        }
        self.give_up_the_rest();
        let (phase, gauges) = (self.phase(), self.gauges());
        let Exchanges { mut source, recorder, .. } = self.exchanges;
        if let Some(fault) = source.take_fault() {
            self.control.tell_fault(fault);
        }
        recorder.finish(self.now, phase, gauges);
        source.requests
    }

    fn turn(&mut self) {
        let longest = self.longest_wait();
        if self.driver.wait(longest).is_err() {
            // A set of sockets that cannot be waited for cannot carry load: end it, and account for what is open.
            self.control.end_drain(self.now);
        }
        self.now = self.clock.now();
        self.woke = self.now;
        while let Some(event) = self.driver.next_event() {
            self.advance(event);
            self.dispatch_due();
        }
        self.now = self.clock.now();
        self.end_pauses();
        self.dispatch_due();
        self.open_due();
        self.drop_overdue();
        self.scan_deadlines();
        self.end_interval();
    }

    fn load_is_on(&self) -> bool {
        self.now < self.control.load_ends()
    }

    /// True while this worker makes load: it may end before the others do.
    fn measuring(&self) -> bool {
        self.load_is_on() && !self.exchanges.source.stopped
    }

    fn phase(&self) -> Phase {
        if self.load_is_on() { Phase::Measure } else { Phase::Drain }
    }

    fn backlog(&self) -> u64 {
        match &self.schedule {
            Schedule::Closed => 0,
            Schedule::Open(backlog) => backlog.len(),
        }
    }

    /// A connection still being opened counts as work left: somebody waits for it, and how it ends must be told. So
    /// does what fell due between the last look at the schedule and the end of the load.
    fn finished(&mut self) -> bool {
        if self.measuring() {
            return false;
        }
        self.dispatch_due();
        let nothing_left = self.exchanges.in_flight == 0 && self.backlog() == 0 && self.opening == 0;
        nothing_left || self.now >= self.control.drain_ends()
    }

    fn gauges(&self) -> Gauges {
        Gauges { in_flight: self.exchanges.in_flight, backlog: self.backlog(), connections: self.open }
    }

    fn longest_wait(&self) -> Duration {
        let mut until = self.next_frame.min(self.now + LONGEST_WAIT).min(self.next_deadline_scan);
        if self.measuring() {
            until = until.min(self.control.load_ends());
        }
        if let Schedule::Open(backlog) = &self.schedule
            && self.measuring()
            && backlog.next_due() < self.control.load_ends()
        {
            until = until.min(backlog.next_due());
        }
        if let Some(end) = self.pauses.next_end() {
            until = until.min(end);
        }
        for (at, _) in self.refused.front().into_iter().chain(self.crowded.front()) {
            until = until.min(*at);
        }
        if !self.unopened.is_empty() && self.may_open_gently() {
            until = until.min(self.began);
        }
        until.since(self.now)
    }

    /// Hands the frame over when its interval is over. The measured part ends with a frame of its own, so
    /// that no frame holds both load and drain as long as the conductor keeps up.
    fn end_interval(&mut self) {
        let ends = self.control.load_ends();
        let load_over = self.now >= ends && self.next_frame != Instant::from_nanos(u64::MAX);
        if self.now < self.next_frame && !load_over {
            return;
        }
        let interval_ns = self.order.interval.as_nanos().max(1) as u64;
        let next = self.now.nanos_since(self.began) / interval_ns + 1;
        let gauges = self.gauges();
        // What ended within this turn was due under load, so the frame that holds it is a measured one.
        let phase = if load_over || self.load_is_on() { Phase::Measure } else { Phase::Drain };
        if !self.exchanges.recorder.hand_over(self.now, next as u32 - 1, phase, gauges) {
            // The conductor still has the other frame: this one goes on, and is offered again in the next turn.
            return;
        }
        self.next_frame = match load_over {
            // The drain is one frame, handed over when the worker ends.
            true => Instant::from_nanos(u64::MAX),
            false => self.began + Duration::from_nanos(next * interval_ns),
        };
    }
}

//! One worker: a thread with its connections, its clock and its loop.
//!
//! [`Worker::run`] is the entry point: begin, take turns until finished, seal. A turn waits for events, advances the
//! connections that became ready, and then does the work that has become due.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_plan::{Level, Shard, Shares};
use plimsoll_record::Phase;
use plimsoll_units::{Clock, Instant};

use crate::connection::{Connection, Shared};
use crate::control::Control;
use crate::driver::Driver;
use crate::frame_recorder::{FrameRecorder, Gauges};
use crate::requests::Source;
use crate::route::{Routes, Share};
use crate::schedule::Schedule;
use crate::step_spec::StepSpec;
use queues::Queues;

mod connecting;
mod deadlines;
mod queues;
mod receiving;
#[cfg(test)]
mod replacement_tests;
mod sending;
#[cfg(test)]
mod simulated_tests;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

/// The longest wait. The conductor may move deadlines at any time, and a worker notices within this time.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// After the load of an open loop has ended, requests that are due and have no connection yet may still be sent for this long.
/// Sending later ones would prolong the load on a target that has not kept up.
pub(crate) const SEND_GRACE: Duration = Duration::from_secs(1);

/// After this many intervals of a step a frame covers two intervals, later four, and so on: the memory that a step needs grows
/// with the logarithm of its length.
const MAX_EVEN_INTERVALS: u64 = 2000;

/// Returns the interval before which a frame ends that was opened in interval `number`. The boundaries are the same in all
/// workers, however late a worker is.
fn next_boundary(number: u64) -> u64 {
    let intervals = (number / MAX_EVEN_INTERVALS + 1).next_power_of_two();
    (number / intervals + 1) * intervals
}

/// The parts that a worker is created from.
pub(crate) struct Parts<D, C> {
    pub(crate) control: Arc<Control>,
    pub(crate) clock: C,
    pub(crate) driver: D,
    pub(crate) source: Source,
    pub(crate) recorder: FrameRecorder,
}

/// One worker of a step. It reads the time only from `clock`.
pub(crate) struct Worker<D, C> {
    spec: StepSpec,
    control: Arc<Control>,
    clock: C,
    driver: D,
    routes: Routes,
    schedule: Schedule,
    connections: Vec<Connection>,
    shared: Shared,
    queues: Queues,
    /// A connection with less room than this gets no request until more of its requests are answered.
    min_room: u16,
    max_connections: usize,
    /// Number of connections that are connecting, and how many of them are rate-limited.
    connecting: usize,
    connecting_rate_limited: usize,
    /// Number of open connections.
    open: u64,
    began: Instant,
    now: Instant,
    /// When the last wait ended. Everything that became ready did so before this instant.
    woke: Instant,
    next_frame: Instant,
    next_scan: Instant,
}

/// The initial number of connections of all workers, and the maximum.
fn connections(spec: &StepSpec) -> (u32, u32) {
    match spec.level {
        Level::Closed { connections, .. } => (connections, connections),
        Level::Open { connections, .. } => (connections, spec.connections_max),
    }
}

/// This worker's part of the connections.
fn share(spec: &StepSpec, shard: Shard, shares: &Shares) -> Share {
    let (first, most) = connections(spec);
    let own_most = shares.part(shard.index, most);
    Share {
        shard,
        portion: shares.portion(shard.index),
        connections_before: shares.parts_before(shard.index, first),
        connections: shares.part(shard.index, first),
        // A worker of an open loop needs at least one connection.
        own_max: if spec.level.profile().is_some() { own_most.max(1) } else { own_most },
        max_connections: most,
        ports: plimsoll_sys::local_ports(),
    }
}

/// The pipeline of a closed loop is refilled only when it is empty, by one send. A send for each response would cost several
/// times as much, and responses come in order anyway.
fn min_room(spec: &StepSpec, batch: u16) -> u16 {
    match spec.level {
        Level::Closed { .. } if !spec.streams => spec.depth.max(batch),
        Level::Closed { .. } | Level::Open { .. } => batch,
    }
}

impl<D: Driver, C: Clock> Worker<D, C> {
    /// Creates a worker whose load begins at `began`, and allocates all memory that depends on the step.
    pub(crate) fn new(spec: StepSpec, shard: Shard, began: Instant, parts: Parts<D, C>) -> Self {
        let Parts { control, clock, driver, source, recorder } = parts;
        let share = share(&spec, shard, &spec.shares());
        let (first, most) = (share.connections, share.own_max);
        let min_room = min_room(&spec, source.batch());
        let mut shared = Shared::new(recorder, source, &spec, first as usize);
        shared.first = Arc::clone(control.first());
        Self {
            connections: (0..first).map(|_| Connection::new(&mut shared)).collect(),
            shared,
            min_room,
            queues: Queues::new(first, most),
            schedule: Schedule::new(&spec.level, share.portion, began, spec.seed),
            routes: Routes::new(&spec.destinations, &spec.sources, &share),
            max_connections: most as usize,
            next_frame: began + spec.interval,
            connecting: 0,
            connecting_rate_limited: 0,
            open: 0,
            now: began,
            woke: began,
            next_scan: began,
            spec,
            began,
            control,
            clock,
            driver,
        }
    }

    /// Generates the load until the step ends.
    pub(crate) fn run(mut self) {
        plimsoll_sys::disable_timer_slack();
        self.await_begin();
        self.shared.ledger.recorder.begin(self.now);
        self.connect_due();
        while !self.is_finished() {
            self.turn();
        }
        self.fail_unfinished();
        let (phase, gauges) = (self.phase(), self.gauges());
        let ledger = self.shared.ledger;
        if let Some(fault) = ledger.source.into_fault() {
            self.control.report_fault(fault);
        }
        ledger.recorder.finish(self.now, phase, gauges);
    }

    /// Waits for the instant at which all workers begin. The start of the first frame shows how late this worker is.
    fn await_begin(&mut self) {
        self.now = self.clock.now();
        while self.now < self.began && !self.is_finished() {
            let longest = self.began.since(self.now).min(MAX_WAIT);
            // A driver that cannot wait fails again in the first turn, which ends the load.
            if self.driver.wait(longest, &self.clock).is_err() {
                return;
            }
            self.now = self.clock.now();
        }
    }

    fn turn(&mut self) {
        let longest = self.longest_wait();
        let due = self.now + longest;
        let woke = self.driver.wait(longest, &self.clock);
        self.now = woke.unwrap_or_else(|_| {
            // Without a driver that can wait there is no load: end it, and account for all open requests.
            self.control.end_drain(self.now);
            self.clock.now()
        });
        self.woke = self.now;
        self.shared.ledger.recorder.late_by(self.woke.nanos_since(due));
        while self.now < self.control.drain_ends()
            && let Some(event) = self.driver.next_event()
        {
            self.advance(event);
            self.dispatch_due();
        }
        self.now = self.clock.now();
        self.shared.ledger.recorder.late_by(self.now.nanos_since(self.woke));
        self.end_think_times();
        self.dispatch_due();
        self.connect_due();
        self.drop_overdue();
        self.scan_deadlines();
        self.end_interval();
    }

    fn load_is_on(&self) -> bool {
        self.now < self.control.load_ends()
    }

    /// True while this worker generates load; it may end before the others do.
    fn makes_load(&self) -> bool {
        self.load_is_on() && !self.shared.ledger.source.stopped()
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

    /// True when no work is left. A connection that is connecting counts as work, because a request waits for it. So do
    /// requests that fell due between the last check of the schedule and the end of the load.
    fn is_finished(&mut self) -> bool {
        if self.makes_load() {
            return false;
        }
        self.dispatch_due();
        let nothing_left = self.shared.ledger.in_flight() == 0 && self.backlog() == 0 && self.connecting == 0;
        nothing_left || self.now >= self.control.drain_ends()
    }

    fn gauges(&self) -> Gauges {
        let in_flight = self.shared.ledger.in_flight();
        Gauges { in_flight, backlog: self.backlog(), connections: self.open }
    }

    /// How long to wait if no socket becomes ready.
    fn longest_wait(&self) -> Duration {
        let mut until = (self.now + MAX_WAIT).min(self.next_scan);
        // An overdue frame waits for the conductor; each turn tries again to hand it over.
        if self.next_frame > self.now {
            until = until.min(self.next_frame);
        }
        if self.makes_load() {
            let ends = self.control.load_ends();
            until = until.min(ends);
            if let Schedule::Open(backlog) = &self.schedule
                && backlog.next_due() < ends
            {
                until = until.min(backlog.next_due());
            }
        }
        if let Some(end) = self.queues.next_end() {
            until = until.min(end);
        }
        if !self.queues.unconnected.is_empty() && self.may_connect() {
            until = until.min(self.began);
        }
        until.since(self.now)
    }

    /// Hands the frame over when its interval is over. The end of the load also ends a frame, so that no frame holds both load
    /// and drain if the conductor keeps up.
    fn end_interval(&mut self) {
        let load_over = !self.load_is_on() && self.next_frame != Instant::from_nanos(u64::MAX);
        if self.now < self.next_frame && !load_over {
            return;
        }
        let interval_ns = self.spec.interval.as_nanos().max(1) as u64;
        let number = self.now.nanos_since(self.began) / interval_ns;
        let next = next_boundary(number);
        let gauges = self.gauges();
        // Requests that ended within this turn were due under load, so their frame counts as measured.
        let phase = if load_over || self.load_is_on() { Phase::Measure } else { Phase::Drain };
        if !self.shared.ledger.recorder.hand_over(self.now, number as u32, phase, gauges) {
            // The conductor still has the other frame: this one continues, and the next turn tries again.
            return;
        }
        self.next_frame = match load_over {
            // The drain is one frame, handed over when the worker ends.
            true => Instant::from_nanos(u64::MAX),
            false => self.began + Duration::from_nanos(next * interval_ns),
        };
    }
}

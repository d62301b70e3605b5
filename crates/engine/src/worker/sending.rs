//! Sends requests: from the schedule to the socket.
//!
//! [`Worker::send`] is where requests are written to a socket.

use plimsoll_record::FailureKind;
use plimsoll_units::{Clock, Instant, best_effort};

use super::Worker;
use crate::connection::ThinkTime;
use crate::driver::Driver;
use crate::schedule::Schedule;

impl<D: Driver, C: Clock> Worker<D, C> {
    /// Writes as many of a connection's unsent bytes to the socket as it accepts. When it accepts more, the driver reports a
    /// writable event.
    #[inline]
    pub(super) fn send(&mut self, slot: usize) {
        let (connection, ledger) = (&mut self.connections[slot], &mut self.shared.ledger);
        let Some(payload) = connection.unsent(&ledger.source) else { return };
        match self.driver.send(slot, payload) {
            Ok(count) => {
                connection.sent(count);
                ledger.recorder.counts(0).bytes_out += count as u64;
            }
            Err(_) => self.sending_failed(slot),
        }
    }

    /// Sends the last bytes of the layers on a connection that is being closed, if the system accepts them at once.
    pub(super) fn send_farewell(&mut self, slot: usize) {
        if let Some(payload) = self.connections[slot].farewell() {
            let sent = self.driver.send_last(slot, payload);
            best_effort(sent, "it is for the server's log, and the caller records the connection's failure");
        }
    }

    /// Sends due requests on a connection that may have room, or leaves it idle.
    #[inline]
    pub(super) fn refill(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        let batch = self.shared.ledger.source.batch();
        let room = connection.room();
        if room < if connection.is_unfilled() { batch } else { self.min_room } {
            if connection.is_barred() {
                connection.due.get_or_insert(self.now);
            }
            return;
        }
        connection.set_unfilled(false);
        match &self.schedule {
            Schedule::Closed => self.refill_closed(slot, room / batch),
            Schedule::Open(_) => self.refill_open(slot, room / batch),
        }
    }

    #[inline]
    fn refill_closed(&mut self, slot: usize, writes: u16) {
        if !self.makes_load() || !self.has_thought(slot) {
            return self.connections[slot].rest(self.now);
        }
        // The time to replace a connection counts towards the request that waited for it.
        let mut due = self.connections[slot].due.take().unwrap_or(self.now);
        let lag_ns = self.now.nanos_since(self.woke);
        let requests = u64::from(self.shared.ledger.source.batch());
        self.connections[slot].begin_writing();
        for _ in 0..writes {
            if !self.has_drained(slot) {
                return;
            }
            if !self.control.claim_or_end(requests, self.now) || !self.write(slot, due) {
                break;
            }
            let recorder = &mut self.shared.ledger.recorder;
            recorder.counts(0).intended += requests;
            recorder.send_lag(lag_ns, requests);
            due = self.now;
        }
        self.send(slot);
    }

    #[inline]
    fn refill_open(&mut self, slot: usize, writes: u16) {
        self.connections[slot].begin_writing();
        for _ in 0..writes {
            if !self.has_drained(slot) {
                return;
            }
            let Schedule::Open(backlog) = &mut self.schedule else { break };
            let Some(intended) = backlog.take() else { break };
            self.write_due(slot, intended);
        }
        self.send(slot);
        self.list_idle(slot);
    }

    /// True if more requests may be written to a connection. If many bytes are written already, they are sent first; if that
    /// is not possible at once, returns false and a writable event follows.
    #[inline]
    fn has_drained(&mut self, slot: usize) -> bool {
        if !self.connections[slot].is_full() {
            return true;
        }
        self.send(slot);
        let connection = &mut self.connections[slot];
        let drained = connection.is_writable();
        if drained {
            connection.begin_writing();
        }
        connection.set_unfilled(!drained);
        drained
    }

    /// Writes the requests of one call of the source to a connection's unsent bytes.
    #[inline]
    fn write(&mut self, slot: usize, intended: Instant) -> bool {
        self.connections[slot].write(intended, self.now, &mut self.shared)
    }

    /// Writes a request of an open loop. If it cannot be generated, it is counted as unsent.
    fn write_due(&mut self, slot: usize, intended: Instant) {
        if !self.write(slot, intended) {
            self.give_up_unsent(self.now.nanos_since(intended), 1);
        }
    }

    /// Gives up the unsent requests of `arrivals` arrivals, which were due `age_ns` ago.
    pub(super) fn give_up_unsent(&mut self, age_ns: u64, arrivals: u64) {
        let ledger = &mut self.shared.ledger;
        let requests = arrivals * u64::from(ledger.source.batch());
        ledger.recorder.failed(0, FailureKind::Unsent, requests);
        ledger.recorder.never_sent_after(0, age_ns, requests);
    }

    /// True if the think time before the connection's next request is over. Otherwise it is running, or begins now.
    #[inline]
    pub(super) fn has_thought(&mut self, slot: usize) -> bool {
        let source = &mut self.shared.ledger.source;
        if source.fixed_bytes().is_some() {
            return true;
        }
        let connection = &mut self.connections[slot];
        match connection.think_time {
            ThinkTime::Running => return false,
            ThinkTime::Over => {
                connection.think_time = ThinkTime::Unknown;
                return true;
            }
            ThinkTime::Unknown => {}
        }
        let think_time = source.think_time();
        if think_time.is_zero() {
            return !source.stopped();
        }
        connection.think_time = ThinkTime::Running;
        self.queues.thinking(slot, self.now + think_time);
        false
    }

    /// Sends on connections whose think time is over; their requests were due when it ended.
    pub(super) fn end_think_times(&mut self) {
        while let Some((ended, slot)) = self.queues.next_thought(self.now) {
            // As in `send_on_idle`: the time that a burst takes to send must not count as the target's.
            self.now = self.clock.now();
            let connection = &mut self.connections[slot];
            connection.think_time = ThinkTime::Over;
            connection.due = Some(ended);
            self.refill(slot);
        }
    }

    /// Adds the connection to the idle queue if it has room for a request.
    fn list_idle(&mut self, slot: usize) {
        let connection = &mut self.connections[slot];
        if connection.room() < self.shared.ledger.source.batch() || connection.listed {
            return;
        }
        connection.rest(self.now);
        connection.listed = true;
        self.queues.idle.push_back(slot as u32);
    }

    /// Sends due requests of an open loop on connections with room. If these are too few, connects more.
    #[inline]
    pub(super) fn dispatch_due(&mut self) {
        let ends = self.control.load_ends();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        if backlog.len() == 0 && (backlog.next_due() > self.now || backlog.next_due() >= ends) {
            return;
        }
        let control = &self.control;
        let requests = u64::from(self.shared.ledger.source.batch());
        let fell_due = backlog.fall_due(self.now, ends, || control.claim_or_end(requests, self.now));
        self.shared.ledger.recorder.counts(0).intended += fell_due * requests;
        while self.backlog() > 0
            && let Some(slot) = self.queues.idle.pop_front()
        {
            self.send_on_idle(slot as usize);
        }
        self.connect_for_backlog();
    }

    /// Sends one due request on an idle connection. The next ones prefer other connections.
    fn send_on_idle(&mut self, slot: usize) {
        let batch = self.shared.ledger.source.batch();
        let connection = &mut self.connections[slot];
        connection.listed = false;
        // The queue still lists connections that were closed while idle.
        if !connection.is_open() || connection.room() < batch {
            return;
        }
        // A burst of due requests takes time to send, which must not count as the target's.
        self.now = self.clock.now();
        let Schedule::Open(backlog) = &mut self.schedule else { return };
        let Some(intended) = backlog.take() else { return };
        let ready = intended.max(connection.idle_since());
        self.shared.ledger.recorder.send_lag(self.now.nanos_since(ready), u64::from(batch));
        connection.begin_writing();
        self.write_due(slot, intended);
        self.send(slot);
        self.list_idle(slot);
    }
}

//! What happened in a world, as the network knows it and as the worker recorded it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

use plimsoll_record::{Counts, Histogram, latency_histogram};
use plimsoll_units::Instant;

use super::traffic::Request;
use crate::frame_recorder::LiveFrame;

/// What happened to requests on their way, as the network knows it.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Responses of which the worker was given the last byte, or the end of the connection that ends them, and when.
    pub(super) completed: RefCell<Vec<(u64, Instant)>>,
    /// Requests that came to the server whole, those sent twice counted twice.
    pub(super) requests: Cell<u64>,
    /// The numbers of those that must not be sent twice.
    once: RefCell<BTreeSet<u64>>,
    /// Calls of the worker to its driver.
    pub(super) steps: Cell<u64>,
    /// For how long the machine was suspended.
    pub(super) suspended: Cell<Duration>,
    /// What the worker's frames come to.
    pub(super) recorded: RefCell<Recorded>,
}

impl Account {
    pub(super) fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    /// The server has a request and acts upon it.
    pub(super) fn arrived(&self, request: Request) {
        self.requests.set(self.requests.get() + 1);
        let again = request.once && !self.once.borrow_mut().insert(request.number);
        assert!(!again, "request {} was sent twice, and is not idempotent", request.number);
    }

    /// The server did not act upon a request, and says so.
    pub(super) fn refused(&self, request: Request) {
        self.once.borrow_mut().remove(&request.number);
    }
}

/// The sum of all frames.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) counts: Counts,
    /// For how long the worker says that it was stopped.
    pub(super) stalled_ns: u64,
    pub(super) latency: Histogram,
    pub(super) frames: u64,
}

impl Default for Recorded {
    fn default() -> Self {
        Self { counts: Counts::default(), stalled_ns: 0, latency: latency_histogram(), frames: 0 }
    }
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
                recorded.stalled_ns += frame.head.time.stalled_ns;
                frame.latency.add_to(&mut recorded.latency).expect("histograms of one shape");
                recorded.frames += 1;
            }
            self.give_back.try_send(live).unwrap_or_default();
        }
    }
}

//! A step while it runs: its threads, and the frames they hand over.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_plan::{DriverKind, Shard};
use plimsoll_record::Frame;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::control::Control;
use crate::drive::Driver;
use crate::drive::epoll::Epoll;
use crate::drive::uring::Uring;
use crate::order::StepOrder;
use crate::recorder::{Exchange, LiveFrame, Recorder};
use crate::traffic::{SourceFault, Traffic};
use crate::worker::{Requests, SEND_GRACE, Worker};

/// Why a step could not be run.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The system would not give a worker what it needs.
    #[error(
        "worker {worker} of {workers} could not be started: {source}; try fewer workers (-t) or raise ulimit -n"
    )]
    Start {
        /// The worker.
        worker: u32,
        /// How many there were to be.
        workers: u32,
        /// What the system said.
        source: io::Error,
    },
    /// io_uring was forced and cannot be used.
    #[error(
        "io_uring cannot be used here: {source}; it needs Linux 6.1, kernel.io_uring_disabled=0 and a sandbox that \
         allows it; try --driver epoll"
    )]
    NoRing {
        /// What the system said.
        source: io::Error,
    },
    /// A worker's thread ended by a fault of Plimsoll's own.
    #[error("a worker ended by a fault in Plimsoll itself; please report it with the message above")]
    Died,
}

/// What [`Running::next`] gave.
#[derive(Debug)]
pub enum Turn {
    /// A frame.
    Frame(Box<Frame>),
    /// Nothing came in the time given.
    Quiet,
    /// Every worker has ended, and all their frames were given.
    Ended,
}

/// A step while it runs. Dropping it ends the load and waits for the workers.
#[derive(Debug)]
pub struct Running {
    control: Arc<Control>,
    began: Instant,
    driver: DriverKind,
    /// Workers of other processes, whose numbers come before those of ours.
    workers_before: u32,
    frames: Receiver<Box<LiveFrame>>,
    /// Frames that came together with one that was given already.
    sealed: VecDeque<Frame>,
    empty: Vec<SyncSender<Box<LiveFrame>>>,
    threads: Vec<JoinHandle<()>>,
    /// The workers are not waited for any more.
    left: bool,
}

/// The workers begin together, this long after the first was started.
const HEAD_START: Duration = Duration::from_millis(5);

/// A ring for every worker; none if epoll is asked for, or a ring cannot be had and is not asked for either.
fn rings(order: &StepOrder) -> Result<Option<Vec<Uring>>, EngineError> {
    if order.driver == Some(DriverKind::Epoll) {
        return Ok(None);
    }
    let rings = (0..order.workers).map(|_| Uring::new(order.fixed_bytes())).collect();
    match (rings, order.driver) {
        (Ok(rings), _) => Ok(Some(rings)),
        (Err(_), None) => Ok(None),
        (Err(source), Some(_)) => Err(EngineError::NoRing { source }),
    }
}

impl Running {
    /// Starts the workers. The load begins a few milliseconds later, or when the order says, at the same instant in all
    /// of them.
    ///
    /// # Errors
    /// When a thread or its set of sockets cannot be made.
    pub fn start(order: &StepOrder) -> Result<Self, EngineError> {
        let began = order.company.map_or_else(|| RealClock.now() + HEAD_START, |company| company.begins);
        // A request may be sent at the last moment, on a connection still to be opened, and take all its time.
        let drain = SEND_GRACE + order.timeout * 2;
        let control = Arc::new(Control::new(began + order.duration, drain, order.requests_max));
        let (full, frames) = sync_channel(order.workers as usize * 2);
        let driver = DriverKind::Epoll;
        let mut running = Self {
            control,
            began,
            driver,
            workers_before: order.company.map_or(0, |company| company.workers_before),
            frames,
            sealed: VecDeque::new(),
            empty: Vec::new(),
            threads: Vec::new(),
            left: false,
        };
        match rings(order)? {
            Some(rings) => {
                running.driver = DriverKind::IoUring;
                running.start_workers(order, &full, rings.into_iter().map(Ok))?;
            }
            None => {
                let drivers = (0..order.workers).map(|_| Epoll::new(order.fixed_bytes()));
                running.start_workers(order, &full, drivers)?;
            }
        }
        Ok(running)
    }

    fn start_workers<D: Driver + Send + 'static>(
        &mut self,
        order: &StepOrder,
        full: &SyncSender<Box<LiveFrame>>,
        drivers: impl Iterator<Item = io::Result<D>>,
    ) -> Result<(), EngineError> {
        for (index, driver) in (0..).zip(drivers) {
            let started =
                driver.and_then(|driver| self.start_worker(order, order.shard(index), full.clone(), driver));
            started.map_err(|source| {
                self.control.end_drain(RealClock.now());
                EngineError::Start { worker: index, workers: order.workers, source }
            })?;
        }
        Ok(())
    }

    fn start_worker<D: Driver + Send + 'static>(
        &mut self,
        order: &StepOrder,
        shard: Shard,
        full: SyncSender<Box<LiveFrame>>,
        driver: D,
    ) -> io::Result<()> {
        let (give_back, empty) = sync_channel(2);
        // One frame is filled while the other is on its way; a fresh channel has a place for it.
        if give_back.try_send(LiveFrame::new(order.step, shard.index, order.requests)).is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let recorder =
            Recorder::new(order.step, shard, order.requests, Exchange { full, empty }, order.origin);
        let source = order.source(shard)?;
        let control = Arc::clone(&self.control);
        let worker = Worker::new(order.clone(), shard, self.began, control, driver, (source, recorder));
        let traffic = order.traffic.clone();
        let name = format!("load-{}", shard.index);
        let work = move || {
            if let (Requests::Made(source), Traffic::Made(maker)) = (worker.run(), traffic) {
                maker.give_back(shard, source);
            }
        };
        self.threads.push(thread::Builder::new().name(name).spawn(work)?);
        self.empty.push(give_back);
        Ok(())
    }

    /// The driver that all workers use.
    pub fn driver(&self) -> DriverKind {
        self.driver
    }

    /// The instant at which the load begins.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// The instant at which the load ends, or ended.
    pub fn load_ends(&self) -> Instant {
        self.control.load_ends()
    }

    /// Why a worker could not make its requests, once that worker has ended.
    pub fn fault(&self) -> Option<&SourceFault> {
        self.control.fault()
    }

    /// Ends the load now; what is under way is still waited for.
    pub fn end_load(&self) {
        self.control.end_load(RealClock.now());
    }

    /// Ends the load now and waits for nothing: what is under way counts as unanswered.
    pub fn abandon(&self) {
        self.control.end_drain(RealClock.now());
    }

    /// Waits no more for workers that do not end, because what makes their requests does not come back. They are left to
    /// it: what they have not handed over is lost, and their threads end with the process at the latest.
    ///
    /// Gives the number of workers that have not ended.
    pub fn leave(&mut self) -> usize {
        self.abandon();
        self.left = true;
        self.threads.drain(..).filter(|thread| !thread.is_finished()).count()
    }

    /// The next frame, waited for at most this long.
    ///
    /// # Errors
    /// When a worker's thread has died.
    pub fn next(&mut self, longest: Duration) -> Result<Turn, EngineError> {
        if let Some(frame) = self.sealed.pop_front() {
            return Ok(Turn::Frame(Box::new(frame)));
        }
        let longest = if self.left { Duration::ZERO } else { longest };
        match self.frames.recv_timeout(longest) {
            Ok(live) => {
                self.take(live);
                Ok(self.sealed.pop_front().map_or(Turn::Quiet, |frame| Turn::Frame(Box::new(frame))))
            }
            Err(RecvTimeoutError::Timeout) if self.left => Ok(Turn::Ended),
            Err(RecvTimeoutError::Timeout) => Ok(Turn::Quiet),
            Err(RecvTimeoutError::Disconnected) => self.join().map(|()| Turn::Ended),
        }
    }

    /// Seals the frames of one interval and gives their memory back to the worker.
    fn take(&mut self, live: Box<LiveFrame>) {
        self.sealed.extend(live.seal());
        let place = live.head.worker.saturating_sub(self.workers_before) as usize;
        if let Some(give_back) = self.empty.get(place)
            && give_back.try_send(live).is_err()
        {
            // The worker has ended and needs no frame any more.
        }
    }

    fn join(&mut self) -> Result<(), EngineError> {
        let died = self.threads.drain(..).map(JoinHandle::join).filter(Result::is_err).count();
        if died == 0 { Ok(()) } else { Err(EngineError::Died) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        self.abandon();
        // A worker may wait for room to hand over its last frame.
        while self.frames.recv().is_ok() {}
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                // The fault was printed by the thread itself, and a drop cannot tell anyone.
            }
        }
    }
}

//! A running step: its worker threads and the frames that they hand over.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_plan::{DriverKind, Shard};
use plimsoll_record::Frame;
use plimsoll_units::{Clock, Instant, RealClock, best_effort};

use crate::control::{Control, FirstConnection};
use crate::driver::Driver;
use crate::driver::epoll::Epoll;
use crate::driver::uring::Uring;
use crate::frame_recorder::{FrameChannel, FrameRecorder, LiveFrame};
use crate::requests::{Source, SourceFault};
use crate::step_spec::StepSpec;
use crate::worker::{Parts, SEND_GRACE, Worker};

/// Why a step could not be run.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The system refused a resource that a worker needs.
    #[error(
        "worker {worker} of {workers} could not be started: {source}; try fewer workers (-t) or raise ulimit -n"
    )]
    Start {
        /// Index of the worker.
        worker: u32,
        /// Number of workers of the step.
        workers: u32,
        source: io::Error,
    },
    /// io_uring is required and unavailable.
    #[error(
        "io_uring cannot be used here: {source}; it needs Linux 6.1, kernel.io_uring_disabled=0 and a sandbox that \
         allows it; try --driver epoll"
    )]
    NoRing { source: io::Error },
    /// A worker's thread panicked.
    #[error("a worker ended by a fault in Plimsoll itself; please report it with the message above")]
    Died,
}

/// The result of [`RunningStep::next`].
#[derive(Debug)]
pub enum StepEvent {
    Frame(Box<Frame>),
    /// No frame arrived in time.
    Timeout,
    /// All workers have ended, and all their frames have been returned.
    Ended,
}

/// A running step. Dropping it ends the load and waits for the workers.
#[derive(Debug)]
pub struct RunningStep {
    control: Arc<Control>,
    began: Instant,
    driver: DriverKind,
    /// Number of workers in the processes before this one; the workers here are numbered after them.
    workers_before: u32,
    frames: Receiver<Box<LiveFrame>>,
    /// Frames that arrived together with one that has been returned already.
    sealed: VecDeque<Frame>,
    /// For each worker, the channel that returns its frames.
    empty: Vec<SyncSender<Box<LiveFrame>>>,
    threads: Vec<JoinHandle<()>>,
    /// Workers that had not ended when [`RunningStep::leave`] was called; `None` until then.
    left: Option<Vec<u32>>,
}

/// All workers begin together, this long after the first one is started.
const HEAD_START: Duration = Duration::from_millis(5);

/// Returns the driver that steps will use: the forced one, otherwise io_uring where it works, otherwise epoll.
///
/// # Errors
/// When io_uring is forced and the kernel, or a seccomp filter, does not offer it.
pub fn available_driver(forced: Option<DriverKind>) -> Result<DriverKind, EngineError> {
    if forced == Some(DriverKind::Epoll) {
        return Ok(DriverKind::Epoll);
    }
    match (Uring::new(Arc::from([])), forced) {
        (Ok(_), _) => Ok(DriverKind::IoUring),
        (Err(_), None) => Ok(DriverKind::Epoll),
        (Err(source), Some(_)) => Err(EngineError::NoRing { source }),
    }
}

/// Creates a ring for each worker; `None` if epoll is forced, or if rings are unavailable and not forced.
fn rings(spec: &StepSpec) -> Result<Option<Vec<Uring>>, EngineError> {
    if spec.driver == Some(DriverKind::Epoll) {
        return Ok(None);
    }
    let rings = (0..spec.workers).map(|_| Uring::new(spec.fixed_bytes())).collect();
    match (rings, spec.driver) {
        (Ok(rings), _) => Ok(Some(rings)),
        (Err(_), None) => Ok(None),
        (Err(source), Some(_)) => Err(EngineError::NoRing { source }),
    }
}

impl RunningStep {
    /// Starts the workers. The load begins a few milliseconds later, or at the instant that the peer group gives to all
    /// processes.
    ///
    /// # Errors
    /// When a thread or its driver cannot be created.
    pub fn start(spec: &StepSpec) -> Result<Self, EngineError> {
        let began = spec.group.as_ref().map_or_else(|| RealClock.now() + HEAD_START, |group| group.begins);
        // The last request may be due at the end of the load, then wait for a connection, and then take the whole timeout.
        let drain = SEND_GRACE + spec.timeout * 2;
        let control = Arc::new(Control::new(began + spec.duration, drain, spec.requests_max));
        let rings = rings(spec)?;
        let (full, frames) = sync_channel(spec.workers as usize * 2);
        let mut running = Self {
            control,
            began,
            driver: DriverKind::Epoll,
            workers_before: spec.group.as_ref().map_or(0, |group| group.workers_before),
            frames,
            sealed: VecDeque::new(),
            empty: Vec::new(),
            threads: Vec::new(),
            left: None,
        };
        match rings {
            Some(rings) => {
                running.driver = DriverKind::IoUring;
                running.start_workers(spec, full, rings.into_iter().map(Ok))?;
            }
            None => {
                let drivers = (0..spec.workers).map(|_| Epoll::new(spec.fixed_bytes()));
                running.start_workers(spec, full, drivers)?;
            }
        }
        Ok(running)
    }

    /// Only the workers hold senders of frames. With a sender kept here, a step that cannot start would wait for frames for ever.
    fn start_workers<D: Driver + Send + 'static>(
        &mut self,
        spec: &StepSpec,
        full: SyncSender<Box<LiveFrame>>,
        drivers: impl Iterator<Item = io::Result<D>>,
    ) -> Result<(), EngineError> {
        for (index, driver) in (0..).zip(drivers) {
            let started =
                driver.and_then(|driver| self.start_worker(spec, spec.shard(index), full.clone(), driver));
            started.map_err(|source| {
                self.control.end_drain(RealClock.now());
                EngineError::Start { worker: index, workers: spec.workers, source }
            })?;
        }
        Ok(())
    }

    fn start_worker<D: Driver + Send + 'static>(
        &mut self,
        spec: &StepSpec,
        shard: Shard,
        full: SyncSender<Box<LiveFrame>>,
        driver: D,
    ) -> io::Result<()> {
        let (give_back, empty) = sync_channel(2);
        // A worker has two frames: it fills one while the conductor reads the other. A new channel has room for the second.
        if give_back.try_send(LiveFrame::new(spec.step, shard.index, spec.requests)).is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let channel = FrameChannel { full, empty };
        let parts = Parts {
            control: Arc::clone(&self.control),
            clock: RealClock,
            driver,
            source: Source::new(&spec.traffic, shard)?,
            recorder: FrameRecorder::new(spec.step, shard, spec.requests, channel, spec.origin),
        };
        let worker = Worker::new(spec.clone(), shard, self.began, parts);
        let name = format!("load-{}", shard.index);
        self.threads.push(thread::Builder::new().name(name).spawn(move || worker.run())?);
        self.empty.push(give_back);
        Ok(())
    }

    /// The driver of all workers.
    pub fn driver(&self) -> DriverKind {
        self.driver
    }

    /// How the first connection of this process went, as far as known.
    pub fn first_connection(&self) -> &FirstConnection {
        self.control.first()
    }

    /// The instant at which the load begins.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// The instant at which the load ends, or ended.
    pub fn load_ends(&self) -> Instant {
        self.control.load_ends()
    }

    /// The instant at which the workers stop waiting for requests in flight, and end.
    pub fn drain_ends(&self) -> Instant {
        self.control.drain_ends()
    }

    /// Why a worker could not generate its requests; `None` if there was no fault, or until that worker has ended.
    pub fn fault(&self) -> Option<&SourceFault> {
        self.control.fault()
    }

    /// Ends the load now; the workers still wait for requests in flight.
    pub fn end_load(&self) {
        self.control.end_load(RealClock.now());
    }

    /// Ends the load now without a drain: requests in flight count as unanswered.
    pub fn abandon(&self) {
        self.control.end_drain(RealClock.now());
    }

    /// Stops waiting for workers that do not end because their request source does not return. Frames that they have not handed
    /// over are lost, even if they arrive later: the caller accounts for their requests. Their threads end at the latest with
    /// the process.
    ///
    /// Returns the indices of the workers that have not ended.
    pub fn leave(&mut self) -> Vec<u32> {
        self.abandon();
        let threads = (self.workers_before..).zip(self.threads.drain(..));
        let left = threads.filter(|(_, thread)| !thread.is_finished()).map(|(worker, _)| worker);
        self.left.insert(left.collect()).clone()
    }

    /// Waits for the next frame, at most `longest`.
    ///
    /// # Errors
    /// When a worker's thread has panicked.
    pub fn next(&mut self, longest: Duration) -> Result<StepEvent, EngineError> {
        if let Some(frame) = self.sealed.pop_front() {
            return Ok(StepEvent::Frame(Box::new(frame)));
        }
        let longest = if self.left.is_some() { Duration::ZERO } else { longest };
        match self.frames.recv_timeout(longest) {
            Ok(live) => {
                self.take(live);
                let next = self.sealed.pop_front();
                Ok(next.map_or(StepEvent::Timeout, |frame| StepEvent::Frame(Box::new(frame))))
            }
            Err(RecvTimeoutError::Timeout) if self.left.is_some() => Ok(StepEvent::Ended),
            Err(RecvTimeoutError::Timeout) => Ok(StepEvent::Timeout),
            Err(RecvTimeoutError::Disconnected) => self.join().map(|()| StepEvent::Ended),
        }
    }

    /// Seals the frames of one interval, unless [`RunningStep::leave`] gave their worker up, and returns the memory to the worker.
    fn take(&mut self, live: Box<LiveFrame>) {
        let is_left = self.left.as_ref().is_some_and(|left| left.contains(&live.head.worker));
        if !is_left {
            self.sealed.extend(live.seal());
        }
        let index = live.head.worker.saturating_sub(self.workers_before) as usize;
        if let Some(give_back) = self.empty.get(index) {
            best_effort(give_back.try_send(live), "a worker that has ended needs no frame");
        }
    }

    fn join(&mut self) -> Result<(), EngineError> {
        let died = self.threads.drain(..).map(JoinHandle::join).filter(Result::is_err).count();
        if died == 0 { Ok(()) } else { Err(EngineError::Died) }
    }
}

impl Drop for RunningStep {
    fn drop(&mut self) {
        if self.left.is_some() {
            return;
        }
        self.abandon();
        // A worker may be blocked because the channel has no room for its last frame.
        while self.frames.recv().is_ok() {}
        for thread in self.threads.drain(..) {
            best_effort(thread.join(), "a thread that panicked has printed why");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forced_driver_is_used_and_otherwise_one_that_works() {
        assert_eq!(available_driver(Some(DriverKind::Epoll)).unwrap(), DriverKind::Epoll);
        match available_driver(Some(DriverKind::IoUring)) {
            Ok(forced) => {
                assert_eq!((forced, available_driver(None).unwrap()), (DriverKind::IoUring, forced))
            }
            Err(error) => {
                assert!(error.to_string().contains("--driver epoll"), "{error}");
                assert_eq!(available_driver(None).unwrap(), DriverKind::Epoll);
            }
        }
    }
}

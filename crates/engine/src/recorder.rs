//! A worker's counts and histograms, and their handing over.
//!
//! The worker fills one frame while the last one is on its way. Neither side ever waits for the
//! other: if the conductor has not given the last frame back, or has no room for this one, the frame
//! goes on and covers the next interval too.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use plimsoll_plan::Shard;
use plimsoll_record::{
    Counts, EncodedHistogram, FailureKind, Frame, FrameHead, Histogram, Phase, WorkerTime, latency_histogram,
};
use plimsoll_sys::{ThreadTime, thread_time};
use plimsoll_units::Instant;

use crate::traffic::Judgement;

/// A frame being filled.
#[derive(Debug)]
pub(crate) struct LiveFrame {
    pub(crate) head: FrameHead,
    latency: Histogram,
    service: Histogram,
    send_lag: Histogram,
}

impl LiveFrame {
    pub(crate) fn new(step: u32, worker: u32) -> Box<Self> {
        let head = FrameHead {
            step,
            worker,
            interval: 0,
            phase: Phase::Measure,
            began_ns: 0,
            ended_ns: 0,
            counts: Counts::default(),
            in_flight: 0,
            backlog: 0,
            connections: 0,
            time: WorkerTime::default(),
        };
        let empty = latency_histogram;
        Box::new(Self { head, latency: empty(), service: empty(), send_lag: empty() })
    }

    /// The frame in the form in which it is kept.
    pub(crate) fn seal(&self) -> Frame {
        Frame {
            head: self.head.clone(),
            latency: EncodedHistogram::encode(&self.latency),
            service: EncodedHistogram::encode(&self.service),
            send_lag: EncodedHistogram::encode(&self.send_lag),
        }
    }

    fn clear(&mut self) {
        self.head.counts.clear();
        self.latency.reset();
        self.service.reset();
        self.send_lag.reset();
    }
}

/// Both ends of the way that frames go between a worker and its conductor.
pub(crate) struct Exchange {
    pub(crate) full: SyncSender<Box<LiveFrame>>,
    pub(crate) empty: Receiver<Box<LiveFrame>>,
}

/// What a worker has under way at the end of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub(crate) in_flight: u64,
    pub(crate) backlog: u64,
    pub(crate) connections: u64,
}

/// The worker's side of the frames.
pub(crate) struct Recorder {
    frame: Box<LiveFrame>,
    exchange: Exchange,
    origin: Instant,
    cpu: ThreadTime,
    interval: u32,
}

impl Recorder {
    pub(crate) fn new(step: u32, shard: Shard, exchange: Exchange, origin: Instant) -> Self {
        let frame = LiveFrame::new(step, shard.index);
        Self { frame, exchange, origin, cpu: ThreadTime::default(), interval: 0 }
    }

    /// The first frame begins. Called on the worker's own thread, whose CPU time counts from here.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.frame.head.began_ns = now.nanos_since(self.origin);
        self.cpu = thread_time();
    }

    #[inline]
    pub(crate) fn counts(&mut self, _group: u16) -> &mut Counts {
        &mut self.frame.head.counts
    }

    /// A response was complete, `latency_ns` after it was due and `service_ns` after it was sent.
    #[inline]
    pub(crate) fn completed(
        &mut self,
        group: u16,
        status: u16,
        judgement: Judgement,
        [latency_ns, service_ns]: [u64; 2],
    ) {
        let counts = &mut self.frame.head.counts;
        counts.completed += 1;
        counts.ok += u64::from(match judgement {
            Judgement::ByStatus => (200..400).contains(&status),
            Judgement::Passed => true,
            Judgement::Failed(_) => false,
        });
        counts.status.count(status);
        self.ended_after(group, latency_ns, service_ns);
    }

    /// A request ended, or was given up, this long after it was due and sent.
    #[inline]
    pub(crate) fn ended_after(&mut self, _group: u16, latency_ns: u64, service_ns: u64) {
        self.frame.latency.saturating_record(latency_ns);
        self.frame.service.saturating_record(service_ns);
    }

    /// So many requests were given up this long after they were due, before they could be sent.
    pub(crate) fn never_sent_after(&mut self, latency_ns: u64, requests: u64) {
        self.frame.latency.saturating_record_n(latency_ns, requests);
    }

    #[inline]
    pub(crate) fn send_lag(&mut self, lag_ns: u64, requests: u64) {
        self.frame.send_lag.saturating_record_n(lag_ns, requests);
    }

    pub(crate) fn failed(&mut self, _group: u16, kind: FailureKind, count: u64) {
        self.frame.head.counts.failed.add(kind, count);
    }

    /// Ends the frame, which covers the intervals up to `next_interval`, and hands it over if that can be
    /// done without waiting; says whether it was.
    pub(crate) fn hand_over(
        &mut self,
        now: Instant,
        next_interval: u32,
        phase: Phase,
        gauges: Gauges,
    ) -> bool {
        let Ok(spare) = self.exchange.empty.try_recv() else { return false };
        self.close_frame(now, phase, gauges);
        let full = std::mem::replace(&mut self.frame, spare);
        match self.exchange.full.try_send(full) {
            Ok(()) => {
                self.open_frame(now, next_interval);
                true
            }
            // Each worker has one frame on its way at most, and the channel a place for it: only
            // a conductor that is gone refuses.
            Err(TrySendError::Full(frame) | TrySendError::Disconnected(frame)) => {
                self.frame = frame;
                false
            }
        }
    }

    /// Hands over the last frame. This one may wait: the load is over.
    pub(crate) fn finish(mut self, now: Instant, phase: Phase, gauges: Gauges) {
        self.close_frame(now, phase, gauges);
        if self.exchange.full.send(self.frame).is_err() {
            // The conductor is gone, and with it everybody who could want the frame.
        }
    }

    fn close_frame(&mut self, now: Instant, phase: Phase, gauges: Gauges) {
        let cpu = thread_time();
        let head = &mut self.frame.head;
        head.phase = phase;
        head.interval = self.interval;
        head.ended_ns = now.nanos_since(self.origin);
        head.in_flight = gauges.in_flight;
        head.backlog = gauges.backlog;
        head.connections = gauges.connections;
        head.time = WorkerTime {
            user_ns: cpu.user_ns.saturating_sub(self.cpu.user_ns),
            system_ns: cpu.system_ns.saturating_sub(self.cpu.system_ns),
            starved_ns: cpu.starved_ns.saturating_sub(self.cpu.starved_ns),
        };
        self.cpu = cpu;
    }

    fn open_frame(&mut self, now: Instant, interval: u32) {
        self.frame.clear();
        self.frame.head.began_ns = now.nanos_since(self.origin);
        self.interval = interval;
    }
}

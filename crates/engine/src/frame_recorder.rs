//! Records a worker's counts and histograms, and hands them over to the conductor.
//!
//! The worker fills one frame while the conductor reads the last one. Neither side waits for the other: if the conductor has
//! not returned the last frame, or has no room for the current one, the current frame continues and covers the next interval.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use plimsoll_plan::Shard;
use plimsoll_record::{
    Counts, EncodedHistogram, FailureKind, Frame, FrameHead, Histogram, Phase, Trace, WorkerTime,
    latency_histogram,
};
use plimsoll_sys::{ThreadTime, suspended_ns, thread_time};
use plimsoll_units::{Instant, best_effort};

use crate::requests::CheckResult;
use crate::slowest::{FrameTraces, StepTraces};

/// A worker that runs late by less than this was delayed by the scheduler, which is counted separately.
const MIN_STALL_NS: u64 = 100_000_000;

/// Counts and histograms of one request of the plan in one interval.
#[derive(Debug)]
struct LiveRequest {
    counts: Counts,
    latency: Histogram,
    /// Latencies of requests that ended without success.
    unsuccessful: Histogram,
    service: Histogram,
    /// True once a service time differed from the latency of its request. Until then `service` stays empty and `latency` holds
    /// both: in a closed loop the two are almost always equal.
    service_differs: bool,
}

impl LiveRequest {
    fn new() -> Self {
        Self {
            counts: Counts::with_room(),
            latency: latency_histogram(),
            unsuccessful: latency_histogram(),
            service: latency_histogram(),
            service_differs: false,
        }
    }

    #[inline]
    fn ended_after(&mut self, latency_ns: u64, service_ns: u64) {
        if latency_ns != service_ns {
            self.separate_service();
        }
        self.latency.saturating_record(latency_ns);
        if self.service_differs {
            self.service.saturating_record(service_ns);
        }
    }

    fn never_sent_after(&mut self, latency_ns: u64, requests: u64) {
        self.separate_service();
        self.latency.saturating_record_n(latency_ns, requests);
        self.unsuccessful.saturating_record_n(latency_ns, requests);
    }

    /// Begins to record service times separately. All service times so far equal their latencies.
    fn separate_service(&mut self) {
        if !self.service_differs {
            self.service_differs = true;
            if self.service.add(&self.latency).is_err() {
                unreachable!("histograms of one shape can be added");
            }
        }
    }

    fn clear(&mut self) {
        self.counts.clear();
        self.service_differs = false;
        clear(&mut self.latency);
        clear(&mut self.unsuccessful);
        clear(&mut self.service);
    }
}

/// Empties a histogram. It does not write to an empty one, whose memory may never have been touched.
fn clear(histogram: &mut Histogram) {
    if !histogram.is_empty() {
        histogram.reset();
    }
}

/// A frame being filled: the records of all requests of the plan and of the worker as a whole.
#[derive(Debug)]
pub(crate) struct LiveFrame {
    /// The fields that all frames made from this one share, and the worker's gauges; its counts stay empty.
    pub(crate) head: FrameHead,
    requests: Box<[LiveRequest]>,
    send_lag: Histogram,
    connect: Histogram,
    handshake: Histogram,
    traces: FrameTraces,
}

impl LiveFrame {
    /// Creates an empty frame for `requests` requests of the plan.
    pub(crate) fn new(step: u32, worker: u32, requests: u16) -> Box<Self> {
        let head = FrameHead {
            step,
            worker,
            request: 0,
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
        let requests = (0..requests.max(1)).map(|_| LiveRequest::new()).collect();
        let empty = latency_histogram;
        Box::new(Self {
            head,
            requests,
            send_lag: empty(),
            connect: empty(),
            handshake: empty(),
            traces: FrameTraces::new(),
        })
    }

    /// Returns the frames in the form in which they are stored, the frame of the worker as a whole first.
    pub(crate) fn seal(&self) -> impl Iterator<Item = Frame> {
        let counted = |(request, live): &(u16, &LiveRequest)| *request == 0 || !live.counts.is_empty();
        (0..).zip(&self.requests).filter(counted).map(|(request, live)| self.seal_request(request, live))
    }

    fn seal_request(&self, request: u16, live: &LiveRequest) -> Frame {
        let head = FrameHead { request, counts: live.counts.clone(), ..self.head.clone() };
        let encode = EncodedHistogram::encode;
        let (latency, unsuccessful) = (encode(&live.latency), encode(&live.unsuccessful));
        let service = live.service_differs.then(|| encode(&live.service));
        if request == 0 {
            let (send_lag, connect) = (encode(&self.send_lag), encode(&self.connect));
            return Frame {
                head,
                latency,
                unsuccessful,
                service,
                send_lag,
                connect,
                handshake: encode(&self.handshake),
                traces: self.traces.iter().copied().collect(),
            };
        }
        let head =
            FrameHead { in_flight: 0, backlog: 0, connections: 0, time: WorkerTime::default(), ..head };
        let none = EncodedHistogram::default;
        let (send_lag, connect, handshake) = (none(), none(), none());
        Frame { head, latency, unsuccessful, service, send_lag, connect, handshake, traces: Vec::new() }
    }

    fn clear(&mut self) {
        self.traces.clear();
        self.requests.iter_mut().for_each(LiveRequest::clear);
        [&mut self.send_lag, &mut self.connect, &mut self.handshake].into_iter().for_each(clear);
    }
}

/// The worker's ends of the channels between it and its conductor.
pub(crate) struct FrameChannel {
    /// Takes full frames to the conductor.
    pub(crate) full: SyncSender<Box<LiveFrame>>,
    /// Returns frames from the conductor, to be filled again.
    pub(crate) empty: Receiver<Box<LiveFrame>>,
}

/// The state of a worker at the end of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub(crate) in_flight: u64,
    pub(crate) backlog: u64,
    pub(crate) connections: u64,
}

/// A complete response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed {
    pub(crate) status: u16,
    pub(crate) check: CheckResult,
    /// done − intended.
    pub(crate) latency_ns: u64,
    /// done − sent.
    pub(crate) service_ns: u64,
}

impl Completed {
    /// True if the response is a success.
    #[inline]
    pub(crate) fn is_ok(self) -> bool {
        match self.check {
            CheckResult::ByStatus => (200..400).contains(&self.status),
            CheckResult::Passed => true,
            CheckResult::Failed(_) => false,
        }
    }
}

/// Records the events of a worker, frame by frame.
pub(crate) struct FrameRecorder {
    frame: Box<LiveFrame>,
    channel: FrameChannel,
    traces: StepTraces,
    origin: Instant,
    cpu: ThreadTime,
    /// Time since the frame began in which the worker should have run and did not.
    stalled_ns: u64,
    /// Total time that the machine had been suspended when the frame began.
    suspended_ns: u64,
    interval: u32,
}

impl FrameRecorder {
    /// Creates the recorder of one worker for `requests` requests of the plan.
    pub(crate) fn new(
        step: u32,
        shard: Shard,
        requests: u16,
        channel: FrameChannel,
        origin: Instant,
    ) -> Self {
        let frame = LiveFrame::new(step, shard.index, requests);
        Self {
            frame,
            channel,
            traces: StepTraces::new(),
            origin,
            cpu: ThreadTime::default(),
            stalled_ns: 0,
            suspended_ns: suspended_ns(),
            interval: 0,
        }
    }

    /// Begins the first frame. Must be called on the worker's own thread, because it starts the measurement of its CPU time.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.frame.head.began_ns = now.nanos_since(self.origin);
        self.cpu = thread_time();
    }

    /// Counts of the request with index `request` in the plan. Counts of the worker as a whole go to the request with index 0.
    #[inline]
    pub(crate) fn counts(&mut self, request: u16) -> &mut Counts {
        &mut self.frame.requests[usize::from(request)].counts
    }

    /// Records that a connection was ready for its first request, `connect_ns` after it began to connect.
    pub(crate) fn connected(&mut self, connect_ns: u64) {
        self.counts(0).connects += 1;
        self.frame.connect.saturating_record(connect_ns);
    }

    /// Records that a TLS handshake ended, `handshake_ns` after the socket was connected.
    pub(crate) fn secured(&mut self, handshake_ns: u64, resumed: bool) {
        self.counts(0).handshakes += 1;
        self.counts(0).resumed += u64::from(resumed);
        self.frame.handshake.saturating_record(handshake_ns);
    }

    /// Records a complete response.
    #[inline]
    pub(crate) fn completed(&mut self, request: u16, completed: Completed) {
        let Completed { status, check, latency_ns, service_ns } = completed;
        let live = &mut self.frame.requests[usize::from(request)];
        live.counts.completed += 1;
        live.counts.status.count(status);
        if let CheckResult::Failed(checks) = check {
            live.counts.checks.add_bits(checks);
        }
        let ok = completed.is_ok();
        live.counts.ok += u64::from(ok);
        if !ok {
            live.unsuccessful.saturating_record(latency_ns);
        }
        live.ended_after(latency_ns, service_ns);
    }

    /// Records the times of a request that failed or was given up.
    #[inline]
    pub(crate) fn ended_after(&mut self, request: u16, latency_ns: u64, service_ns: u64) {
        let live = &mut self.frame.requests[usize::from(request)];
        live.unsuccessful.saturating_record(latency_ns);
        live.ended_after(latency_ns, service_ns);
    }

    /// Records `requests` requests that were given up before they were sent, `latency_ns` after they were due.
    pub(crate) fn never_sent_after(&mut self, request: u16, latency_ns: u64, requests: u64) {
        self.frame.requests[usize::from(request)].never_sent_after(latency_ns, requests);
    }

    #[inline]
    pub(crate) fn send_lag(&mut self, lag_ns: u64, requests: u64) {
        self.frame.send_lag.saturating_record_n(lag_ns, requests);
    }

    pub(crate) fn failed(&mut self, request: u16, kind: FailureKind, count: u64) {
        self.counts(request).failed.add(kind, count);
    }

    /// Converts an instant to nanoseconds since the run began.
    pub(crate) fn since_origin(&self, instant: Instant) -> u64 {
        instant.nanos_since(self.origin)
    }

    /// Records a request that carried a trace id and has ended.
    pub(crate) fn traced(&mut self, trace: Trace) {
        self.traces.add(trace, &mut self.frame.traces);
    }

    /// Records that the worker woke up late by `late_ns`, or that its turn took that long. Short delays come from the scheduler,
    /// which has a count of its own.
    #[inline]
    pub(crate) fn late_by(&mut self, late_ns: u64) {
        if late_ns >= MIN_STALL_NS {
            self.stalled_ns += late_ns;
        }
    }

    /// Ends the frame, which covers the intervals up to `next_interval`, and hands it over if that is possible without
    /// waiting. Returns true if it was handed over.
    pub(crate) fn hand_over(
        &mut self,
        now: Instant,
        next_interval: u32,
        phase: Phase,
        gauges: Gauges,
    ) -> bool {
        let Ok(spare) = self.channel.empty.try_recv() else { return false };
        self.close_frame(now, phase, gauges);
        let full = std::mem::replace(&mut self.frame, spare);
        match self.channel.full.try_send(full) {
            Ok(()) => {
                self.open_frame(now, next_interval);
                true
            }
            // At most one frame of a worker is with the conductor, and the channel has room for it. So this fails only if the
            // conductor has ended.
            Err(TrySendError::Full(frame) | TrySendError::Disconnected(frame)) => {
                self.frame = frame;
                false
            }
        }
    }

    /// Hands over the last frame. May wait, because the load is over.
    pub(crate) fn finish(mut self, now: Instant, phase: Phase, gauges: Gauges) {
        self.close_frame(now, phase, gauges);
        best_effort(self.channel.full.send(self.frame), "the conductor has ended, and nothing reads frames");
    }

    fn close_frame(&mut self, now: Instant, phase: Phase, gauges: Gauges) {
        let (cpu, suspended_ns) = (thread_time(), suspended_ns());
        let head = &mut self.frame.head;
        head.phase = phase;
        head.interval = self.interval;
        head.ended_ns = now.nanos_since(self.origin);
        head.in_flight = gauges.in_flight;
        head.backlog = gauges.backlog;
        head.connections = gauges.connections;
        let user_ns = cpu.user_ns.saturating_sub(self.cpu.user_ns);
        let system_ns = cpu.system_ns.saturating_sub(self.cpu.system_ns);
        let starved_ns = cpu.starved_ns.saturating_sub(self.cpu.starved_ns);
        // A long turn may have been busy: only the time without CPU use counts as stalled.
        let idle_ns = (head.ended_ns - head.began_ns).saturating_sub(user_ns + system_ns + starved_ns);
        let mut stalled_ns = std::mem::take(&mut self.stalled_ns).min(idle_ns);
        // The worker's clock does not advance while the machine is suspended.
        let away_ns = suspended_ns.saturating_sub(self.suspended_ns);
        stalled_ns += if away_ns >= MIN_STALL_NS { away_ns } else { 0 };
        self.suspended_ns = suspended_ns;
        head.time = WorkerTime { user_ns, system_ns, starved_ns, stalled_ns };
        self.cpu = cpu;
    }

    fn open_frame(&mut self, now: Instant, interval: u32) {
        self.frame.clear();
        self.frame.head.began_ns = now.nanos_since(self.origin);
        self.interval = interval;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use plimsoll_units::{Clock, RealClock};

    use super::*;

    /// What a worker of three requests hands over after `record`.
    fn recorded(record: impl FnOnce(&mut FrameRecorder)) -> Vec<Frame> {
        let (full, frames) = sync_channel(1);
        let (_give_back, empty) = sync_channel(1);
        let shard = Shard { index: 0, of: 1 };
        let now = RealClock.now();
        let mut recorder = FrameRecorder::new(0, shard, 3, FrameChannel { full, empty }, now);
        record(&mut recorder);
        let gauges = Gauges { in_flight: 4, backlog: 5, connections: 6 };
        recorder.finish(now, Phase::Measure, gauges);
        frames.recv().unwrap().seal().collect()
    }

    fn completed_after(latency_ns: u64, service_ns: u64) -> Completed {
        Completed { status: 200, check: CheckResult::ByStatus, latency_ns, service_ns }
    }

    fn values(encoded: &EncodedHistogram) -> Vec<u64> {
        let mut histogram = latency_histogram();
        encoded.add_to(&mut histogram).unwrap();
        histogram
            .iter_recorded()
            .flat_map(|at| vec![at.value_iterated_to(); at.count_at_value() as usize])
            .collect()
    }

    #[test]
    fn the_first_frame_is_the_workers_and_requests_without_events_have_none() {
        let frames = recorded(|recorder| recorder.completed(2, completed_after(1000, 1000)));
        let heads: Vec<_> = frames.iter().map(|frame| &frame.head).collect();
        assert_eq!(heads.iter().map(|head| head.request).collect::<Vec<_>>(), [0, 2]);
        assert_eq!((heads[0].in_flight, heads[0].backlog, heads[0].connections), (4, 5, 6));
        assert_eq!((heads[1].in_flight, heads[1].backlog, heads[1].connections), (0, 0, 0));
        assert_eq!((heads[0].counts.completed, heads[1].counts.completed), (0, 1));
    }

    #[test]
    fn service_times_are_kept_separately_from_the_first_that_differs() {
        let frames = recorded(|recorder| {
            recorder.completed(0, completed_after(1000, 1000));
            recorder.completed(1, completed_after(1000, 1000));
            recorder.completed(1, completed_after(500, 400));
            recorder.completed(1, completed_after(1000, 1000));
            recorder.completed(2, completed_after(1000, 1000));
            recorder.never_sent_after(2, 2000, 1);
        });
        assert_eq!(frames[0].service, None);
        assert_eq!(values(frames[0].service_times()), [1000]);
        assert_eq!(
            (values(&frames[1].latency), values(frames[1].service_times())),
            (vec![500, 1000, 1000], vec![400, 1000, 1000])
        );
        assert_eq!((values(&frames[2].latency).len(), values(frames[2].service_times())), (2, vec![1000]));
    }

    #[test]
    fn a_response_that_fails_a_check_is_completed_and_not_ok() {
        let frames = recorded(|recorder| {
            recorder.completed(0, completed_after(1, 1));
            recorder.completed(0, Completed { check: CheckResult::Failed(0b10), ..completed_after(1, 1) });
            recorder.completed(0, Completed { status: 404, ..completed_after(1, 1) });
        });
        let counts = &frames[0].head.counts;
        assert_eq!((counts.completed, counts.ok, counts.checks.get(1)), (3, 1, 1));
    }

    #[test]
    fn the_times_of_what_did_not_succeed_are_also_kept_by_themselves() {
        let frames = recorded(|recorder| {
            recorder.completed(0, completed_after(1000, 1000));
            recorder.completed(0, Completed { status: 503, ..completed_after(20, 20) });
            recorder.ended_after(0, 700, 600);
            recorder.never_sent_after(0, 900, 2);
        });
        assert_eq!(values(&frames[0].unsuccessful), [20, 700, 900, 900]);
        assert_eq!(values(&frames[0].latency), [20, 700, 900, 900, 1000]);
    }
}

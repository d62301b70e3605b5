//! One load against null servers, and what came of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::{FixedRequest, RunningStep, StepEvent, StepSpec, Traffic};
use plimsoll_plan::{ArrivalProcess, DriverKind, Level, RateProfile, Target};
use plimsoll_record::{CalibratedLevel, CalibratedRate, Frame, Histogram, Phase, Pinning, latency_histogram};
use plimsoll_sys::Cores;
use plimsoll_target::NullServer;
use plimsoll_units::{Clock, RealClock};

use super::CalibrateError;

/// Frames of one measurement, and those at its front that are left out: connections are opened in them.
const FRAMES: u32 = 20;
const FRAMES_SKIPPED: u32 = 5;
/// Connections of an open loop: more than are under way at any rate that is kept up with.
const OPEN_CONNECTIONS: u32 = 100;
/// How often the wish to end is looked at while no frame comes.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The null server answers at once or never.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A closed loop to be measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) workers: u32,
    pub(super) connections: u32,
}

/// Where measurements are made.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    driver: DriverKind,
    interrupted: &'a AtomicBool,
    /// The cores this process may run on, where the system tells and lets threads be bound.
    cores: Option<Cores>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(driver: DriverKind, interrupted: &'a AtomicBool) -> Self {
        let bindable = |cores: &Cores| cores.bind().is_ok();
        Self { driver, interrupted, cores: Cores::allowed().ok().filter(bindable) }
    }

    /// The last core makes the load and the first one serves: interrupts of devices often come to the first.
    pub(super) fn pinning(&self) -> Option<Pinning> {
        let numbers = self.cores?.numbers();
        Some(Pinning { worker_core: *numbers.last()?, server_core: *numbers.first()? })
    }

    /// Holds a closed loop. One worker and its server have a core each; more share all cores with as many servers.
    pub(super) fn level(&self, load: Load, length: Duration) -> Result<CalibratedLevel, CalibrateError> {
        let level = Level::Closed { connections: load.connections, depth: 1 };
        let mut sum = CalibratedLevel {
            workers: load.workers,
            connections: load.connections,
            completed: 0,
            span_ns: 0,
            user_ns: 0,
            system_ns: 0,
            starved_ns: 0,
        };
        let mut spans_ns = 0;
        self.measure(load.workers, level, length, &mut |frame| {
            let head = &frame.head;
            sum.completed += head.counts.completed;
            sum.user_ns += head.time.user_ns;
            sum.system_ns += head.time.system_ns;
            sum.starved_ns += head.time.starved_ns;
            spans_ns += head.ended_ns.saturating_sub(head.began_ns);
        })?;
        sum.span_ns = spans_ns / u64::from(load.workers);
        Ok(sum)
    }

    /// Holds an open loop of one worker at a rate, in whole requests per second.
    pub(super) fn rate(&self, rate_per_sec: f64, length: Duration) -> Result<CalibratedRate, CalibrateError> {
        let rate_per_sec = rate_per_sec.round().max(1.0);
        let level = Level::Open {
            profile: RateProfile::Constant(rate_per_sec),
            arrivals: ArrivalProcess::Constant,
            connections: OPEN_CONNECTIONS,
            depth: 1,
        };
        let (mut intended, mut completed, mut lags) = (0, 0, latency_histogram());
        self.measure(1, level, length, &mut |frame| {
            intended += frame.head.counts.intended;
            completed += frame.head.counts.completed;
            if frame.send_lag.add_to(&mut lags).is_err() {
                // A histogram that was just encoded decodes; if not, its frame says nothing of lag.
            }
        })?;
        Ok(CalibratedRate {
            rate_per_sec: rate_per_sec as u64,
            intended,
            completed,
            send_lag_p50_ns: quantile_ns(&lags, 0.5),
            send_lag_p99_ns: quantile_ns(&lags, 0.99),
        })
    }

    /// Runs one load to its end; `count` is given the frames that are measured. What is under way then is not waited for.
    fn measure(
        &self,
        workers: u32,
        level: Level,
        length: Duration,
        count: &mut dyn FnMut(&Frame),
    ) -> Result<(), CalibrateError> {
        let servers = self.servers(workers)?;
        let mut running = self.start(&self.order(&servers, workers, level, length)?)?;
        loop {
            match running.next(LOOK_EVERY)? {
                StepEvent::Frame(frame) if is_measured(&frame) => count(&frame),
                StepEvent::Frame(_) | StepEvent::Timeout => {}
                StepEvent::Ended => return Ok(()),
            }
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(CalibrateError::Interrupted);
            }
            if RealClock.now() >= running.load_ends() {
                running.abandon();
            }
        }
    }

    fn order(
        &self,
        servers: &[NullServer],
        workers: u32,
        level: Level,
        length: Duration,
    ) -> Result<StepSpec, CalibrateError> {
        let target = Target::parse("http://127.0.0.1/")?;
        Ok(StepSpec {
            step: 0,
            connections_max: level.connections(),
            level,
            duration: length,
            destinations: servers.iter().map(|server| server.address().into()).collect(),
            sources: Vec::new(),
            traffic: Traffic::Fixed(FixedRequest::new(target.encode()?, &target.method)),
            requests: 1,
            depth: 1,
            requests_max: None,
            streams: false,
            tls: None,
            workers,
            group: None,
            timeout: TIMEOUT,
            interval: length / FRAMES,
            seed: 1,
            driver: Some(self.driver),
            origin: RealClock.now(),
        })
    }

    fn servers(&self, workers: u32) -> Result<Vec<NullServer>, CalibrateError> {
        let core = self.pinning().filter(|_| workers == 1).map(|pinning| pinning.server_core);
        (0..workers).map(|_| Ok(NullServer::start(core)?)).collect()
    }

    /// Starts the workers; they inherit the core of the thread that starts them, which is set free again.
    fn start(&self, order: &StepSpec) -> Result<RunningStep, CalibrateError> {
        let pinning = self.pinning().filter(|_| order.workers == 1);
        if pinning.is_some_and(|pinning| Cores::only(pinning.worker_core).bind().is_err()) {
            // The worker runs on any core then, and what it shares with the server shows as starving.
        }
        let running = RunningStep::start(order);
        if self.cores.is_some_and(|cores| cores.bind().is_err()) {
            // Only this thread's collecting of frames stays on the worker's core, which costs the worker a little.
        }
        Ok(running?)
    }
}

fn is_measured(frame: &Frame) -> bool {
    frame.head.phase == Phase::Measure && (FRAMES_SKIPPED..FRAMES).contains(&frame.head.interval)
}

fn quantile_ns(lags: &Histogram, quantile: f64) -> u64 {
    if lags.is_empty() { 0 } else { lags.value_at_quantile(quantile) }
}

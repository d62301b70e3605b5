//! One load against null servers, and its result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plimsoll_engine::{FixedRequest, StepSpec, Traffic};
use plimsoll_plan::{ArrivalProcess, DriverKind, Level, RateProfile, Target};
use plimsoll_record::{
    CalibratedLevel, CalibratedRate, CorruptHistogram, Frame, Histogram, Phase, Pinning, latency_histogram,
};
use plimsoll_sys::Cores;
use plimsoll_target::NullServer;
use plimsoll_units::{Clock, Instant, RealClock};

use super::error::CalibrateError;
use crate::load::{Load, Policy, measure};

/// The frames of one measurement; the first `FRAMES_SKIPPED` are left out, because connections are opened in them.
const FRAMES: u32 = 20;
const FRAMES_SKIPPED: u32 = 5;
/// Connections of an open loop: more than are in use at any rate that the generator keeps up with.
const OPEN_CONNECTIONS: u32 = 100;
/// The null server answers at once or never.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The setup of the measurements.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    driver: DriverKind,
    interrupted: &'a AtomicBool,
    /// The cores that this process may run on; `None` if threads cannot be bound to them.
    cores: Option<Cores>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(driver: DriverKind, interrupted: &'a AtomicBool) -> Self {
        let bindable = |cores: &Cores| cores.bind().is_ok();
        Self { driver, interrupted, cores: Cores::allowed().ok().filter(bindable) }
    }

    /// The last core makes the load and the first one serves: device interrupts often go to the first.
    pub(super) fn pinning(&self) -> Option<Pinning> {
        let numbers = self.cores?.numbers();
        Some(Pinning { worker_core: *numbers.last()?, server_core: *numbers.first()? })
    }

    /// Measures a closed loop. A single worker and its server get one core each; several workers share all cores with as many servers.
    pub(super) fn level(
        &self,
        workers: u32,
        connections: u32,
        length: Duration,
    ) -> Result<CalibratedLevel, CalibrateError> {
        let level = Level::Closed { connections, depth: 1 };
        let mut sum = CalibratedLevel {
            workers,
            connections,
            completed: 0,
            span_ns: 0,
            user_ns: 0,
            system_ns: 0,
            starved_ns: 0,
        };
        let mut spans_ns = 0;
        self.measure(workers, level, length, &mut |frame| {
            let head = &frame.head;
            sum.completed += head.counts.completed;
            sum.user_ns += head.time.user_ns;
            sum.system_ns += head.time.system_ns;
            sum.starved_ns += head.time.starved_ns;
            spans_ns += head.ended_ns.saturating_sub(head.began_ns);
            Ok(())
        })?;
        sum.span_ns = spans_ns / u64::from(workers);
        Ok(sum)
    }

    /// Measures an open loop of one worker; the rate is rounded to whole requests per second.
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
            frame.send_lag.add_to(&mut lags)
        })?;
        Ok(CalibratedRate {
            rate_per_sec: rate_per_sec as u64,
            intended,
            completed,
            send_lag_p50_ns: quantile_ns(&lags, 0.5),
            send_lag_p99_ns: quantile_ns(&lags, 0.99),
        })
    }

    /// Makes one load to its end, without waiting for requests under way; calls `count` with each measured frame.
    fn measure(
        &self,
        workers: u32,
        level: Level,
        length: Duration,
        count: &mut dyn FnMut(&Frame) -> Result<(), CorruptHistogram>,
    ) -> Result<(), CalibrateError> {
        let servers = self.servers(workers)?;
        let mut load = self.start(&self.order(&servers, workers, level, length)?)?;
        measure(&mut load, &mut Counting { interrupted: self.interrupted, count })
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

    /// Starts the workers. They inherit the core of the starting thread, which is then allowed on all cores again.
    fn start(&self, order: &StepSpec) -> Result<Load, CalibrateError> {
        if let Some(pinning) = self.pinning().filter(|_| order.workers == 1) {
            Cores::only(pinning.worker_core).bind().map_err(CalibrateError::Pinning)?;
        }
        let load = Load::alone(order);
        if let Some(cores) = self.cores {
            cores.bind().map_err(CalibrateError::Pinning)?;
        }
        Ok(load?)
    }
}

struct Counting<'a> {
    interrupted: &'a AtomicBool,
    count: &'a mut dyn FnMut(&Frame) -> Result<(), CorruptHistogram>,
}

impl Policy for Counting<'_> {
    type Error = CalibrateError;

    const WAIT: Duration = Duration::from_millis(20);

    fn frame(&mut self, _load: &mut Load, frame: Box<Frame>, _now: Instant) -> Result<(), CalibrateError> {
        let in_time = (FRAMES_SKIPPED..FRAMES).contains(&frame.head.interval);
        if frame.head.phase == Phase::Measure && in_time {
            (self.count)(&frame)?;
        }
        Ok(())
    }

    fn turn(&mut self, load: &mut Load, now: Instant) -> Result<(), CalibrateError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(CalibrateError::Interrupted);
        }
        if now >= load.ends() {
            load.abandon();
        }
        Ok(())
    }
}

fn quantile_ns(lags: &Histogram, quantile: f64) -> u64 {
    if lags.is_empty() { 0 } else { lags.value_at_quantile(quantile) }
}

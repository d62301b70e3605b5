//! Measures the maximum load that this machine's generator can make, against a server that does nothing.
//!
//! Closed loops measure the most requests per second. An open loop at a tenth of that measures the send lag. A search between the
//! two finds the highest rate that the generator keeps up with. All traffic stays in this process and on its loopback.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_engine::available_driver;
use plimsoll_plan::DriverKind;
use plimsoll_record::{CalibratedLevel, CalibratedRate, Calibration, CalibrationKey, Limits};
use plimsoll_units::{Clock, RealClock, unix_ms};

pub use error::CalibrateError;
use measurement::Bench;

mod error;
mod measurement;

/// The shortest budget; with less, a measurement would be shorter than a scheduler time slice.
pub const MIN_CALIBRATION: Duration = Duration::from_secs(2);

const CONNECTIONS: [u32; 3] = [1, 100, 1000];
/// The fractions of the budget for one closed loop, for the open loop at a tenth, and for each rate of the search. With five closed
/// loops and eight rates, a tenth is left for starting and ending them.
const LEVEL_SHARE: f64 = 0.06;
const TENTH_SHARE: f64 = 0.10;
const RATE_SHARE: f64 = 0.06;
/// The most rates to try: each halves the remaining interval of the highest rate's logarithm.
const MAX_RATES: usize = 8;
/// The search ends when the lowest rate that was missed is at most this many times the highest that was kept.
const NEAR_RATIO: f64 = 1.03;

/// The options of a calibration.
#[derive(Debug)]
pub struct CalibrationOptions<'a> {
    /// The approximate total time; at least [`MIN_CALIBRATION`].
    pub budget: Duration,
    pub driver: Option<DriverKind>,
    pub tool_version: &'a str,
    pub interrupted: &'a AtomicBool,
}

/// A new measurement.
#[derive(Debug)]
pub enum CalibrationProgress<'a> {
    ClosedLoop(&'a CalibratedLevel),
    OpenLoop(&'a CalibratedRate),
}

/// The machine, driver and version that a calibration made here is valid for.
pub fn calibration_key(driver: DriverKind, tool_version: &str) -> CalibrationKey {
    let (hostname, kernel, architecture) = plimsoll_sys::kernel_name();
    CalibrationKey {
        hostname,
        kernel,
        cpu_model: plimsoll_host::cpu_model(Path::new("/")).unwrap_or(architecture),
        cores: plimsoll_sys::allowed_cores(),
        tool_version: tool_version.to_owned(),
        driver: driver.name().to_owned(),
    }
}

/// The default driver of loads on this machine.
///
/// # Errors
/// When the kernel supports no driver.
pub fn usual_driver() -> Result<DriverKind, CalibrateError> {
    Ok(available_driver(None)?)
}

/// The calibration of a driver; `None` if it has none.
pub(crate) fn of_driver(known: &[Calibration], driver: DriverKind) -> Option<&Calibration> {
    known.iter().find(|calibration| calibration.key.driver == driver.name())
}

/// Calibrates this machine's generator; calls `show` with each result.
///
/// # Errors
/// When the server or the engine cannot run, no request is answered, or the user interrupts.
pub fn calibrate(
    options: &CalibrationOptions<'_>,
    show: &mut dyn FnMut(&CalibrationProgress<'_>),
) -> Result<Calibration, CalibrateError> {
    let ends = RealClock.now() + options.budget;
    let driver = available_driver(options.driver)?;
    let bench = Bench::new(driver, options.interrupted);
    let key = calibration_key(driver, options.tool_version);
    let closed = closed_loops(&bench, options.budget.mul_f64(LEVEL_SHARE), key.cores, show)?;
    let mut calibration = Calibration {
        key,
        measured_unix_ms: unix_ms(),
        pinning: bench.pinning(),
        closed,
        tenth: None,
        rates: Vec::new(),
    };
    let ceiling_per_sec = calibration.ceiling().map_or(0.0, CalibratedLevel::per_sec);
    if ceiling_per_sec < 10.0 {
        return Err(CalibrateError::Unanswered(options.budget));
    }
    let mut measure = |rate_per_sec, length| {
        let rate = bench.rate(rate_per_sec, length)?;
        show(&CalibrationProgress::OpenLoop(&rate));
        Ok(rate)
    };
    let tenth = measure(ceiling_per_sec / 10.0, options.budget.mul_f64(TENTH_SHARE))?;
    let length = options.budget.mul_f64(RATE_SHARE);
    let in_time = || RealClock.now() + length <= ends;
    calibration.rates = search(&tenth, ceiling_per_sec, in_time, |rate| measure(rate, length))?;
    calibration.tenth = Some(tenth);
    Ok(calibration)
}

/// Measures the closed loops, each for `length`: with one worker and with one per core, as far as there are connections for them.
fn closed_loops(
    bench: &Bench<'_>,
    length: Duration,
    cores: u32,
    show: &mut dyn FnMut(&CalibrationProgress<'_>),
) -> Result<Vec<CalibratedLevel>, CalibrateError> {
    let mut levels = Vec::new();
    for workers in if cores > 1 { vec![1, cores] } else { vec![1] } {
        let possible = |connections: &u32| *connections >= workers && within_descriptors(*connections);
        for connections in CONNECTIONS.into_iter().filter(possible) {
            let level = bench.level(workers, connections, length)?;
            show(&CalibrationProgress::ClosedLoop(&level));
            levels.push(level);
        }
    }
    Ok(levels)
}

/// True if the descriptors suffice; both ends of each connection are in this process.
fn within_descriptors(connections: u32) -> bool {
    let descriptors = plimsoll_sys::descriptor_limit();
    u64::from(connections) * 2 + Limits::descriptors_own(descriptors) <= descriptors
}

/// Searches for the highest rate that the generator keeps up with, between the tenth and 1.2 times the closed loops' throughput, by
/// bisection on a logarithmic scale. If the generator does not even keep up with the tenth, it searches between a tenth of that rate
/// and that rate.
fn search(
    tenth: &CalibratedRate,
    ceiling_per_sec: f64,
    in_time: impl Fn() -> bool,
    mut measure: impl FnMut(f64) -> Result<CalibratedRate, CalibrateError>,
) -> Result<Vec<CalibratedRate>, CalibrateError> {
    let tenth_per_sec = tenth.rate_per_sec as f64;
    let (mut kept, mut missed) = match tenth.kept_up() {
        true => (tenth_per_sec, ceiling_per_sec * 1.2),
        false => ((tenth_per_sec / 10.0).max(1.0), tenth_per_sec),
    };
    let mut rates = Vec::new();
    while rates.len() < MAX_RATES && missed / kept > NEAR_RATIO && in_time() {
        let rate = measure((kept * missed).sqrt())?;
        let bound = if rate.kept_up() { &mut kept } else { &mut missed };
        *bound = rate.rate_per_sec as f64;
        rates.push(rate);
    }
    Ok(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(interrupted: &AtomicBool) -> CalibrationOptions<'_> {
        CalibrationOptions { budget: MIN_CALIBRATION, driver: None, tool_version: "0", interrupted }
    }

    /// A calibration, and how many loads were shown of it. On a machine that stalls one of these short loads may get no time;
    /// then they are made again, a few times at most.
    fn calibrated() -> (Calibration, usize) {
        let once = || {
            let mut shown = 0;
            let interrupted = AtomicBool::new(false);
            let made = calibrate(&options(&interrupted), &mut |_| shown += 1);
            (made, shown)
        };
        let is_whole = |(made, _): &(Result<Calibration, CalibrateError>, usize)| {
            made.as_ref().is_ok_and(|made| made.tenth.as_ref().is_some_and(|tenth| tenth.intended > 0))
        };
        let (made, shown) = (0..4).map(|_| once()).find(is_whole).unwrap_or_else(once);
        (made.unwrap(), shown)
    }

    #[test]
    fn every_load_is_measured_and_shown() {
        let (made, shown) = calibrated();
        assert_eq!(shown, made.closed.len() + 1 + made.rates.len());
        let alone = |connections| {
            made.closed.iter().any(|level| level.workers == 1 && level.connections == connections)
        };
        assert!(CONNECTIONS.into_iter().all(alone), "{made:?}");
        // On a busy machine one of these short loads may get no time: then it has neither requests nor a span.
        assert!(made.closed.iter().all(|level| level.completed == 0 || level.span_ns > 0), "{made:?}");
        let made_load = |level: &CalibratedLevel| level.completed > 0 && level.user_ns + level.system_ns > 0;
        assert!(made.closed.iter().any(made_load), "{made:?}");
        let ceiling_per_sec = made.ceiling().unwrap().per_sec();
        let tenth = made.tenth.unwrap();
        assert!((tenth.rate_per_sec as f64 - ceiling_per_sec / 10.0).abs() <= 1.0, "{tenth:?}");
        assert!(tenth.intended > 0);
    }

    #[test]
    fn a_user_who_wants_it_to_end_is_heard() {
        let interrupted = AtomicBool::new(true);
        let ended = calibrate(&options(&interrupted), &mut |_| {});
        assert!(matches!(ended, Err(CalibrateError::Interrupted)), "{ended:?}");
    }
}

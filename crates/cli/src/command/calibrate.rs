//! `plimsoll calibrate`: what this machine's generator can do at most.

use anyhow::Context;
use plimsoll_conductor::{CalibrateError, CalibrationOptions, CalibrationProgress, calibrate};
use plimsoll_report::{json, text};
use plimsoll_units::{count_text, duration_text};

use crate::args::CalibrateArgs;
use crate::calibrations;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{remark, report_error, result};

/// Measures, remembers and prints.
pub(crate) fn calibrate_machine(args: &CalibrateArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted().context("could not watch for Ctrl-C")?;
    let options = CalibrationOptions {
        budget: args.budget,
        driver: args.driver,
        tool_version: env!("CARGO_PKG_VERSION"),
        interrupted: &interrupted,
    };
    let made = match calibrate(&options, &mut |progress| report(progress, args.quiet)) {
        Err(CalibrateError::Interrupted) => {
            report_error(&CalibrateError::Interrupted);
            return Ok(Exit::Interrupted);
        }
        made => made?,
    };
    result(&if args.json {
        json::render(&json::CalibrationDocument::new(&made))?
    } else {
        text::calibration(&made)
    })?;
    let path = calibrations::remember(&made)?;
    if !args.quiet {
        remark(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Success)
}

fn report(progress: &CalibrationProgress<'_>, quiet: bool) {
    if quiet {
        return;
    }
    remark(&match progress {
        CalibrationProgress::Level(level) => format!(
            "closed loop, -t {} -c {}: {} requests/s",
            level.workers,
            level.connections,
            count_text(level.per_sec())
        ),
        CalibrationProgress::Rate(rate) => format!(
            "open loop, -R {}: send lag p99 {}, {}",
            rate.rate_per_sec,
            duration_text(rate.send_lag_p99_ns as f64),
            if rate.kept_up() { "kept up with" } else { "too much" }
        ),
    });
}

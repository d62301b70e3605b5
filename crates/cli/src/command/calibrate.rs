//! `plimsoll calibrate`: the highest load that this machine can generate.

use std::time::Duration;

use plimsoll_conductor::{CalibrateError, CalibrationOptions, CalibrationProgress};
use plimsoll_plan::DriverKind;
use plimsoll_report::{json, text};
use plimsoll_units::{count_text, duration_text};

use crate::args::values;
use crate::calibrations;
use crate::exit::Exit;
use crate::signals;
use crate::terminal::{print, remark, report_error};

#[derive(Debug, Clone, clap::Args)]
#[command(before_help = "\
Examples:
  # What one worker and all cores of this machine can send
  plimsoll calibrate
  # In less time, as one JSON document
  plimsoll calibrate --budget 10s --json")]
pub(crate) struct CalibrateArgs {
    /// About how long the calibration takes
    #[arg(long, value_name = "TIME", default_value = "25s", value_parser = values::calibration_time)]
    budget: Duration,
    /// Move bytes by `epoll` or by `io_uring` [default: io_uring where the kernel offers it]
    #[arg(long, value_name = "NAME")]
    driver: Option<DriverKind>,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn calibrate(args: &CalibrateArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted()?;
    let options = CalibrationOptions {
        budget: args.budget,
        driver: args.driver,
        tool_version: env!("CARGO_PKG_VERSION"),
        interrupted: &interrupted,
    };
    let mut show = |progress: &CalibrationProgress<'_>| {
        if !args.quiet {
            remark(&line(progress));
        }
    };
    let made = match plimsoll_conductor::calibrate(&options, &mut show) {
        Err(CalibrateError::Interrupted) => {
            report_error(&CalibrateError::Interrupted);
            return Ok(Exit::Interrupted);
        }
        made => made?,
    };
    let document = || json::render(&json::CalibrationDocument::new(&made));
    let remembered = calibrations::remember(&made);
    print(args.json, document, || text::calibration(&made))?;
    let path = match remembered {
        Ok(path) => path,
        Err(error) => {
            report_error(error.as_ref());
            return Ok(Exit::CouldNotRun);
        }
    };
    if !args.quiet {
        remark(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Success)
}

fn line(progress: &CalibrationProgress<'_>) -> String {
    match progress {
        CalibrationProgress::ClosedLoop(level) => format!(
            "closed loop, -t {} -c {}: {} requests/s",
            level.workers,
            level.connections,
            count_text(level.per_sec())
        ),
        CalibrationProgress::OpenLoop(rate) => format!(
            "open loop, -R {}: send lag p99 {}, {}",
            rate.rate_per_sec,
            duration_text(rate.send_lag_p99_ns as f64),
            if rate.kept_up() { "kept up with" } else { "too much" }
        ),
    }
}

//! Flags of `plimsoll calibrate`.

use std::time::Duration;

use plimsoll_conductor::MIN_CALIBRATION;
use plimsoll_plan::DriverKind;
use plimsoll_units::parse_duration;

#[derive(Debug, Clone, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll calibrate                      what one worker can do here, and with all cores
  plimsoll calibrate --budget 10s --json  in less time, as one JSON document")]
pub(crate) struct CalibrateArgs {
    /// How long it takes, about
    #[arg(long, value_name = "TIME", default_value = "25s", value_parser = budget)]
    pub(crate) budget: Duration,
    /// Move bytes by `epoll` or by `io_uring` [default: io_uring where the kernel offers it]
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<DriverKind>,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn budget(text: &str) -> Result<Duration, String> {
    let budget = parse_duration(text).map_err(|error| error.to_string())?;
    match budget >= MIN_CALIBRATION {
        true => Ok(budget),
        false => Err(format!("a calibration takes {} s at least", MIN_CALIBRATION.as_secs())),
    }
}

//! A run with wrk's options and wrk's text, on Plimsoll's engine.
//!
//! Standard output gets wrk's text and nothing else. Plimsoll's own messages, such as that this machine was the limit, go
//! to standard error. A run writes no file.

mod measurement;
mod outcome;
mod output;
mod plan;
mod traffic;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_conductor::{Outcome, RunOptions, WorkloadOverride, conduct};
use plimsoll_record::{EventKind, Run, RunCommand};

use crate::options::{Exit, Options};
use crate::stats::RateSampler;
use crate::text;
use output::{Narration, remarks};
use traffic::Requests;

pub use output::Streams;

/// Starts to watch for signals that end a run early, and returns the flag that they set.
pub type Watch<'a> = &'a dyn Fn() -> io::Result<Arc<AtomicBool>>;

/// The approximate maximum number of frames of one run, over all threads: each is kept to the end, and then read in a
/// fraction of a millisecond, while the user waits for the text.
const MAX_FRAMES: u64 = 6000;

/// Returns the interval of one frame, which is also that of a sample of a thread's rate.
fn interval(options: &Options) -> Duration {
    let ns = options.duration.as_nanos() * u128::from(options.threads) / u128::from(MAX_FRAMES);
    RateSampler::INTERVAL.max(Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
}

/// Makes the run that the options describe, and prints it; returns the exit code.
///
/// The flag that `watch` returns ends the load once it is set; what was measured until then is printed. Signals are watched
/// only after the script is loaded: until then no code checks a flag, and a signal ends the process.
pub fn run(options: &Options, tool_version: &str, watch: Watch<'_>, streams: &mut Streams<'_>) -> u8 {
    streams.print(&options.greeting);
    for warning in &options.warnings {
        streams.remark(warning);
    }
    match measured_run(options, tool_version, watch, streams) {
        Ok(code) => code,
        Err(exit) => {
            streams.print_error(&exit.stderr);
            exit.code
        }
    }
}

fn measured_run(
    options: &Options,
    tool_version: &str,
    watch: Watch<'_>,
    streams: &mut Streams<'_>,
) -> Result<u8, Exit> {
    let mut requests = Requests::from_options(options)?;
    let interrupted =
        watch().map_err(|error| outcome::failed(&format!("could not watch for Ctrl-C: {error}")))?;
    if let Some(remark) = requests.remark() {
        streams.remark(&remark);
    }
    let plan = plan::freeze(options, &requests)?;
    let run_options = RunOptions {
        workload: Some(WorkloadOverride {
            traffic: requests.traffic.clone(),
            interval: interval(options),
            outlasts_target: true,
        }),
        ..RunOptions::new(RunCommand::Wrk, tool_version, &interrupted)
    };
    let outcome = conduct(plan, run_options, &mut Narration { options, streams });
    let Outcome { run, .. } = outcome.map_err(|error| outcome::not_conducted(&error, &options.url))?;
    let summed_up = print_results(options, &run, &mut requests, streams)?;
    // A worker whose requests cannot be made ends early.
    let ended_early = run.events.iter().any(|event| event.kind == EventKind::StepFailed);
    Ok(u8::from(!summed_up || ended_early))
}

/// Prints what was measured, calls the script's `done`, and adds remarks; returns false if the script failed.
fn print_results(
    options: &Options,
    run: &Run,
    requests: &mut Requests,
    streams: &mut Streams<'_>,
) -> Result<bool, Exit> {
    let measured = measurement::measured(options, run)?;
    for line in measurement::calibrations(options, run)? {
        streams.print(&line);
    }
    streams.print(&text::summary(options, &measured));
    let idles = requests.idles();
    let summed_up = requests.sum_up(&measured);
    for remark in remarks(run, idles) {
        streams.remark(&remark);
    }
    if let Err(error) = &summed_up {
        streams.remark(&error.to_string());
    }
    Ok(summed_up.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_sampled_as_wrk_does_unless_that_would_take_long_to_read() {
        let of = |threads: &str, duration: &str| {
            let args = ["-t", threads, "-c", threads, "-d", duration, "http://h/"].map(str::to_owned);
            interval(&crate::options::parse("wrk", &args).unwrap())
        };
        assert_eq!([of("12", "30s"), of("2", "300s")], [RateSampler::INTERVAL; 2]);
        assert_eq!((of("12", "300s"), of("1", "20h")), (Duration::from_millis(600), Duration::from_secs(12)));
    }
}

//! The `plimsoll` binary: flags in, one command, an exit code out.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod calibrations;
mod command;
mod exit;
mod files;
mod progress;
mod signals;
mod terminal;

fn main() -> ExitCode {
    // wrk's command line has rules of its own, which are not those of the others.
    if let Some(called) = command::wrk::called() {
        return called.run();
    }
    let args = args::Args::parse();
    match command::run(args) {
        Ok(exit) => exit.into(),
        Err(error) => terminal::fail(&error).into(),
    }
}

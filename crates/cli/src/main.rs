//! The `plimsoll` binary: flags in, one command, an exit code out.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod command;
mod exit;
mod files;
mod progress;
mod signals;
mod terminal;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match command::run(args) {
        Ok(exit) => exit.into(),
        Err(error) => terminal::fail(&error).into(),
    }
}

//! The `plimsoll` binary: flags in, one command, an exit code out.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

mod args;
mod calibrations;
mod command;
mod delivery;
mod documents;
mod exit;
mod experiments;
mod files;
mod git;
mod otlp;
mod pages;
mod progress;
mod screen;
mod signals;
mod terminal;

fn main() -> ExitCode {
    // wrk's command line has rules of its own.
    if let Some(code) = command::wrk::run() {
        return code;
    }
    let exit = read_and_run().unwrap_or_else(|error| {
        let exit = exit::Exit::of_error(&error);
        terminal::report_error(error.as_ref());
        if env::args_os().take_while(|word| word != "--").any(|word| word == "--json") {
            terminal::print_error(error.as_ref(), exit);
        }
        exit
    });
    exit.into()
}

fn read_and_run() -> anyhow::Result<exit::Exit> {
    let line: Result<Vec<String>, OsString> = env::args_os().map(OsString::into_string).collect();
    let (args, remarks) = match line {
        Ok(line) => args::Args::read(line)?,
        // A file name may be no UTF-8; such a line must have only Plimsoll's own options.
        Err(_) => (args::Args::parse(), Vec::new()),
    };
    for remark in remarks {
        terminal::remark(&format!("plimsoll: {remark}"));
    }
    command::run(args)
}

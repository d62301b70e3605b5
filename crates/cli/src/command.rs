//! The commands, one file each.

use crate::args::{Args, Command};
use crate::exit::Exit;

mod diff;
mod judge;
mod measure;
mod recorded;
mod target;

/// Runs the command that the line asks for.
pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match (args.command, args.answer) {
        (Some(Command::Run(run)), _) => measure::run(&run),
        (Some(Command::Sweep(sweep)), _) => measure::sweep(&sweep),
        (Some(Command::Diff(diff)), _) => diff::diff(&diff),
        (Some(Command::Runs(runs)), _) => recorded::runs(&runs),
        (Some(Command::Report(report)), _) => recorded::report(&report),
        (Some(Command::Export(export)), _) => recorded::export(&export),
        (Some(Command::Target(target)), _) => target::target(&target),
        (None, Some(answer)) => measure::answer(&answer),
        // clap shows the help and leaves when nothing is given at all.
        (None, None) => Ok(Exit::Usage),
    }
}

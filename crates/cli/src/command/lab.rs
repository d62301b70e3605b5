//! The commands about labs: making hosts, loading them, judging what is found.

pub(crate) mod bed;
mod case;
mod diagnose;
mod file;
mod found;
mod generator;
mod lever;
mod list;
mod mates;
mod rows;
mod run;
mod table;
mod up;
mod watch;

use plimsoll_lab::{LabError, Standing, permit};

use crate::args::{LabArgs, LabCommand};
use crate::exit::Exit;

pub(crate) fn lab(args: &LabArgs) -> anyhow::Result<Exit> {
    match &args.command {
        LabCommand::Generator(args) => generator::generate(args),
        LabCommand::List(args) => list::list(args),
        LabCommand::Up(args) => up::up(args, permitted()?),
        LabCommand::Run(args) => run::run(args, permitted()?),
        LabCommand::Diagnose(args) => diagnose::diagnose(args, permitted()?),
    }
}

/// The right to make labs has to be had before anything starts a second thread, which signals and clocks do not.
fn permitted() -> anyhow::Result<Standing> {
    Ok(permit()?)
}

/// True if what a lab file says is wrong.
pub(crate) fn mistyped(error: &anyhow::Error) -> bool {
    let of_lab = error.downcast_ref::<LabError>();
    error.is::<case::NotInLab>() || of_lab.is_some_and(|error| matches!(error, LabError::Variable { .. }))
}

//! The commands, one file each.

use anstream::ColorChoice;

use crate::args::{Args, Command};
use crate::exit::{Exit, UsageError};

pub(crate) mod ab;
pub(crate) mod ablate;
pub(crate) mod calibrate;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod lab;
mod measure;
mod overload;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod profile;
pub(crate) mod recorded;
pub(crate) mod runs;
pub(crate) mod target;
pub(crate) mod tiers;
pub(crate) mod trend;
pub(crate) mod view;
pub(crate) mod wrk;

pub(crate) fn run(args: Args) -> anyhow::Result<Exit> {
    match args.color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
    match args.command {
        Some(Command::Run(run)) => measure::run(&run),
        Some(Command::Search(search)) => measure::search(&search),
        Some(Command::Overload(overload)) => measure::overload(&overload),
        Some(Command::Sweep(sweep)) => measure::sweep(&sweep),
        Some(Command::Diff(diff)) => diff::diff(&diff),
        Some(Command::Ab(args)) => ab::ab(&args),
        Some(Command::Runs(args)) => runs::runs(&args),
        Some(Command::Trend(args)) => trend::trend(&args),
        Some(Command::View(args)) => view::view(&args),
        Some(Command::Report(report)) => recorded::report(&report),
        Some(Command::Check(check)) => recorded::check(&check),
        Some(Command::Export(export)) => recorded::export(&export),
        Some(Command::Explain(explain)) => explain::explain(&explain),
        Some(Command::Plan(args)) => plan::plan(&args),
        Some(Command::Tiers(args)) => tiers::tiers(&args),
        Some(Command::Ablate(args)) => ablate::ablate(&args),
        Some(Command::Calibrate(calibrate)) => calibrate::calibrate(&calibrate),
        Some(Command::Profile(args)) => profile::profile(&args),
        Some(Command::Lab(lab)) => lab::lab(&lab),
        Some(Command::Agent(args)) => fleet::agent(&args),
        Some(Command::Fleet(args)) => fleet::fleet(&args),
        Some(Command::Probe(args)) => probe::probe(&args),
        Some(Command::Target(target)) => target::target(&target),
        None if args.answer.url.is_none() && args.answer.request.scenario.requests.is_none() => {
            let text = "no URL is given; write it like plimsoll http://127.0.0.1:8080/api";
            Err(UsageError(text.to_owned()).into())
        }
        None => measure::answer(&args.answer),
    }
}

//! Flags of the commands about labs.

use std::path::PathBuf;

use super::values::{self, RUNS_FOLDER};

/// The folder of the scenarios that are diagnosed by themselves.
const SCENARIOS: &str = "lab/scenarios";

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll lab run two-apis.toml             make the hosts of a file, load them, name what limits them
  plimsoll lab up two-apis.toml              make them and keep them; says how to enter one
  plimsoll lab diagnose lab/scenarios        what is found in each scenario, against what is expected
  plimsoll lab list                          the experiments and scenarios there are")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

/// What to do with a lab.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum LabCommand {
    /// Make the hosts of a file and keep them until Ctrl-C
    Up(UpArgs),
    /// Make the hosts of a file, load them, and name what limits them; with [expect], exit code 3 if it is something else
    Run(LabRunArgs),
    /// Run all scenarios of a folder and compare what is found with what they expect
    Diagnose(DiagnoseArgs),
    /// The experiments, scenarios and other lab files of a folder
    List(ListArgs),
    /// The generator of a lab, on its own host
    #[command(hide = true)]
    Generator(GeneratorArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpArgs {
    /// A plan file with hosts to make, or its name below lab/
    pub(crate) file: String,
    /// The variant of the file whose hosts to make
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How labs are run.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CaseArgs {
    /// Short steps: a preview, not a measurement
    #[arg(long)]
    pub(crate) quick: bool,
    /// Test the verdict: raise what limits by half, where that is a cap of the lab, and load the plateau's level again
    #[arg(long)]
    pub(crate) prove: bool,
    /// Folder for the run files
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    pub(crate) out: PathBuf,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LabRunArgs {
    /// A plan file with hosts to make, or its name below lab/
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) how: CaseArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DiagnoseArgs {
    /// The folder of the scenarios
    #[arg(default_value = SCENARIOS)]
    pub(crate) folder: PathBuf,
    /// Only scenarios whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// Run each so many times
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::count)]
    pub(crate) repeat: u64,
    #[command(flatten)]
    pub(crate) how: CaseArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// The folder of lab files, with its folders `experiments` and `scenarios` [default: `lab`, here or in a folder above]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GeneratorArgs {
    /// A frozen plan as JSON
    #[arg(long)]
    pub(crate) plan: PathBuf,
    /// Folder for the run file
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Test the verdict: ask on standard output for a cap to be raised
    #[arg(long)]
    pub(crate) prove: bool,
    /// Hosts have no caps of cores during the first part of the warm-up: ask on standard output for them
    #[arg(long)]
    pub(crate) free: bool,
    /// Socket on which the generators of the run meet
    #[arg(long, value_name = "SOCKET")]
    pub(crate) meet: Option<PathBuf>,
    /// Coordinate so many other generators, which connect to the socket
    #[arg(long, requires = "meet", default_value_t = 0)]
    pub(crate) peers: usize,
    /// No progress on standard error
    #[arg(long)]
    pub(crate) quiet: bool,
}

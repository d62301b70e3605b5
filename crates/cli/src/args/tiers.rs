//! Flags of `plimsoll tiers`.

use std::path::PathBuf;

use super::values::{self, RUNS_FOLDER};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll tiers -f shop.toml                     run the file and its variants, then the table and a figure of each tier
  plimsoll tiers plimsoll-runs/shop-*.plimsoll    the same of runs that were made already")]
pub(crate) struct TiersArgs {
    /// Run files, instead of making runs
    #[arg(required_unless_present = "file", conflicts_with_all = ["file", "quick"])]
    pub(crate) runs: Vec<PathBuf>,
    /// A plan file whose variants give a tier other numbers of machines, or its name below lab/
    #[arg(short, long, value_name = "PLAN")]
    pub(crate) file: Option<String>,
    /// Short steps: a preview, not a measurement
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folder for run files and figures
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    pub(crate) out: PathBuf,
    /// Name of the figures' files; by default that of the plan file or the first run, and the time
    #[arg(short, long, value_parser = values::name)]
    pub(crate) name: Option<String>,
    /// Write no figures
    #[arg(long)]
    pub(crate) no_figures: bool,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

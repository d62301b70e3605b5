//! Flags of `plimsoll ablate`.

use std::path::PathBuf;

use super::values::{self, RUNS_FOLDER};

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll ablate -f shop.toml                    every [[switch]] of the file on and off, in turn, three times
  plimsoll ablate --csv plimsoll-runs/shop-20260101-120000.ablation.csv       what came of that, again
  plimsoll ablate --csv table.csv --map switch=cache,log --map qps=qps --map group=step")]
#[command(after_help = "\
Meanings of columns (MEANING=COLUMN; `switch` and `beside` take several, separated by commas):
  switch        1 or 0, on or off, yes or no, true or false
  qps           requests per second
  connections   connections, the same in all rows
  round         rows of one round were measured one after another
  group         states of the service, one after another; several columns are joined
  beside        other figures of a request: CPU, calls, packets
Without --map columns are found by the names that `ablate -f` gives them. docs/ablate.md says how costs are found.")]
pub(crate) struct AblateArgs {
    /// A plan file with [[switch]] tables, or its name below lab/
    #[arg(short, long, value_name = "PLAN", required_unless_present = "csv", conflicts_with = "csv")]
    pub(crate) file: Option<String>,
    /// A table of measurements instead: comma-separated, with a header
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// What a column of the table means
    #[arg(long, value_name = "MEANING=COLUMN", requires = "csv")]
    pub(crate) map: Vec<String>,
    /// Measure every combination so many times
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "csv", value_parser = values::count)]
    pub(crate) rounds: u64,
    /// Seed of the order in which combinations are measured; drawn if it is left out
    #[arg(long, value_name = "N", conflicts_with = "csv")]
    pub(crate) seed: Option<u64>,
    /// Short steps: a preview, not a measurement
    #[arg(long, conflicts_with = "csv")]
    pub(crate) quick: bool,
    /// Folder for run files, the table and the figure
    #[arg(short, long, value_name = "DIR", default_value = RUNS_FOLDER)]
    pub(crate) out: PathBuf,
    /// Draw the figure of a table as well, under this name
    #[arg(short, long, requires = "csv", value_parser = values::name)]
    pub(crate) name: Option<String>,
    /// One JSON document on standard output instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

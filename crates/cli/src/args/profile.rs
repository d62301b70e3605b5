//! Flags of `plimsoll profile`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  plimsoll sweep http://127.0.0.1:8080/api -n api --profile http://127.0.0.1:8080/debug/pprof/profile
  plimsoll profile plimsoll-runs/api-20260101-120000.plimsoll                    the functions with the most CPU time
  plimsoll profile plimsoll-runs/api-20260101-120000.plimsoll --svg api.svg      the same as a flame graph
  plimsoll profile with.plimsoll --diff without.plimsoll         what the difference is made of, function by function")]
pub(crate) struct ProfileArgs {
    /// A run file
    pub(crate) file: PathBuf,
    /// Another run file: the difference in CPU time per request, of each function
    #[arg(long, value_name = "FILE", conflicts_with = "svg")]
    pub(crate) diff: Option<PathBuf>,
    /// Write the flame graph into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Overwrite the file if it is there
    #[arg(long, requires = "svg")]
    pub(crate) force: bool,
    /// Functions to show
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) top: usize,
    /// Sort by the time in which a function ran itself, not by that of all it called too
    #[arg(long)]
    pub(crate) flat: bool,
}

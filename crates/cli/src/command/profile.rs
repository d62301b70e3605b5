//! `plimsoll profile`: where the CPU time of a recorded run went.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_experiment::{file_stem, read_run};
use plimsoll_report::{Order, ProfiledRun, figure, text};

use crate::args::values;
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::result;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # Record a profile with a load
  plimsoll sweep http://127.0.0.1:8080/api --name api --profile http://127.0.0.1:8080/debug/pprof/profile
  # The functions with the most CPU time; the same as a flame graph
  plimsoll profile last
  plimsoll profile last --svg api.svg
  # The difference of two runs, function by function
  plimsoll profile with.plimsoll --diff without.plimsoll")]
pub(crate) struct ProfileArgs {
    /// A run file; `last` is the newest
    #[arg(value_parser = values::run_file())]
    file: PathBuf,
    /// Another run file: the difference in CPU time per request, of each function
    #[arg(long, value_name = "FILE", conflicts_with = "svg", value_parser = values::run_file())]
    diff: Option<PathBuf>,
    /// Write the flame graph into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Overwrite the file if it is there
    #[arg(long, requires = "svg")]
    force: bool,
    /// Functions to show
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Sort by the time of a function itself, without that of the functions it called
    #[arg(long)]
    flat: bool,
}

pub(crate) fn profile(args: &ProfileArgs) -> anyhow::Result<Exit> {
    let order = if args.flat { Order::Flat } else { Order::Cumulative };
    let profiled = read(&args.file)?;
    if let Some(other) = &args.diff {
        let other_run = read(other)?;
        let names = [file_stem(&args.file), file_stem(other)];
        result(&text::profile_difference(&profiled, &other_run, (&names[0], &names[1]), (order, args.top)))?;
        return Ok(Exit::Success);
    }
    result(&text::profile(&profiled, order, args.top))?;
    let Some(path) = &args.svg else { return Ok(Exit::Success) };
    Ok(Exit::of_all(draw(&profiled, path, args.force)?, false))
}

/// Draws the flame graph; returns true if it was written.
fn draw(profiled: &ProfiledRun, path: &Path, force: bool) -> anyhow::Result<bool> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        bail!("{} is no name of a file; write it like --svg flame.svg", path.display());
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let output = Output::new(name.to_owned(), figure::flame(profiled)?);
    Ok(Written::to(folder, Ok(vec![output]), force).report(false))
}

fn read(path: &Path) -> anyhow::Result<ProfiledRun> {
    let recorded = read_run(path)?;
    ProfiledRun::from_run(&recorded.run, &recorded.findings).with_context(|| path.display().to_string())
}

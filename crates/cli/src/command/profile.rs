//! `plimsoll profile`: where the CPU time of a recorded run went.

use std::path::Path;

use anyhow::{Context, bail};
use plimsoll_experiment::read_run;
use plimsoll_report::{Order, ProfiledRun, figure, text};

use crate::args::ProfileArgs;
use crate::exit::Exit;
use crate::files::{Output, Written};
use crate::terminal::result;

pub(crate) fn profile(args: &ProfileArgs) -> anyhow::Result<Exit> {
    let order = if args.flat { Order::Flat } else { Order::Cumulative };
    let profiled = read(&args.file)?;
    if let Some(other) = &args.diff {
        let other_run = read(other)?;
        let names = [name(&args.file), name(other)];
        result(&text::profile_difference(&profiled, &other_run, (&names[0], &names[1]), (order, args.top)))?;
        return Ok(Exit::Success);
    }
    result(&text::profile(&profiled, order, args.top))?;
    let Some(path) = &args.svg else { return Ok(Exit::Success) };
    Ok(if draw(&profiled, path, args.force)? { Exit::Success } else { Exit::CouldNotRun })
}

/// Draws the flame graph; true if it was written.
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

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

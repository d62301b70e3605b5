//! `plimsoll view`: the recorded runs of a folder as pages in a browser.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use plimsoll_experiment::read_what_is_intact;
use plimsoll_history::RunFilter;
use plimsoll_record::Tag;
use plimsoll_store::run_files;
use plimsoll_web::{LibraryError, RunLibrary, RunQuery, RunViewer};

use super::runs::{folder_runs, matching, read_folder};
use crate::args::values::{self, LOCAL, RUNS_FOLDER};
use crate::exit::Exit;
use crate::pages::page_of_runs;
use crate::signals;
use crate::terminal::{remark, result, with_causes};

/// How soon Ctrl-C is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The maximum number of runs on one page: more are no comparison, and take long to read.
const MAX_RUNS: usize = 12;

#[derive(Debug, clap::Args)]
#[command(before_help = "\
Examples:
  # The runs of plimsoll-runs, at a URL that is printed
  plimsoll view
  # Another folder, at a port of your choice
  plimsoll view results/ --listen 127.0.0.1:8090
  # The runs of another machine
  ssh -L 8090:127.0.0.1:8090 ci plimsoll view --listen 127.0.0.1:8090")]
pub(crate) struct ViewArgs {
    /// The folder of run files
    #[arg(value_name = "DIR", default_value = RUNS_FOLDER)]
    folder: PathBuf,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = LOCAL, value_parser = values::listen_address)]
    listen: SocketAddr,
}

/// Serves until it is interrupted. The first line of standard output is its URL, for scripts.
pub(crate) fn view(args: &ViewArgs) -> anyhow::Result<Exit> {
    let interrupted = signals::interrupted()?;
    let runs = folder_runs(&args.folder)?.runs;
    let viewer = RunViewer::serve(args.listen, Folder(args.folder.clone())).with_context(|| {
        let address = args.listen;
        format!(
            "could not serve pages at {address}; name a free port of this machine with --listen 127.0.0.1:PORT"
        )
    })?;
    if runs.is_empty() {
        remark(&format!(
            "plimsoll: no run files in {} yet; they are shown once they are there",
            args.folder.display()
        ));
    }
    result(&format!("{}\n", viewer.url()))?;
    remark("plimsoll: open this URL in a browser; Ctrl-C ends the server");
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL);
    }
    Ok(Exit::Success)
}

/// The run files of a folder.
#[derive(Debug)]
struct Folder(PathBuf);

impl RunLibrary for Folder {
    fn list(&self, query: &RunQuery) -> Result<String, LibraryError> {
        let tag =
            |text: &String| text.parse::<Tag>().map_err(|error| LibraryError::Mistake(with_causes(&error)));
        let filter = RunFilter {
            text: query.text.clone(),
            target: query.target.clone(),
            tags: query.tags.iter().map(tag).collect::<Result<_, _>>()?,
            ..RunFilter::default()
        };
        let runs = read_folder(&self.0).map_err(|error| LibraryError::Failed(with_causes(&error)))?;
        serde_json::to_string(&matching(runs, &filter))
            .map_err(|error| LibraryError::Failed(error.to_string()))
    }

    fn page(&self, files: &[String]) -> Result<String, LibraryError> {
        if files.is_empty() || files.len() > MAX_RUNS {
            return Err(LibraryError::Mistake(format!("choose 1 to {MAX_RUNS} runs for a page")));
        }
        let known = run_files(&self.0).map_err(|error| LibraryError::Failed(with_causes(&error)))?;
        let paths = files.iter().map(|file| path_of(&known, file)).collect::<Result<Vec<_>, _>>()?;
        let runs = paths.into_iter().map(read_what_is_intact).collect::<Result<Vec<_>, _>>();
        let page = runs.map_err(anyhow::Error::from).and_then(page_of_runs);
        let document = page.map_err(|error| LibraryError::Failed(format!("{error:#}")))?;
        serde_json::to_string(&document).map_err(|error| LibraryError::Failed(error.to_string()))
    }
}

/// Returns the file of this name among those of the folder: a name is never a path.
fn path_of<'a>(known: &'a [PathBuf], file: &str) -> Result<&'a Path, LibraryError> {
    let path = known.iter().find(|path| path.file_name().is_some_and(|name| name == file));
    path.map(PathBuf::as_path)
        .ok_or_else(|| LibraryError::Missing(format!("the folder has no run file {file}")))
}

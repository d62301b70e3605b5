//! The commit of the working directory, as tags of a run.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use plimsoll_record::Tag;
use plimsoll_units::best_effort;

/// How long git may take for one command.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns `commit=…`, and `dirty` if tracked files were changed; empty outside of a repository, or without git.
///
/// No hook and no file system monitor of the repository is run, and no file of it is written.
pub(crate) fn tags() -> Vec<Tag> {
    let Some(commit) = answer(&["rev-parse", "--short=12", "HEAD"]).filter(|commit| !commit.is_empty())
    else {
        return Vec::new();
    };
    let dirty = match answer(&["status", "--porcelain", "--untracked-files=no"]) {
        None => Some("unknown"),
        Some(changes) => (!changes.is_empty()).then_some(""),
    };
    let tag = |key: &str, value: &str| Tag { key: key.to_owned(), value: value.to_owned() };
    [Some(tag("commit", &commit)), dirty.map(|value| tag("dirty", value))].into_iter().flatten().collect()
}

/// Returns the output of git; `None` if it fails, is not installed or takes too long.
fn answer(args: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
    git.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = git.spawn().ok()?;
    let text = text_of(&mut child);
    if text.is_none() {
        best_effort(child.kill(), "it may have ended by itself");
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    text.filter(|_| succeeded).map(|text| text.trim().to_owned())
}

fn text_of(child: &mut Child) -> Option<String> {
    let mut out = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = out.read_to_string(&mut text).map(|_| text);
        best_effort(sender.send(read), "its time is over");
    });
    receiver.recv_timeout(PATIENCE).ok()?.ok()
}

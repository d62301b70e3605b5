//! The programs of iproute2, which read commands one a line.

use std::io::Write;
use std::process::{Command, Stdio};

use plimsoll_sys::NetworkNamespace;

use crate::LabError;

/// Where Debian keeps programs that an ordinary user's PATH does not name.
pub(crate) const SYSTEM_FOLDERS: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin";

/// Runs commands of `ip` or `tc` in a network. The first that fails ends it.
pub(crate) fn batch(
    program: &'static str,
    lines: &str,
    network: &NetworkNamespace,
    place: &str,
) -> Result<(), LabError> {
    if lines.is_empty() {
        return Ok(());
    }
    let run = || -> std::io::Result<std::process::Output> {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.args(["-batch", "-"]).env("PATH", format!("{path}:{SYSTEM_FOLDERS}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A program that ended early says why in its output.
            input.write_all(lines.as_bytes()).ok();
        }
        child.wait_with_output()
    };
    let output = network.run(run).and_then(|outcome| outcome);
    let output = output.map_err(|reason| LabError::NoTool { program, reason })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LabError::Tool { program, place: place.to_owned(), output: text })
}

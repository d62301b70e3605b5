//! Errors of labs.

use std::fmt::{self, Display};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use plimsoll_plan::Ready;
use plimsoll_units::duration_text;

/// The phase of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostPhase {
    /// Not all hosts of the lab are ready yet.
    Starting,
    Up,
    /// Up, and its readiness check succeeded, so that a service runs on it.
    Serving,
}

impl Display for HostPhase {
    /// The suffix for an error about a process that ended in this phase: empty once the host is up.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => f.write_str(" before it was ready"),
            Self::Up | Self::Serving => Ok(()),
        }
    }
}

/// Why a lab could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(
        "this process has not the capability {capability}, and may not become root of a user namespace either \
         ({reason}); run it as root, or let users have namespaces (sysctl user.max_user_namespaces above 0, \
         kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), or take it out of its sandbox"
    )]
    Permission {
        capability: &'static str,
        /// Why no user namespace is available.
        reason: io::Error,
    },
    #[error("could not {what} {} ({reason}); see whether the disk is full or the folder is another user's", path.display())]
    File { what: &'static str, path: PathBuf, reason: io::Error },
    #[error(
        "{} is below {place}, which each host has of its own; put the lab file and TMPDIR elsewhere",
        folder.display()
    )]
    Hidden {
        folder: PathBuf,
        /// A folder that each host has for itself.
        place: &'static str,
    },
    #[error("{0} labs are running, which is as many as have addresses; end one of them")]
    TooMany(u16),
    #[error("a lab has at most {most} hosts and this one has {count}; leave some out")]
    TooManyHosts { most: usize, count: usize },
    #[error(
        "could not make the namespaces of host `{host}` ({reason}); the kernel may forbid or lack them, or have too many"
    )]
    Namespaces { host: String, reason: String },
    #[error("could not run `{program}` ({reason}), which sets up the lab's network; install iproute2")]
    NoTool { program: &'static str, reason: io::Error },
    #[error("`{program}` could not set up the network of {place}: {output}")]
    Tool { program: &'static str, place: String, output: String },
    #[error("could not cap host `{host}` by {} ({reason}); see whether its control groups may be written", path.display())]
    Cap { host: String, path: PathBuf, reason: io::Error },
    #[error(
        "host `{host}` cannot have {cores} cores: {}, in which its group is, has a quota of {there} (cpu.cfs_quota_us); ask for less, or \
         widen that quota", above.display()
    )]
    QuotaAbove { host: String, cores: f64, above: PathBuf, there: f64 },
    #[error("the {what} of host `{host}` cannot be capped here: {why}; leave it out of the file")]
    NoMeans { host: String, what: &'static str, why: &'static str },
    #[error("`${{{variable}}}` {problem}")]
    Variable { variable: String, problem: String },
    #[error("could not start `{command}` on host `{host}` ({reason})")]
    Start { host: String, command: String, reason: io::Error },
    #[error("`{command}` on host `{host}` ended{phase} ({status}){}", said(.output))]
    Died { host: String, command: String, status: ExitStatus, phase: HostPhase, output: String },
    #[error(
        "`{command}` on host `{host}` ended with success{phase}, and left no process; a service stays in the foreground or leaves one \
         that serves{}", said(.output)
    )]
    Ended { host: String, command: String, phase: HostPhase, output: String },
    #[error(
        "host `{host}` was not ready after {}: `ready = \"{sign}\"` {last}{}",
        duration_text(.within.as_nanos() as f64), said(.output)
    )]
    NotReady { host: String, sign: Ready, within: Duration, last: String, output: String },
    #[error("interrupted before anything was measured; nothing of the lab is left")]
    Interrupted,
}

/// Describes a command's output at the end of an error.
fn said(output: &str) -> String {
    if output.is_empty() { "; it wrote nothing".to_owned() } else { format!("; it wrote:\n{output}") }
}

impl LabError {
    /// Converts the error of an operation on a file.
    pub(crate) fn file(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |reason| Self::File { what, path, reason }
    }

    /// Converts the error of an operation on the namespaces of a host.
    pub(crate) fn namespaces<E: Display>(host: &str) -> impl FnOnce(E) -> Self {
        move |reason| Self::Namespaces { host: host.to_owned(), reason: reason.to_string() }
    }

    /// True if the user interrupted the start.
    pub fn interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }
}

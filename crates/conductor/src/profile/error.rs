//! Why there is no profile.

use std::time::Duration;

/// A busy target may take so much longer than asked.
pub(super) const GRACE: Duration = Duration::from_secs(15);

/// A profile that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The server of the page does not answer.
    #[error("{url} cannot be asked for a profile: {reason}; see that the address is right and the server up")]
    Unreachable {
        /// The page.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The server refuses.
    #[error("{url} gives no profile: status {status}, `{said}`{advice}")]
    Refused {
        /// The page.
        url: String,
        /// The status of the answer.
        status: u16,
        /// What it says, in short.
        said: String,
        /// What to do, where that is known.
        advice: &'static str,
    },
    /// What came is no profile.
    #[error("{source_name}: {reason}")]
    NoProfile {
        /// Where it came from.
        source_name: String,
        /// What is wrong with it.
        reason: plimsoll_profile::ProfileError,
    },
    /// The profile has no sample.
    #[error(
        "{source_name} saw nothing run; check that it is the target's process, and that the target is under load"
    )]
    Empty {
        /// Where it came from.
        source_name: String,
    },
    /// `perf` is not there.
    #[error(
        "perf is not installed; install it (on Debian the package linux-perf), or name a page of pprof with \
         --profile http://HOST:PORT/debug/pprof/profile"
    )]
    NoPerf,
    /// `perf` failed, or is not allowed.
    #[error(
        "perf cannot profile {processes}: {said}; run as root, or allow it with `sysctl kernel.perf_event_paranoid=1` \
         for processes of your own"
    )]
    PerfRefused {
        processes: String,
        /// What it says, in short.
        said: String,
    },
    /// No process that is visible listens on the port.
    #[error(
        "no process that may be looked into listens on port {port} of this machine; name it with --profile perf:PID, or \
         run as root"
    )]
    NoListener { port: u16 },
    /// There is no such process.
    #[error("there is no process {pid} on this machine; who listens on a port is profiled by perf::PORT")]
    NoProcess {
        /// Its number.
        pid: u32,
    },
    /// The target is elsewhere.
    #[error(
        "the target is not on this machine, and perf sees no other; run `perf` there, or name a page of pprof"
    )]
    Elsewhere,
    /// Processes, sockets or files of this machine cannot be read or written.
    #[error("could not {what}: {reason}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What went wrong.
        reason: std::io::Error,
    },
    /// The run ended before.
    #[error("the run ended before it was complete")]
    Cancelled,
    /// It took too long.
    #[error(
        "it was not there {0:?} after it was due; a target that is too busy to answer may be profiled by perf"
    )]
    Late(Duration),
}

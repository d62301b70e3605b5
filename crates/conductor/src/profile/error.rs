//! Errors of taking a profile.

use std::time::Duration;

/// How much longer than requested a profile of a busy target may take.
pub(super) const GRACE: Duration = Duration::from_secs(15);

/// A profile that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("{url} cannot be asked for a profile: {reason}; see that the address is right and the server up")]
    Unreachable { url: String, reason: String },
    #[error("{url} gives no profile: status {status}, `{said}`{advice}")]
    Refused { url: String, status: u16, said: String, advice: &'static str },
    #[error("{source_name}: {reason}")]
    NoProfile { source_name: String, reason: plimsoll_profile::ProfileError },
    #[error(
        "{source_name} saw nothing run; check that it is the target's process, and that the target is under load"
    )]
    Empty { source_name: String },
    #[error(
        "perf is not installed; install it (on Debian the package linux-perf), or name a page of pprof with \
         --profile http://HOST:PORT/debug/pprof/profile"
    )]
    NoPerf,
    #[error(
        "perf cannot profile {processes}: {said}; run as root, or allow it with `sysctl kernel.perf_event_paranoid=1` \
         for processes of your own"
    )]
    PerfRefused { processes: String, said: String },
    #[error(
        "no process that may be looked into listens on port {port} of this machine; name it with --profile perf:PID, or \
         run as root"
    )]
    NoListener { port: u16 },
    #[error("there is no process {pid} on this machine; who listens on a port is profiled by perf::PORT")]
    NoProcess { pid: u32 },
    #[error(
        "the target is not on this machine, and perf sees no other; run `perf` there, or name a page of pprof"
    )]
    Elsewhere,
    #[error("could not {what}: {reason}")]
    System { what: &'static str, reason: std::io::Error },
    #[error("it was ended before it was complete")]
    Cancelled,
    #[error(
        "it was not there {0:?} after it was due; a target that is too busy to answer may be profiled by perf"
    )]
    Late(Duration),
    #[error("perf had not converted its recording after {0:?}; ask for less with --profile-time")]
    Unconverted(Duration),
}

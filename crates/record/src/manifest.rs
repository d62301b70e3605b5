//! The manifest of a run: its plan, the generator's machine, and the state of the target before the load.

use serde::{Deserialize, Serialize};

use crate::{Calibration, Tags};

/// The version of the run file format. A reader accepts any minor version of its own major version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatVersion {
    /// Changes if older readers would misread the file.
    pub major: u32,
    /// Changes if something was added.
    pub minor: u32,
}

impl FormatVersion {
    /// The version that this build writes.
    pub const CURRENT: Self = Self { major: 2, minor: 6 };
}

/// Limits of the generator's machine that restrict a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The number of file descriptors that this process may open.
    pub descriptors: u64,
    /// The number of local ports from one source address to one target address.
    pub ports: u64,
    /// The number of cores that this process may run on.
    pub cores: u32,
}

impl Limits {
    /// Returns how many files of sampled processes a process keeps open, given its limit of descriptors: 0 if these are scarce, because
    /// keeping files open only saves time.
    pub fn files_kept_open(descriptors: u64) -> usize {
        if descriptors >= 4096 { 256 } else { 0 }
    }

    /// Returns the number of descriptors that a process needs in addition to its connections: for event sets, the standard streams and the
    /// files that it keeps open.
    pub fn descriptors_own(descriptors: u64) -> u64 {
        64 + Self::files_kept_open(descriptors) as u64
    }

    /// Returns the limit of descriptors that is necessary for this many connections.
    pub fn descriptors_for(connections: u64) -> u64 {
        let least = connections + Self::descriptors_own(connections);
        // With a limit raised to this value, more files may be kept open.
        connections + Self::descriptors_own(least)
    }

    /// Returns the number of connections for which the descriptors suffice.
    pub fn connections(&self) -> u64 {
        self.descriptors.saturating_sub(Self::descriptors_own(self.descriptors)).max(1)
    }
}

/// The resource of the generator's machine that limits its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionResource {
    /// File descriptors of this process.
    Descriptors,
    /// Local ports to the target.
    Ports,
}

/// The limit to which a plan without a fixed maximum was lowered before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoweredTo {
    /// The number of connections for which the resource suffices.
    pub connections: u64,
    pub resource: ConnectionResource,
}

impl LoweredTo {
    /// Whether the machine can open this many connections.
    pub fn allows(self, connections: u32) -> bool {
        u64::from(connections) <= self.connections
    }
}

/// The command that made a run. It determines the form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", from = "String")]
pub enum RunCommand {
    /// `plimsoll URL`: a ladder; the report begins with what limits the target.
    Answer,
    /// `plimsoll search`: like `Answer`, with all the time it takes to find the highest rate within the conditions.
    Search,
    /// `plimsoll overload`: overloads that rate, to see how much goodput is left and whether it recovers.
    Overload,
    /// `plimsoll sweep`: a ladder; the report begins with the table of its steps.
    Sweep,
    /// `plimsoll run`: one level of load.
    Run,
    /// The generator within a lab.
    Lab,
    Wrk,
    /// A command of a newer version.
    Other,
}

impl RunCommand {
    const ALL: [Self; 8] = [
        Self::Answer,
        Self::Search,
        Self::Overload,
        Self::Sweep,
        Self::Run,
        Self::Lab,
        Self::Wrk,
        Self::Other,
    ];

    /// Returns the name of the command in run files, lists and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Search => "search",
            Self::Overload => "overload",
            Self::Sweep => "sweep",
            Self::Run => "run",
            Self::Lab => "lab",
            Self::Wrk => "wrk",
            Self::Other => "other",
        }
    }
}

impl From<RunCommand> for &'static str {
    fn from(command: RunCommand) -> Self {
        command.name()
    }
}

impl From<String> for RunCommand {
    fn from(name: String) -> Self {
        Self::ALL.into_iter().find(|command| command.name() == name).unwrap_or(Self::Other)
    }
}

/// The machine that generated the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub hostname: String,
    pub kernel: String,
    /// Such as `x86_64`.
    pub architecture: String,
    pub limits: Limits,
    /// Set if the plan would have opened more connections than the limits allow.
    #[serde(default)]
    pub lowered_to: Option<LoweredTo>,
    /// The calibration of the machine's generator with this run's driver; `None` if there was none.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// The response to the single request that was sent before the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAnswer {
    pub status: u16,
    /// The size of the decoded body, in bytes.
    pub body_bytes: u64,
    /// Time from the first byte sent to the last byte received, in nanoseconds.
    pub service_ns: u64,
    /// Whether the server keeps the connection open for the next request.
    pub keep_alive: bool,
}

/// The state of the target before the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preflight {
    /// All addresses that get load, as `ip:port` or `unix:path`.
    pub addresses: Vec<String>,
    /// The first of these addresses, to which the first connection was opened.
    pub address: String,
    /// Whether all addresses are of this machine.
    pub local: bool,
    pub resolve_ns: u64,
    pub connect_ns: u64,
    /// The response to the single request. `None` for commands that send none: `run` and `sweep`, so that the server counts exactly the
    /// requests that they report.
    pub first: Option<FirstAnswer>,
    /// The limit that an HTTP/2 server sets for concurrent requests on one connection; `None` without a limit.
    pub streams_max: Option<u32>,
}

/// The encryption of the connections to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsUsed {
    /// Such as `TLSv1.3`.
    pub version: String,
    pub cipher: String,
    /// Whether later connections could resume the session of an earlier one.
    pub resumption: bool,
    /// Whether the server's certificate was verified.
    pub verified: bool,
    /// The name or address that the server's certificate was verified for; `None` if it was not verified.
    pub peer: Option<String>,
}

/// The manifest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: FormatVersion,
    pub name: String,
    pub command: RunCommand,
    /// The command line that made the run, quoted for a shell, without what documents hide; `None` if it was not recorded.
    pub command_line: Option<String>,
    /// The frozen plan, as JSON.
    pub plan: String,
    /// SHA-256 of the plan's JSON with a seed of 0, in hex. Equal hashes mean the same load, except for random choices.
    pub plan_hash: String,
    pub tool_version: String,
    pub machine: Machine,
    pub preflight: Preflight,
    /// The driver of the connections: `epoll` or `io_uring`.
    pub driver: String,
    /// The protocol on the connections: `HTTP/1.1` or `HTTP/2`.
    pub protocol: String,
    /// The encryption as seen on the first connection; `None` without encryption.
    pub tls: Option<TlsUsed>,
    /// The start time, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// The tags that the run was started with. Tags given later are not in its file.
    pub tags: Tags,
    /// Whether the run ended normally; false in the file of a run that was killed.
    pub sealed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_as_it_was_written_and_an_unknown_one_is_another() {
        let read = |text: &str| serde_json::from_str::<RunCommand>(text).unwrap();
        for command in RunCommand::ALL {
            let text = serde_json::to_string(&command).unwrap();
            assert_eq!(read(&text), command);
            assert_eq!(text, format!("\"{}\"", command.name()));
        }
        assert_eq!(read("\"fleet\""), RunCommand::Other);
    }
}

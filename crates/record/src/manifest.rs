//! What a run was: its plan, the machine it ran on, and how the target looked before the load.

use serde::{Deserialize, Serialize};

use crate::{Calibration, Tags};

/// The version of the run file's format. A reader takes any minor of its own major.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatVersion {
    /// Changes when older readers would misread the file.
    pub major: u32,
    /// Changes when something was added.
    pub minor: u32,
}

impl FormatVersion {
    /// The version this build writes.
    pub const CURRENT: Self = Self { major: 2, minor: 6 };
}

/// Limits of the generator's machine that bound a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Descriptors this process may open.
    pub descriptors: u64,
    /// Local ports from one source address to one target address.
    pub ports: u64,
    /// Cores this process may run on.
    pub cores: u32,
}

impl Limits {
    /// Files of sampled processes that a process keeps open where it may open so many descriptors: none where descriptors are
    /// scarce, since to keep them open only saves time.
    pub fn files_kept_open(descriptors: u64) -> usize {
        if descriptors >= 4096 { 256 } else { 0 }
    }

    /// Descriptors that a process needs besides its connections: event sets, the standard streams, and the files that it keeps
    /// open.
    pub fn descriptors_own(descriptors: u64) -> u64 {
        64 + Self::files_kept_open(descriptors) as u64
    }

    /// The limit of descriptors that so many connections need.
    pub fn descriptors_for(connections: u64) -> u64 {
        let least = connections + Self::descriptors_own(connections);
        // A limit that this is raised to may be one at which more files are kept open.
        connections + Self::descriptors_own(least)
    }

    /// Connections that the descriptors suffice for.
    pub fn connections(&self) -> u64 {
        self.descriptors.saturating_sub(Self::descriptors_own(self.descriptors)).max(1)
    }
}

/// What a connection takes of the generator's machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionResource {
    /// Descriptors of this process.
    Descriptors,
    /// Local ports to the target.
    Ports,
}

/// The limit to which the open end of a plan was lowered before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoweredTo {
    /// Connections that the resource suffices for.
    pub connections: u64,
    pub resource: ConnectionResource,
}

impl LoweredTo {
    /// Whether the machine can open so many.
    pub fn allows(self, connections: u32) -> bool {
        u64::from(connections) <= self.connections
    }
}

/// The command that made a run. It chooses the form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", from = "String")]
pub enum RunCommand {
    /// `plimsoll URL`: a ladder, and what limits the target first.
    Answer,
    /// The same, with all the time it takes to find the maximum within the conditions.
    Search,
    /// Overloads of that maximum: what is left of it, and whether it comes back.
    Overload,
    /// A ladder, the table of its steps first.
    Sweep,
    /// One level of load.
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

    /// The word for it in run files, lists and JSON.
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

/// The machine that made the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub hostname: String,
    pub kernel: String,
    /// Such as `x86_64`.
    pub architecture: String,
    pub limits: Limits,
    /// Where the plan would have opened more connections than the limits allow.
    #[serde(default)]
    pub lowered_to: Option<LoweredTo>,
    /// What its generator can do at most with this run's driver, where that was measured before.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// The one request that was sent before the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAnswer {
    pub status: u16,
    /// Decoded bytes of the body.
    pub body_bytes: u64,
    /// From the first byte sent to the last byte received, in nanoseconds.
    pub service_ns: u64,
    /// Whether the server keeps the connection for the next request.
    pub keep_alive: bool,
}

/// How the target looked before the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preflight {
    /// Every address the load goes to, `ip:port` or `unix:path`.
    pub addresses: Vec<String>,
    /// The first of them, which the first connection went to.
    pub address: String,
    /// True if all of them are this machine's own.
    pub local: bool,
    pub resolve_ns: u64,
    pub connect_ns: u64,
    /// The answer to the one request, where the command sends one (`run` and `sweep` do not, so that
    /// the server counts what they report and nothing else).
    pub first: Option<FirstAnswer>,
    /// How many requests a server of HTTP/2 allows on one connection at a time, where it sets a limit.
    pub streams_max: Option<u32>,
}

/// How the connections to the target were encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsUsed {
    /// Such as `TLSv1.3`.
    pub version: String,
    pub cipher: String,
    /// True if later connections might resume the session of an earlier one.
    pub resumption: bool,
    /// Whether the server's certificate was.
    pub verified: bool,
    /// The name or address that the server's certificate was found to be for, if it was verified.
    pub peer: Option<String>,
}

/// What a run was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: FormatVersion,
    pub name: String,
    pub command: RunCommand,
    /// The command line that made the run, for a shell, without what documents hide; `None` where it was not recorded.
    pub command_line: Option<String>,
    /// The frozen plan, as JSON.
    pub plan: String,
    /// SHA-256 of the plan's JSON with a seed of 0, in hex: equal hashes mean the same load, but for what is drawn at
    /// random.
    pub plan_hash: String,
    pub tool_version: String,
    pub machine: Machine,
    pub preflight: Preflight,
    /// What drove the connections: `epoll` or `io_uring`.
    pub driver: String,
    /// What was spoken on them: `HTTP/1.1` or `HTTP/2`.
    pub protocol: String,
    /// How they were encrypted, if they were, as seen on the first connection.
    pub tls: Option<TlsUsed>,
    /// In milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// The tags that the run was made with; those given later are not in its file.
    pub tags: Tags,
    /// True once the run ended in order; false in the file of a run that was killed.
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

//! Where the figures come from: tool, run, machine, preflight, events.

use plimsoll_record::{Event, EventKind, Machine, Preflight, Run, TlsUsed};
use schemars::JsonSchema;
use serde::Serialize;

use super::ms;

/// What made the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolDocument {
    /// Always `plimsoll`.
    pub name: &'static str,
    /// The version that made the run.
    pub version: String,
}

impl ToolDocument {
    pub(super) fn of(run: &Run) -> Self {
        Self { name: "plimsoll", version: run.manifest.tool_version.clone() }
    }
}

/// What the run was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunDocument {
    /// The run's name.
    pub name: String,
    /// The command that made it: `answer`, `sweep` or `run`.
    pub command: String,
    /// SHA-256 of the plan's JSON, in hex.
    pub plan_hash: String,
    /// What was spoken on the connections: `HTTP/1.1` or `HTTP/2`.
    pub protocol: String,
    /// How they were encrypted; null if they were not.
    pub tls: Option<TlsDocument>,
    /// When the run began, in milliseconds since 1970-01-01 UTC.
    pub started_unix_ms: u64,
    /// False for a run that did not end in order, or has not ended yet.
    pub sealed: bool,
}

impl RunDocument {
    pub(super) fn of(run: &Run) -> Self {
        let manifest = &run.manifest;
        Self {
            name: manifest.name.clone(),
            command: manifest.command.clone(),
            plan_hash: manifest.plan_hash.clone(),
            protocol: manifest.protocol.clone(),
            tls: manifest.tls.as_ref().map(TlsDocument::of),
            started_unix_ms: manifest.started_unix_ms,
            sealed: manifest.sealed,
        }
    }
}

/// How the connections were encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TlsDocument {
    /// The protocol's version, such as `TLSv1.3`.
    pub version: String,
    /// The cipher suite.
    pub cipher: String,
    /// True if later connections might resume the session of an earlier one.
    pub resumption: bool,
    /// True if the server's certificate was verified.
    pub verified: bool,
    /// The name or address that the certificate was found to be for; null if it was not verified.
    pub peer: Option<String>,
}

impl TlsDocument {
    fn of(tls: &TlsUsed) -> Self {
        Self {
            version: tls.version.clone(),
            cipher: tls.cipher.clone(),
            resumption: tls.resumption,
            verified: tls.verified,
            peer: tls.peer.clone(),
        }
    }
}

/// The machine that made the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MachineDocument {
    /// The host's name.
    pub hostname: String,
    /// The kernel's name and release.
    pub kernel: String,
    /// The hardware.
    pub architecture: String,
    /// Cores the generator could run on.
    pub cores: u32,
    /// Descriptors it could open.
    pub descriptors: u64,
    /// Local ports from one source address to one target address.
    pub ports: u64,
}

impl MachineDocument {
    pub(super) fn of(machine: &Machine) -> Self {
        Self {
            hostname: machine.hostname.clone(),
            kernel: machine.kernel.clone(),
            architecture: machine.architecture.clone(),
            cores: machine.limits.cores,
            descriptors: machine.limits.descriptors,
            ports: machine.limits.ports,
        }
    }
}

/// How the target looked before the load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PreflightDocument {
    /// Every address the load went to, `ip:port` or `unix:path`.
    pub addresses: Vec<String>,
    /// The first of them, which the first connection went to.
    pub address: String,
    /// True if all of them are the generator's own.
    pub local: bool,
    /// Time to resolve the name.
    pub resolve_ms: Option<f64>,
    /// Time to open the first connection.
    pub connect_ms: Option<f64>,
    /// The answer to the one request before the load; null where none was sent.
    pub first_answer: Option<FirstAnswerDocument>,
}

/// The answer to the one request before the load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FirstAnswerDocument {
    /// The response's status.
    pub status: u16,
    /// Decoded bytes of the body.
    pub body_bytes: u64,
    /// From the first byte sent to the last byte received.
    pub service_ms: Option<f64>,
    /// Whether the server keeps the connection.
    pub keep_alive: bool,
}

impl PreflightDocument {
    pub(super) fn of(preflight: &Preflight) -> Self {
        let first_answer = preflight.first.as_ref().map(|first| FirstAnswerDocument {
            status: first.status,
            body_bytes: first.body_bytes,
            service_ms: ms(first.service_ns as f64),
            keep_alive: first.keep_alive,
        });
        Self {
            addresses: preflight.addresses.clone(),
            address: preflight.address.clone(),
            local: preflight.local,
            resolve_ms: ms(preflight.resolve_ns as f64),
            connect_ms: ms(preflight.connect_ns as f64),
            first_answer,
        }
    }
}

/// Something that happened once.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EventDocument {
    /// When, in seconds since the run began.
    pub at_sec: f64,
    /// What, as a name.
    #[schemars(with = "String")]
    pub kind: EventKind,
    /// The same in words.
    pub text: String,
}

impl EventDocument {
    pub(super) fn of(event: &Event) -> Self {
        Self { at_sec: event.at_ns as f64 / 1e9, kind: event.kind, text: event.text.clone() }
    }
}

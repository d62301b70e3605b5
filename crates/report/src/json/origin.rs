//! Where the figures come from: tool, run, plan, machine, preflight, events.

use plimsoll_analyze::Findings;
use plimsoll_record::{Event, EventKind, FirstAnswer, Machine, Manifest, Preflight, TlsUsed};

use super::document::{document, ms};
use crate::privacy::shown_sentence;
use crate::words;

document! {
    /// The program that made the run.
    pub struct ToolDocument(manifest: &Manifest) {
        /// Always `plimsoll`.
        name: &'static str = "plimsoll",
        /// The version that made the run.
        version: String = &manifest.tool_version,
    }

    /// The name, the command, the plan's hash and the state of the run.
    pub struct RunDocument(manifest: &Manifest) {
        /// The run's name.
        name: String = &manifest.name,
        /// The command that made it: `answer`, `search`, `sweep`, `run`, `overload` or `lab`.
        command: &'static str = manifest.command.name(),
        /// The command line, for a shell. `(hidden)` stands for credentials and bodies, `…` for logins and values of queries. Null
        /// where it was not recorded.
        command_line: Option<String> = manifest.command_line.clone(),
        /// SHA-256 of the plan's JSON, in hex.
        plan_hash: String = &manifest.plan_hash,
        /// The protocol of the connections: `HTTP/1.1` or `HTTP/2`.
        protocol: String = &manifest.protocol,
        /// How the connections were encrypted; null if they were not.
        tls: Option<TlsDocument> = manifest.tls.as_ref().map(TlsDocument::new),
        /// When the run began, in milliseconds since 1970-01-01 UTC.
        started_unix_ms: u64 = manifest.started_unix_ms,
        /// False for a run that was killed or has not ended yet.
        sealed: bool = manifest.sealed,
    }

    /// How the connections were encrypted.
    pub struct TlsDocument(tls: &TlsUsed) {
        /// The protocol's version, such as `TLSv1.3`.
        version: String = &tls.version,
        /// The cipher suite.
        cipher: String = &tls.cipher,
        /// True if later connections might resume the session of an earlier one.
        resumption: bool = tls.resumption,
        /// True if the server's certificate was verified.
        verified: bool = tls.verified,
        /// The name or address that the certificate was verified for; null if it was not verified.
        peer: Option<String> = tls.peer.clone(),
    }

    /// The machine that made the load.
    pub struct MachineDocument(machine: &Machine) {
        /// The host's name.
        hostname: String = &machine.hostname,
        /// The kernel's name and release.
        kernel: String = &machine.kernel,
        /// The hardware, such as `x86_64`.
        architecture: String = &machine.architecture,
        /// Cores the generator could run on.
        cores: u32 = machine.limits.cores,
        /// Descriptors it could open.
        descriptors: u64 = machine.limits.descriptors,
        /// Local ports from one source address to one target address.
        ports: u64 = machine.limits.ports,
    }

    /// What was found out about the target before the load.
    pub struct PreflightDocument(preflight: &Preflight) {
        /// Every address the load went to, `ip:port` or `unix:path`.
        addresses: Vec<String> = preflight.addresses.clone(),
        /// The first of them, which the first connection went to.
        address: String = &preflight.address,
        /// True if all addresses belong to the generator's own machine.
        local: bool = preflight.local,
        /// Time to resolve the name.
        resolve_ms: f64 = ms(preflight.resolve_ns as f64),
        /// Time to open the first connection.
        connect_ms: f64 = ms(preflight.connect_ns as f64),
        /// The answer to the one request before the load; null where none was sent.
        first_answer: Option<FirstAnswerDocument> = preflight.first.as_ref().map(FirstAnswerDocument::new),
        /// The number of concurrent requests that an HTTP/2 server allows on one connection; null if it sets no limit.
        streams_max: Option<u32> = preflight.streams_max,
    }

    /// The answer to the one request before the load.
    pub struct FirstAnswerDocument(first: &FirstAnswer) {
        /// The response's status.
        status: u16 = first.status,
        /// Decoded bytes of the body.
        body_bytes: u64 = first.body_bytes,
        /// The time from the first byte sent to the last byte received.
        service_ms: f64 = ms(first.service_ns as f64),
        /// Whether the server keeps the connection.
        keep_alive: bool = first.keep_alive,
    }

    /// Something that happened once.
    pub struct EventDocument(event: &Event, findings: &Findings) {
        /// When, in seconds since the run began.
        at_sec: f64 = event.at_ns as f64 / 1e9,
        /// The kind of event, as a name.
        #[schemars(with = "String")]
        kind: EventKind = event.kind,
        /// The event in words.
        text: String = words_of(event, findings),
    }
}

fn words_of(event: &Event, findings: &Findings) -> String {
    let unix_socket = findings.plan.network.unix.is_some();
    let said = || shown_sentence(&event.text);
    event.failure.map_or_else(said, |kind| words::failure_seen(kind, unix_socket))
}
